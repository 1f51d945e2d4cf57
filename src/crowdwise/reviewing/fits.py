"""`Refits`: fits the method again after decisions, in a thread of its own, one fit at a time.

While a fit runs, further decisions wait; the next fit has all of them. The page never waits for a fit: it shows the
last finished one.
"""

from collections.abc import Callable
from threading import Condition, Thread
from time import monotonic
from typing import Any

import polars as pl

from ..errors import CallError, DataError


class Refits:
    """Fits in the background.

    Attributes:
        failed: What went wrong in the last fit, as a sentence; empty if nothing did.
    """

    def __init__(self, fit: Callable[[pl.DataFrame], Any], done: Callable[[Any, int], None]) -> None:
        """Start the thread.

        Args:
            fit: Fits the method with gold, of which there may be none.
            done: Is called in the thread with every result, and with the number of decisions that it knows.
        """
        self._fit, self._done = fit, done
        self._asked: tuple[pl.DataFrame, int] | None = None
        self._changed = Condition()
        self._closed = False
        self._finished = monotonic()
        self._running = False
        self.failed = ""
        self._thread = Thread(target=self._run, name="crowdwise-refits", daemon=True)
        self._thread.start()

    def ask(self, gold: pl.DataFrame, decisions: int) -> None:
        """Ask for a fit with this gold; one that was asked for before and has not begun is forgotten."""
        with self._changed:
            self._asked = gold, decisions
            self._changed.notify()

    @property
    def is_running(self) -> bool:
        """Whether a fit runs, or is asked for."""
        with self._changed:
            return self._running or self._asked is not None

    @property
    def age(self) -> float:
        """How many seconds ago the last fit ended."""
        return monotonic() - self._finished

    def close(self) -> None:
        """Begin no other fit. One that runs goes on, and nobody waits for it."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._running = False
                self._changed.wait_for(lambda: self._closed or self._asked is not None)
                if self._closed or self._asked is None:
                    return
                gold, decisions = self._asked
                self._asked, self._running = None, True
            try:
                result = self._fit(gold)
                self._finished = monotonic()
                self.failed = ""
                self._done(result, decisions)
            except (DataError, CallError, MemoryError, ArithmeticError) as problem:
                self.failed = f"The last fit failed, and the one before is shown: {problem}"
