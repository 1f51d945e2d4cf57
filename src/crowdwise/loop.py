"""The one loop. An iterative method is three pure functions; this is what calls them.

An iteration is one pass over slices of items: score a slice from the workers' parameters, measure how far the
scores moved, count the slice; then add up the counts and estimate the workers from the sum. Slices are cut by the
data alone and their counts are added in order, so a result is the same to the bit for any number of threads.
"""

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from . import kernels
from .errors import CallError
from .kernels import Array
from .labels import Labels
from .result import Convergence, Result

Progress = Callable[[int, float], None]
Done = TypeVar("Done")
Added = TypeVar("Added", bound=tuple[Any, ...])

# Enough labels to hide what it costs to start a slice, few enough for its scores to stay in the cache.
_SLICE: Final = 1 << 16


class Method(Protocol):
    """A value with hyper-parameters and one thing to do."""

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth."""
        ...


class Parameters(Protocol):
    """What an iterative method knows of the workers; the only thing that travels between iterations."""

    @property
    def objective(self) -> Array:
        """The objective of the scores from which these parameters were estimated, by class or as one number."""
        ...


Workers = TypeVar("Workers", bound=Parameters)
# A named tuple of arrays, additive over disjoint slices of items.
Counts = TypeVar("Counts", bound=tuple[Any, ...])


class Iterative(ABC, Generic[Workers, Counts]):
    """The base of methods that are three pure functions."""

    # A score counts as changed relative to its size plus this.
    change_floor: ClassVar[float]
    tolerance: float
    max_iterations: int

    @abstractmethod
    def score(self, labels: Labels, workers: Workers, previous: Array | None) -> Array:
        """Scores of these items from the workers' parameters.

        What does not change any more may be taken from the `previous` scores; without them, all is computed.
        """

    @abstractmethod
    def count(self, labels: Labels, scores: Array, workers: Workers | None) -> Counts:
        """Sufficient statistics of these items; `workers` is None at the start."""

    @abstractmethod
    def estimate(self, counts: Counts, previous: Workers | None, change: Array) -> Workers:
        """The workers' parameters from the summed statistics, and how far each class moved to get there."""


@dataclass(frozen=True, eq=False)
class Fitted(Generic[Workers]):
    """How a loop ended: scores, the parameters that gave them, and the objective after every iteration."""

    scores: Array
    workers: Workers
    convergence: Convergence
    objective: Array  # of the final scores, as the method's parameters hold it


class _Outcome(NamedTuple):
    scores: Array
    counts: tuple[Any, ...]
    change: Array


def run(
    method: Iterative[Workers, Counts],
    labels: Labels,
    start: Array,
    parameters: int,
    progress: Progress | None = None,
) -> Fitted[Workers]:
    """Iterate from `start` scores until they settle or the iterations run out.

    Args:
        method: The three functions.
        labels: All labels.
        start: Scores to start from; overwritten.
        parameters: How many numbers one slice's counts hold: slices are at least as long, so that adding counts
            never costs more than counting.
        progress: Called with the iteration and the change after each.
    """
    cuts = list(labels.slices(max(_SLICE, parameters)))
    slices = [labels.slice(first, last) for first, last in cuts]
    scores = start

    def count_only(part: int) -> _Outcome:
        current = scores[slice(*cuts[part])]
        return _Outcome(current, method.count(slices[part], current, None), np.zeros(labels.n_classes))

    def score_and_count(part: int) -> _Outcome:
        current = scores[slice(*cuts[part])]
        new = method.score(slices[part], workers, current)
        change = kernels.largest_change(new, current, method.change_floor)
        return _Outcome(new, method.count(slices[part], new, workers), change)

    with _Threads(len(cuts)) as threads:

        def one_pass(step: Callable[[int], _Outcome]) -> tuple[Counts, Array]:
            counts: Any = None
            change = np.zeros(labels.n_classes)
            for part, outcome in enumerate(threads.map(step, range(len(cuts)))):
                scores[slice(*cuts[part])] = outcome.scores
                np.maximum(change, outcome.change, out=change)
                counts = _add(counts, outcome.counts)
            return counts, change

        counts, _ = one_pass(count_only)
        workers = method.estimate(counts, None, np.full(labels.n_classes, np.inf))
        objective = [float(np.sum(workers.objective))]
        for iteration in range(1, method.max_iterations + 1):
            counts, change = one_pass(score_and_count)
            following = method.estimate(counts, workers, change)
            objective.append(float(np.sum(following.objective)))
            largest = float(change.max())
            if progress is not None:
                progress(iteration, largest)
            if largest <= method.tolerance or iteration == method.max_iterations:
                end = Convergence(iteration, largest <= method.tolerance, largest, tuple(objective))
                return Fitted(scores, workers, end, following.objective)
            workers = following
    raise CallError(f"max_iterations={method.max_iterations} is not a positive number.")


def add_slices(labels: Labels, parameters: int, count: Callable[[Labels], Added]) -> Added:
    """The sum of `count` over slices of the items, on threads; see `run` for `parameters`."""
    cuts = list(labels.slices(max(_SLICE, parameters)))
    with _Threads(len(cuts)) as threads:
        counts: Any = None
        for outcome in threads.map(lambda part: count(labels.slice(*cuts[part])), range(len(cuts))):
            counts = _add(counts, outcome)
    return cast(Added, counts)


def _add(total: Any, counts: tuple[Any, ...]) -> Any:
    """Add a tuple of arrays to a sum, in place; the first one is the sum."""
    if total is None:
        return counts
    for sum_, part in zip(total, counts, strict=True):
        np.add(sum_, part, out=sum_)
    return total


def thread_count() -> int:
    """How many threads to use: CROWDWISE_THREADS, or the cores that this process may use."""
    given = os.environ.get("CROWDWISE_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Threads:
    """Map over slices on threads, in order, with only a few slices under way at a time."""

    def __init__(self, parts: int) -> None:
        self._count = min(thread_count(), parts)
        self._pool = ThreadPoolExecutor(self._count) if self._count > 1 else None

    def __enter__(self) -> "_Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, step: Callable[[int], Done], parts: Sequence[int]) -> Iterator[Done]:
        """The outcome of every part, in the order of the parts."""
        if self._pool is None:
            yield from map(step, parts)
            return
        waiting: deque[Future[Done]] = deque()
        for part in parts:
            waiting.append(self._pool.submit(step, part))
            if len(waiting) > 2 * self._count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
