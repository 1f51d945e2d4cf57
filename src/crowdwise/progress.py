"""How far long work is: `working` tells it to the command line, or shows a line below a Python prompt or in a notebook.

The line goes to standard error after a second of work, is overwritten, and disappears when the work is done. Nothing is
shown where standard error is no screen, as in a pipe or a log, nor under continuous integration (the variable CI).
"""

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final, TextIO

# Takes what is done now, in words, and the share of it that is done; 1.0 ends it.
Listener = Callable[[str, float], None]

# Seconds of work before the line is shown, and between two changes of it.
_PATIENCE: Final = 1.0
_PAUSE: Final = 0.1
# The line is shorter than the narrowest screens.
_WIDTH: Final = 76
# Iterations end at this change where a method has no tolerance, or one of zero.
_SMALLEST: Final = 1e-12
# "0", "no", "off" or "false" shows nothing; any other text shows the line wherever standard error goes.
VARIABLE: Final = "CROWDWISE_PROGRESS"

_wanted: bool | None = None
_listeners: list[Listener] = []
_works: list[str] = []


def show_progress(shown: bool | None = True) -> None:
    """Turn the progress line of long work on or off.

    Args:
        shown: False for never, True for always, None for where somebody sees it: at a screen and in notebooks. The
            environment variable CROWDWISE_PROGRESS (0 or 1) says the same before Python starts.
    """
    global _wanted
    _wanted = shown


@contextmanager
def told_to(listener: Listener) -> Iterator[None]:
    """Tell a listener how far work in the `with` block is, instead of showing the line."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.pop()


@contextmanager
def working(what: str) -> Iterator[Callable[[float], None]]:
    """Tell that work has begun and ended; the function that is yielded tells the share of it that is done.

    Work within other work is told under the names of both. Other threads than the main one tell nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda _share: None
        return
    _works.append(what)
    name = ", ".join(_works)
    try:
        tell(name, 0.0)
        yield lambda share: tell(name, min(share, 1.0))
    finally:
        _works.pop()
        if not _works:
            tell(name, 1.0)


class Nearness:
    """How near the iterations are to their end, from 0 to 1, by the logarithm of the change in each."""

    def __init__(self, tolerance: float) -> None:
        self._end = max(tolerance, _SMALLEST)
        self._first: float | None = None
        self.share = 0.0

    def __call__(self, change: float) -> float:
        """Return the share after an iteration with this change; it stays as it is where the change is no number."""
        if math.isfinite(change):
            self._first = change if self._first is None else self._first
            distance = math.log(max(self._first, self._end * 2) / self._end)
            self.share = max(1 - math.log(max(change, self._end) / self._end) / distance, 0.0)
        return self.share


@contextmanager
def followed(
    name: str, tolerance: float, given: Callable[[int, float], None] | None
) -> Iterator[Callable[[int, float], None]]:
    """Give a callback for the iterations of a fit: the given one, or one that tells how far the work is."""
    if given is not None:
        yield given
        return
    near = Nearness(tolerance)
    with working(f"fitting {name}") as told:
        yield lambda _number, change: told(near(change))


def tell(what: str, share: float) -> None:
    """Tell whoever listens that this share of some work is done."""
    if _listeners:
        _listeners[-1](what, share)
    elif _is_seen():
        _line.show(what, share)


def _is_seen() -> bool:
    """Whether somebody sees the line."""
    said = os.environ.get(VARIABLE, "").strip().lower()
    if _wanted is not None:
        return _wanted
    if said:
        return said not in ("0", "no", "off", "false")
    return not os.environ.get("CI") and (_is_screen(sys.stderr) or _in_notebook())


def _is_screen(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, whose output understands carriage returns."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _Line:
    """One line on standard error, which is overwritten."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._shown = 0.0

    def show(self, what: str, share: float) -> None:
        now = monotonic()
        if share >= 1.0 and not _works:
            if self._shown:
                self._write("")
            self._began, self._shown = None, 0.0
            return
        if self._began is None:
            self._began = now
        if now - self._began >= _PATIENCE and now - self._shown >= _PAUSE:
            self._shown = now
            done = f" {share:.0%}" if share > 0 else ""
            self._write(f"crowdwise: {what}{done}, {now - self._began:.0f} s")

    def _write(self, text: str) -> None:
        text = text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
        with suppress(OSError, ValueError):  # the screen is gone
            sys.stderr.write(f"\r{text.ljust(_WIDTH)}\r{text}")
            sys.stderr.flush()


_line = _Line()
