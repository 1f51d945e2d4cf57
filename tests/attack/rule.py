"""The rule that every run of crowdwise is held to, whatever it is given: `judge`."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, Literal

# What came of a case: crowdwise answered and the answer was checked, or it refused in a sentence.
Verdict = Literal["right", "refused"]

# Seconds of processors, which do not depend on what else a machine does; and seconds on the clock, for what waits.
MOST_SECONDS: Final = 60.0
MOST_WAITING: Final = 300.0
MOST_MEMORY: Final = 1 << 30
_MOST_CHARACTERS: Final = 500
# What must never be on the screen: tracebacks of Python, panics of Rust, warnings, and messages of crashing programs.
_NOT_FOR_USERS: Final = {
    "a traceback": re.compile(r"^\s*Traceback \(most recent call last\)", re.MULTILINE),
    "a panic": re.compile(r"panicked at|RUST_BACKTRACE"),
    "a warning": re.compile(r"^\S+\.py:\d+: \w*Warning: ", re.MULTILINE),
    "an ignored exception": re.compile(r"^Exception ignored in|^Fatal Python error|^Exception in thread", re.MULTILINE),
}
# Typer says a wrong use of an option below two lines of usage, in a box.
_USAGE: Final = re.compile(r"\AUsage: .*^Try .*? for help\.$(.*)\Z", re.DOTALL | re.MULTILINE)
_BOX: Final = re.compile(r"[╭╮╰╯─│\s]+")


class Failure(AssertionError):  # noqa: N818  # it is what the attack looks for, and no error of the attack
    """Crowdwise broke the rule; the message says how."""


class TooLongFailure(Failure):
    """Crowdwise was interrupted in this process because it took too long, and may have left much behind in memory."""


@dataclass(frozen=True)
class Run:
    """One run of the command line, as seen from outside.

    Attributes:
        arguments: The arguments of the command line.
        code: The exit code; below zero for the signal that ended the process.
        output: What was written to standard output.
        said: What was written to standard error.
        seconds: The seconds of processors that it took.
        memory: The most memory that it took, in bytes; in a process that has run before, how much more than before.
        changes: The files and folders that differ from before, by path, and in which way: made, changed or removed.
    """

    arguments: tuple[str, ...]
    code: int
    output: bytes
    said: bytes
    seconds: float
    memory: int
    changes: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """Standard error as text."""
        return self.said.decode("utf-8", "backslashreplace")

    def fail(self, reason: str) -> Failure:
        """The failure of this run, with what is needed to understand it."""
        shown = " ".join(self.arguments)
        return Failure(f"{reason}\n    crowdwise {_cut(shown)}\n    exit code {self.code}, and said: {_cut(self.told)}")


def judge(
    run: Run,
    outputs: Collection[str] = (),
    *,
    most_seconds: float = MOST_SECONDS,
    most_memory: int = MOST_MEMORY,
) -> Verdict:
    """Hold a run to the rule.

    Args:
        run: The run.
        outputs: The files that the run may write, by path; after success, all of them must be there.
        most_seconds: How many seconds of processors it may take.
        most_memory: How much memory it may take, in bytes.

    Returns:
        "right" if the run ended well, so that the caller can check its answer, else "refused".

    Raises:
        Failure: The run broke the rule.
    """
    require_presentable(run)
    if run.seconds > most_seconds:
        raise run.fail(f"took {run.seconds:.0f} s of processors")
    if run.memory > most_memory:
        raise run.fail(f"took {run.memory / 2**20:,.0f} MB of memory")
    if run.code == 0:
        for path, change in run.changes.items():
            if path not in outputs or change == "removed":
                raise run.fail(f"{path!r} was {change}, which nobody asked for")
        return "right"
    if run.code not in (1, 2):
        raise run.fail(f"ended with code {run.code}")
    if run.changes:
        path, change = next(iter(run.changes.items()))
        raise run.fail(f"refused, and yet {path!r} was {change}")
    sentence = refusal(run)
    if len(sentence) > _MOST_CHARACTERS:
        raise run.fail(f"refused in {len(sentence):,} characters")
    return "refused"


def require_presentable(run: Run) -> None:
    """Raise `Failure` if there is anything on standard error that is not meant for users."""
    for what, pattern in _NOT_FOR_USERS.items():
        if pattern.search(run.told):
            raise run.fail(f"{what} on standard error")


def refusal(run: Run) -> str:
    """The sentence by which a run refused. Raises `Failure` if there is no such sentence, or more than one.

    With --json, it is in one JSON object on standard output, beside the exit code.
    """
    if "--json" in takewhile(lambda word: word != "--", run.arguments):
        try:
            told = json.loads(run.output)
        except ValueError:
            raise run.fail("refused without a JSON object on standard output") from None
        if set(told) != {"error", "code"} or told["code"] != run.code or "error: " in run.told:
            raise run.fail("refused without one JSON object that has the error and the exit code")
        return str(told["error"])
    usage = _USAGE.search(run.told)
    if usage is not None:
        return _BOX.sub(" ", usage[1]).strip()
    lines = run.told.rstrip("\n").split("\n")
    if sum(line.startswith("error: ") for line in lines) != 1 or not lines[-1].startswith("error: "):
        raise run.fail("refused without one sentence that begins with 'error: ' and stands last")
    return lines[-1]


def _cut(text: str, most: int = 1500) -> str:
    """The beginning and the end of a long text, with everything escaped that is not plain."""
    plain = text.encode("ascii", "backslashreplace").decode()
    plain = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", lambda found: repr(found[0])[1:-1], plain).replace("\n", "\n        ")
    return plain if len(plain) <= most else f"{plain[: most // 2]} [...] {plain[-most // 2 :]}"
