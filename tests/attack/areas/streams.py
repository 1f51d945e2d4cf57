"""Standard streams that are closed, full, or read by somebody who leaves; screens that are not UTF-8."""

import os
import subprocess
from typing import Any, Final

from .. import small_crowd
from ..area import Area, Case
from ..rule import Run, Verdict, judge, require_presentable
from ..running import in_child

_COMMANDS: Final[tuple[tuple[str, ...], ...]] = (
    ("aggregate", "{labels}", "-m", "mv"),
    ("aggregate", "{labels}", "-m", "mv", "--json"),
    ("aggregate", "{labels}", *small_crowd.OPTIONS),
    ("aggregate", "-", *small_crowd.OPTIONS),
    ("aggregate", "nowhere-é.csv"),
    ("explain", "{labels}", "--item", "é=1+1"),
    ("explain", "{labels}", "--item", "nothing-日本"),
    ("compare", "{labels}", "--methods", "mv"),
    ("blocks", "{labels}"),
    ("methods",),
    ("--help",),
    ("--version",),
    ("aggregate", "--nonsense-é"),
)
_SCREENS: Final[tuple[dict[str, str], ...]] = (
    {},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "no_SUCH.locale"},
    {"TERM": "dumb", "NO_COLOR": "1"},
    {"COLUMNS": "1"},
    {"COLUMNS": "-1"},
    {"COLUMNS": "x"},
)
# Starts crowdwise in a shell that closes a stream, or leads it elsewhere.
_STREAMS: Final = ("", "<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>&1")
# The code of a process whose reader left.
_PIPE_CLOSED: Final = 141


def attack(case: Case) -> Verdict:
    """Run a command on odd streams."""
    random = case.random
    labels = small_crowd.write(case, "labels-é.csv" if case.chance(0.3) else "labels.csv")
    command = [word.format(labels=labels.name) for word in random.choice(_COMMANDS)]
    streams, screen = random.choice(_STREAMS), random.choice(_SCREENS)
    options: dict[str, Any] = {}
    reader_leaves = not streams and case.chance(0.3)
    if reader_leaves:
        reading, writing = os.pipe()
        os.close(reading)
        options["stdout"] = writing
    with labels.open("rb") as stdin:
        options["stdin"] = stdin if "-" in command else subprocess.DEVNULL
        try:
            run = _through_shell(case, command, streams, screen, options)
        finally:
            if reader_leaves:
                os.close(options["stdout"])
    return _judged(case, run, command, streams, reader_leaves)


def _through_shell(case: Case, command: list[str], streams: str, screen: dict[str, str], options: Any) -> Run:
    """Run crowdwise by Python, which runs a shell first where a stream is to be closed."""
    if not streams:
        return in_child(case, *command, environment=screen, **options)
    # The shell replaces itself by crowdwise, so that the exit code and the memory are those of crowdwise.
    start = 'import os, sys; os.execvp("sh", ["sh", "-c", \'exec "$@" \' + sys.argv[1], "sh", sys.executable, "-m", '
    return in_child(
        case,
        *command,
        program=("-c", f'{start}"crowdwise", *sys.argv[2:]])', streams),
        environment=screen,
        **options,
    )


def _judged(case: Case, run: Run, command: list[str], streams: str, reader_leaves: bool) -> Verdict:
    """Hold the run to the rule, as far as there is a stream to say something on."""
    asked = small_crowd.outputs(case) if "truth.csv" in command else set()
    require_presentable(run)
    if reader_leaves and run.code == _PIPE_CLOSED:
        return "refused"
    if "2>" in streams or "/dev/full" in streams:
        # Nobody hears a sentence, and files may be there before a full stream is noticed; they must be whole.
        if run.code not in (0, 1, 2):
            raise run.fail(f"ended with code {run.code}")
        if not set(run.changes) <= asked:
            raise run.fail(f"wrote {sorted(set(run.changes) - asked)}")
        if run.changes:
            small_crowd.check(case, run)
        return "refused" if run.code else "right"
    verdict = judge(run, asked)
    if verdict == "right" and asked:
        small_crowd.check(case, run)
    return verdict


AREA = Area("streams", "closed and full streams, readers that leave, locales", attack, tested=10, weight=10)
