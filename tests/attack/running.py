"""Run the command line on a case: in this process, which takes milliseconds, or in a process of its own."""

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from crowdwise.cli import main

from .area import Case
from .containment import require_contained
from .rule import MOST_SECONDS, MOST_WAITING, Failure, Run, TooLongFailure
from .surroundings import changes, contents

# Variables that a run in a process of its own gets from us; the rest of the surroundings is made for the case.
_KEPT: Final = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "LANG")
# Nothing listens here, so that no case reaches for the network.
_NOWHERE: Final = "http://127.0.0.1:9"
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


def surroundings(case: Case) -> dict[str, str]:
    """The environment variables that every case has: folders of its own, and no network."""
    return {
        "HOME": os.fspath(case.home),
        "XDG_CACHE_HOME": os.fspath(case.home / ".cache"),
        "TMPDIR": os.fspath(case.temporary),
        "CROWDWISE_DATASETS_URL": _NOWHERE,
        "COLUMNS": "80",
    }


def in_process(case: Case, *arguments: object, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> Run:
    """Run the command line in this process, with streams, folders and surroundings of the case."""
    given = tuple(map(_as_argument, arguments))
    variables = surroundings(case) | dict(environment or {})
    require_contained(case, given, variables)
    before = contents(case.here, case.temporary)
    with ExitStack() as stack:
        stack.enter_context(_environment(variables))
        stack.enter_context(patch.object(tempfile, "tempdir", None))
        stack.enter_context(patch.object(sys, "argv", ["crowdwise", *given]))
        stack.enter_context(chdir(case.here))
        stack.enter_context(handlers_restored())
        printed = stack.enter_context(streams(case.folder, stdin))
        memory = _memory("VmRSS")
        _forget_peak()
        began = time.process_time()
        code = run_main()
        seconds = time.process_time() - began
        peak = max(_memory("VmHWM") - memory, 0)
        for stream in (sys.stdout, sys.stderr):
            with suppress(ValueError, OSError):
                stream.flush()
        output, said = (path.read_bytes() for path in printed)
    return Run(given, code, output, said, seconds, peak, changes(before, contents(case.here, case.temporary)))


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and remove those of crowdwise that are not among them, for a while."""
    before = dict(os.environ)
    kept = {name: value for name, value in before.items() if not name.startswith("CROWDWISE_")}
    try:
        _change_environment(kept | dict(variables))
        yield
    finally:
        _change_environment(before)


def _change_environment(wanted: Mapping[str, str]) -> None:
    """Set environment variables, and remove all others.

    As few as possible are changed: threads of polars look at environment variables at any time, and a program can crash
    where these change meanwhile. `patch.dict` would remove and set all of them.
    """
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


def run_main() -> int:
    """Run the command line as Python would: its exit code, with a traceback on standard error if it raises."""
    try:
        with time_limit():
            main()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except (KeyboardInterrupt, Failure):
        raise
    except BaseException:  # a panic of Rust is no Exception
        traceback.print_exc(file=sys.stderr)
        return 1
    return 0


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise `Failure` in the main thread once the block takes too long."""

    def stop(*_: Any) -> None:
        raise TooLongFailure(
            f"had not ended after {MOST_SECONDS:.0f} s of processors, or {MOST_WAITING:.0f} s on the clock"
        )

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, MOST_SECONDS),
        signal.SIGALRM: (signal.ITIMER_REAL, MOST_WAITING),
    }
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


@contextmanager
def streams(folder: Path, stdin: bytes) -> Iterator[tuple[Path, Path]]:
    """Let the three standard streams be files, also for code that is not Python, and give the paths of the last two."""
    paths = [folder / name for name in ("stdin", "stdout", "stderr")]
    paths[0].write_bytes(stdin)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    saved = [os.dup(number) for number in range(3)]
    try:
        for number, path in enumerate(paths):
            opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(opened, number)
            os.close(opened)
        texts = [_text_stream(number) for number in range(3)]
        with patch.multiple(sys, stdin=texts[0], stdout=texts[1], stderr=texts[2]):
            try:
                yield paths[1], paths[2]
            finally:
                for text in texts:
                    with suppress(ValueError, OSError):  # closed by the command line, or the disk is full
                        text.flush()
    finally:
        for number, copy in enumerate(saved):
            os.dup2(copy, number)
            os.close(copy)


def _text_stream(number: int) -> io.TextIOWrapper:
    """A standard stream as Python opens it; standard error shows what cannot be encoded."""
    raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115  # it is a number, and stays open
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=number == 2)


@contextmanager
def handlers_restored() -> Iterator[None]:
    """Put the handlers of signals back that the command line installs."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _memory(field: str, process: str = "self") -> int:
    """A number of bytes from what Linux knows of a process; 0 if it has ended, and on other systems."""
    lines: list[str] = []
    with suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), 0)


def _forget_peak() -> None:
    """Let the peak of this process's memory be what it takes now, where Linux allows that."""
    forget = Path("/proc/self/clear_refs")
    if forget.exists() and os.access(forget, os.W_OK):
        forget.write_text("5")


def in_child(
    case: Case,
    *arguments: object,
    program: Sequence[str] = ("-m", "crowdwise"),
    environment: Mapping[str, str] | None = None,
    watched: Sequence[Path] = (),
    **more: Any,
) -> Run:
    """Run the command line in a process of its own.

    Args:
        case: The case.
        arguments: The arguments of the command line.
        program: What Python runs before the arguments.
        environment: Variables that differ from those of every case.
        watched: Further folders in which changes are noted.
        more: Options of `subprocess.Popen`, such as other standard streams.
    """
    given = tuple(map(_as_argument, arguments))
    inherited = {name: os.environ[name] for name in _KEPT if name in os.environ}
    variables = inherited | surroundings(case) | dict(environment or {})
    require_contained(case, given, variables)
    folders = (case.here, case.temporary, *watched)
    before = contents(*folders)
    paths = [case.folder / "stdout", case.folder / "stderr"]
    with paths[0].open("wb") as output, paths[1].open("wb") as said:
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": said}
        process = subprocess.Popen([sys.executable, *program, *given], cwd=case.here, env=variables, **streams | more)
        try:
            code, seconds, memory = _wait(process)
        except TimeoutError:
            raise Failure(f"crowdwise {' '.join(given)} had not ended after {MOST_WAITING:.0f} s") from None
    output_bytes, said_bytes = (path.read_bytes() for path in paths)
    return Run(given, code, output_bytes, said_bytes, seconds, memory, changes(before, contents(*folders)))


def _wait(process: "subprocess.Popen[bytes]") -> tuple[int, float, int]:
    """Wait until a process ends: its exit code, the seconds of processors and the memory that it took.

    Raises `TimeoutError` after a while, and kills the process. Its memory is looked at again and again, because what
    the system says at the end is at least what this process has.
    """
    deadline = time.monotonic() + MOST_WAITING
    memory = 0
    while True:
        memory = _memory("VmHWM", str(process.pid)) or memory
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_utime + usage.ru_stime, memory
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise TimeoutError
        time.sleep(0.005)


def _as_argument(value: object) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
