"""End the program on a signal by an exception, as after an error, so that temporary files are removed.

Imports nothing that takes time, because signals must be answered while other modules are imported.
"""

import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# The signals that ask a program to end: by the keyboard, by `kill`, and by a terminal that is closed, which is SIGBREAK
# on Windows. Windows ends a program at once where Unix would send SIGTERM.
_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]
# Shells add this to the number of a signal to give the exit code of a process that it ended.
_BASE = 128
EXIT_CODES = {int(_BASE + number) for number in _ENDING}

# The signals that came. Ending the program is not disturbed by the same signal again, except by the keyboard.
_received: set[int] = set()
# The exit code for the last of them.
_last_code: int | None = None


def end_on_signals() -> None:
    """Let every signal that asks the program to end raise `SystemExit`. A signal that is ignored stays ignored."""
    global _last_code
    _received.clear()
    _last_code = None
    for number in _ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as `nohup` ignores SIGHUP
            signal.signal(number, _end)
    sys.unraisablehook = _answer_again


def code_of_signal() -> int | None:
    """Return the exit code for the last signal that asked the program to end; None if there was none.

    Where a library calls Python from C, it may lose the exception of a signal, and raise one of its own instead: Numba
    does so where it compiles, and where it returns arrays.
    """
    return _last_code


def _end(number: int, _: "FrameType | None") -> None:
    """End the program because a signal came."""
    global _last_code
    if number == signal.SIGINT or number not in _received:
        _received.add(number)
        _last_code = _BASE + number
        sys.exit(_last_code)


def _answer_again(lost: "sys.UnraisableHookArgs") -> None:
    """Answer a signal again a moment later if its exception was lost, as in a callback of a library written in C."""
    problem = lost.exc_value
    if not isinstance(problem, SystemExit) or problem.code not in EXIT_CODES or not hasattr(signal, "pthread_kill"):
        sys.__unraisablehook__(lost)
        return
    from threading import Timer, main_thread

    number = problem.code - _BASE
    _received.discard(number)
    again = Timer(0.05, signal.pthread_kill, [main_thread().ident, number])
    again.daemon = True
    again.start()
