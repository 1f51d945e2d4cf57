"""Random starts that do not depend on the order of the rows, and choosing the best of several runs."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..numerics import Array
from ..parallel import slices, thread_count
from ..results.ending import Ending
from .engines.memory import MemoryEngine
from .iterations import Counter, Progress
from .sweeping import AnySweeping


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a loop in memory ended with: the scores (items, classes), and how it ended."""

    scores: Array
    ending: Ending


def fit_from(method: AnySweeping, labels: Labels, start: Array, progress: Progress | None) -> Fitted:
    """Iterate in memory from the scores `start` (items, classes) instead of the method's own; they are overwritten."""
    with MemoryEngine(method, labels, start) as engine:
        return Fitted(start, method.iterate(engine, progress))


def by_name(names: pl.Series, drawn: Array) -> Array:
    """Give what was drawn at random to items or workers by the order of their names.

    The first row of `drawn` goes to the first name in sorted order, and so on. So the same names get the same numbers
    in whatever order they first appear in the data.
    """
    placed = np.empty_like(drawn)
    placed[names.arg_sort().to_numpy()] = drawn
    return placed


def with_iterations(fitted: Fitted, iterations: int) -> Fitted:
    """The same run with another number of iterations: that of all attempts together."""
    convergence = replace(fitted.ending.convergence, iterations=iterations)
    return replace(fitted, ending=replace(fitted.ending, convergence=convergence))


def attempts_at_once(attempts: int, labels: Labels) -> int:
    """How many of the attempts run at the same time.

    With few labels, each attempt has one thread. With many labels one attempt uses all threads, so they run in turn.
    """
    return 1 if len(slices(labels.item_starts, 0)) > 1 else min(thread_count(), attempts)


def best_of(
    attempts: int, attempt: Callable[[int, Progress], Fitted], labels: Labels, progress: Progress | None
) -> Fitted:
    """Make several attempts, numbered from 0 on, and return the one with the lowest objective.

    The number of iterations in what is returned, and in what `progress` is told, is that of all attempts together.
    """
    counter, lock = Counter(progress), Lock()
    best: tuple[bool, float, int, Fitted] | None = None

    def run(number: int) -> None:
        """Make one attempt, and forget all but the best so far, in whatever order attempts end."""
        nonlocal best
        fitted = attempt(number, counter)
        objective = float(fitted.ending.objective.sum())
        with lock:
            rank = np.isnan(objective), objective, number
            if best is None or rank < best[:3]:
                best = *rank, fitted

    with ThreadPoolExecutor(attempts_at_once(attempts, labels)) as threads:
        # Copy the context, so that np.errstate holds in worker threads.
        here = copy_context()
        for _ in threads.map(lambda number: here.copy().run(run, number), range(attempts)):
            pass
    assert best is not None
    return with_iterations(best[3], counter.done)
