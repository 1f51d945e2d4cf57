"""Random starts that depend on the data and a seed, not on the order of the rows; and the best of several."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np
import polars as pl

from ..data.labels import Labels
from ..kernels import Array
from ..parallel import thread_count
from .loop import Fitted
from .method import Progress


def by_name(names: pl.Series, drawn: Array) -> Array:
    """Rows that were drawn in the order of the names, put where the names stand."""
    placed = np.empty_like(drawn)
    placed[names.arg_sort().to_numpy()] = drawn
    return placed


class Counter:
    """Progress of several attempts as if they were one; perhaps at the same time."""

    def __init__(self, progress: Progress | None) -> None:
        self.done = 0
        self._progress = progress
        self._lock = Lock()

    def __call__(self, iteration: int, change: float) -> None:
        """Count an iteration, whichever it was of its attempt."""
        with self._lock:
            self.done += 1
            if self._progress is not None:
                self._progress(self.done, change)

    def all_of(self, fitted: Fitted) -> Fitted:
        """The same, with the iterations of all attempts."""
        convergence = replace(fitted.ending.convergence, iterations=self.done)
        return replace(fitted, ending=replace(fitted.ending, convergence=convergence))


def side_by_side(attempts: int, labels: Labels) -> int:
    """How many attempts run at the same time: several on few labels; one on many uses all threads itself."""
    return 1 if len(labels.slices(0)) > 1 else min(thread_count(), attempts)


def best_of(
    attempts: int, attempt: Callable[[int, Progress], Fitted], labels: Labels, progress: Progress | None
) -> Fitted:
    """Make several attempts and keep the one with the lowest objective; iterations are those of all together."""
    counter = Counter(progress)
    with ThreadPoolExecutor(side_by_side(attempts, labels)) as threads:
        fitted = threads.map(lambda number: attempt(number, counter), range(attempts))
        best = min(fitted, key=lambda one: float(one.ending.objective.sum()))  # as they come: others need not be kept
    return counter.all_of(best)
