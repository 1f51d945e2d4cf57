"""Signals at any moment, while outputs are written and while work is done on disk."""

import os
import signal
from pathlib import Path
from typing import Final

import crowdwise as cw

from ..area import Area, Case
from ..rule import Run, Verdict, require_presentable
from ..running import in_child

# Sends a signal to its own process at the n-th time that it opens, renames or removes a file of the case, so that the
# same case always ends at the same place. A negative number is milliseconds instead, from when the command line begins
# to load: before that, nothing of crowdwise runs that could do anything about it.
_PROGRAM: Final = """
import os, runpy, sys, threading, time
number, moment, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
del sys.argv[1:4]
seen = 0
def note(event, arguments):
    global seen
    if event in ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "shutil.rmtree", "os.truncate"):
        if any(isinstance(one, (str, os.PathLike)) and os.fspath(one).startswith(folder) for one in arguments):
            seen += 1
            if seen == moment:
                os.kill(os.getpid(), number)
def later():
    while "crowdwise.cli" not in sys.modules:
        time.sleep(0.001)
    time.sleep(-moment / 1000)
    os.kill(os.getpid(), number)
if moment < 0:
    threading.Thread(target=later, daemon=True).start()
else:
    sys.addaudithook(note)
runpy.run_module("crowdwise", run_name="__main__", alter_sys=True)
"""
_OLD: Final = b"item,label\nold,old\n"
_SIGNALS: Final = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# What a process ends with after each signal: the signal itself, or the code that shells use for it.
_CODES: Final = {number: {-number, 128 + number} for number in _SIGNALS}


def attack(case: Case) -> Verdict:
    """End a run by a signal, and look at what is left; then run again."""
    random = case.random
    labels = case.here / "labels.parquet"
    cw.write({labels: cw.simulate(300, 10, 3, seed=case.seed).rows})
    targets = [case.here / "truth.csv", case.here / "workers.csv"]
    fresh = case.chance(0.5)
    if not fresh:
        for target in targets:
            target.write_bytes(_OLD)
    command = ["aggregate", labels, "-o", targets[0], "--workers", targets[1], "-m", "mv", "--quiet"]
    if case.chance(0.6):
        workdir = case.here / "work"
        workdir.mkdir()
        command += ["--engine", "disk", "--memory", "20KB", "--workdir", workdir]
    number = random.choice(_SIGNALS)
    moment = random.randint(1, 40) if case.chance(0.6) else -random.randint(1, 2500)
    program = ("-c", _PROGRAM, str(int(number)), str(moment), os.fspath(case.here))
    run = in_child(case, *command, program=program)
    outcome = _judge_ended(run, number, targets, fresh)
    left = {path: how for path, how in run.changes.items() if path not in set(map(str, targets))}
    if left and number != signal.SIGKILL:
        raise run.fail(f"signal {number.name} left {next(iter(left))!r} behind")
    again = in_child(case, *(word for word in command if word != "--quiet"))
    if again.code != 0:
        raise again.fail(f"after signal {number.name} the next run failed")
    _require_cleaned_or_named(again, left)
    return outcome


def _judge_ended(run: Run, number: signal.Signals, targets: list[Path], fresh: bool) -> Verdict:
    """Hold a run that was ended by a signal, or was done before, to what is promised."""
    if run.code != 0 and run.code not in _CODES[number]:
        raise run.fail(f"signal {number.name} ended it with code {run.code}")
    require_presentable(run)
    for target in targets:
        content = target.read_bytes() if target.exists() else None
        is_old = content is None if fresh else content == _OLD
        if not is_old and not _is_whole(content or b""):
            raise run.fail(f"{target.name} is half-written after signal {number.name}")
        if run.code == 0 and is_old:
            raise run.fail(f"{target.name} was not written")
    return "right" if run.code == 0 else "refused"


def _is_whole(content: bytes) -> bool:
    """Whether a table has as many rows as there are items or workers."""
    return content.count(b"\n") in (301, 11) and content.endswith(b"\n")


def _require_cleaned_or_named(again: Run, left: dict[str, str]) -> None:
    """Raise `Failure` unless the next run removed or named what a killed run left behind."""
    said = again.told.replace("\n", "").replace(" ", "")
    tops = {path for path in left if not any(path != other and path.startswith(f"{other}/") for other in left)}
    for path in sorted(tops):
        if Path(path).exists() and path.replace(" ", "") not in said and Path(path).name not in said:
            raise again.fail(f"a killed run left {path!r} behind, and the next run neither removed nor named it")


AREA = Area("kills", "SIGKILL, SIGTERM, SIGINT and SIGHUP at any moment", attack, tested=4, weight=10)
