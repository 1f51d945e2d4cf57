"""What is said while kernels are compiled, which may take half a minute: that it begins, and how far it is.

This module is free of Numba, so that a command can listen without importing it.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_LOG = logging.getLogger("crowdwise")
# Seconds between two sentences.
_PAUSE: Final = 5.0


class _Announcer:
    """Counts the functions that are compiled, and says so at first and then every five seconds.

    Numba calls it, one thread at a time. To compile a function may be to compile others, so that calls are nested.

    Args:
        say: Takes a sentence.
        say_late: Takes those after the first five seconds.
    """

    def __init__(self, say: Callable[[str], None], say_late: Callable[[str], None]) -> None:
        self._say, self._say_late = say, say_late
        self._depth = self._functions = 0
        self._seconds = self._began = self._said = 0.0

    def begin(self) -> None:
        """Take notice that a function begins to be compiled."""
        if self._depth == 0:
            self._began = time.monotonic()
            if self._functions == 0:
                self._say("Compiling; this takes some seconds, once for each method and kind of crowd.")
        self._depth += 1

    def end(self) -> None:
        """Take notice that a function is compiled."""
        self._depth -= 1
        self._functions += 1
        seconds = self._seconds + time.monotonic() - self._began
        if seconds > self._said + _PAUSE:
            self._said = seconds
            self._say_late(
                f"Compiled {self._functions} functions in {seconds:.0f} seconds, once for this kind of crowd."
            )
        if self._depth == 0:
            self._seconds = seconds


# The last one is told. Python shows warnings of the log to everybody: they break a silence in which nothing seems to
# happen.
_announcers: list[_Announcer] = [_Announcer(_LOG.info, _LOG.warning)]


@contextmanager
def announced_to(say: Callable[[str], None]) -> Iterator[None]:
    """Tell somebody what is said about compiling while the `with` block runs, instead of the log."""
    _announcers.append(_Announcer(say, say))
    try:
        yield
    finally:
        _announcers.pop()


def announcer() -> _Announcer:
    """Whom to tell that a function is compiled."""
    return _announcers[-1]
