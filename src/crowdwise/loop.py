"""The one loop. An iterative method is three pure functions; this is what calls them.

An iteration is one pass over slices of items: score a slice from the workers' parameters, measure how far the
scores moved, count the slice; then add up the counts and estimate the workers from the sum. Slices are cut by the
data alone and their counts are added in order, so a result is the same to the bit for any number of threads.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from .errors import CallError
from .kernels import Array
from .labels import Labels
from .result import Convergence, Result

Progress = Callable[[int, float], None]
Done = TypeVar("Done")
Added = TypeVar("Added", bound=tuple[Any, ...])

# Enough labels to hide what it costs to start a slice, few enough for its scores to stay in the cache.
_SLICE: Final = 1 << 17


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

    tolerance: float
    max_iterations: int

    @abstractmethod
    def score(self, labels: Labels, workers: Workers, scores: Array, fresh: bool = False) -> Array:
        """Overwrite the scores of these items by what follows from the workers' parameters alone.

        Returns by how much each class moved, relative to the score. What does not change any more may be left as it
        is in `scores`, unless they are `fresh`: then everything is written, and the change means nothing.
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
    cuts = _cuts(labels, parameters)
    slices = [labels.slice(first, last) for first, last in cuts]
    scores = start

    def count_only(part: int) -> _Outcome:
        current = scores[slice(*cuts[part])]
        return _Outcome(method.count(slices[part], current, None), np.zeros(labels.n_classes))

    def score_and_count(part: int) -> _Outcome:
        current = scores[slice(*cuts[part])]
        change = method.score(slices[part], workers, current)
        return _Outcome(method.count(slices[part], current, workers), change)

    with _Threads(len(cuts)) as threads:

        def one_pass(step: Callable[[int], _Outcome]) -> tuple[Counts, Array]:
            total = _Sum()
            change = np.zeros(labels.n_classes)

            def add(outcome: _Outcome) -> None:
                np.maximum(change, outcome.change, out=change)
                total.add(outcome.counts)

            threads.run(step, add)
            return total.value, change

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
    total = _Sum()
    _each_slice(labels, parameters, lambda _first, _last, part: count(part), total.add)
    return cast(Added, total.value)


def each_slice(labels: Labels, step: Callable[[int, int, Labels], None]) -> None:
    """Run `step` on each slice, given its first and last item; on threads."""
    _each_slice(labels, 0, step, lambda _: None)


def _each_slice(
    labels: Labels, parameters: int, step: Callable[[int, int, Labels], Done], use: Callable[[Done], None]
) -> None:
    cuts = _cuts(labels, parameters)
    with _Threads(len(cuts)) as threads:
        threads.run(lambda part: step(*cuts[part], labels.slice(*cuts[part])), use)


def _cuts(labels: Labels, parameters: int) -> list[tuple[int, int]]:
    return list(labels.slices(max(_SLICE, parameters)))


class _Sum:
    """A sum of tuples of arrays; the first one becomes the sum, the others are added to it in place."""

    value: Any = None

    def add(self, counts: tuple[Any, ...]) -> None:
        if self.value is None:
            self.value = counts
            return
        for total, part in zip(self.value, counts, strict=True):
            np.add(total, part, out=total)


def thread_count() -> int:
    """How many threads to use: CROWDWISE_THREADS, or the cores that this process may use."""
    given = os.environ.get("CROWDWISE_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Threads:
    """Work on numbered parts on threads, this one among them, and use the outcomes in the order of the parts."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._others = min(thread_count(), parts) - 1
        self._pool = ThreadPoolExecutor(self._others) if self._others else None

    def __enter__(self) -> "_Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, step: Callable[[int], Done], use: Callable[[Done], None]) -> None:
        """Do `step` for every part, and `use` each outcome once those of all parts before it were used."""
        numbers = iter(range(self._parts))  # shared: each thread takes the next one
        finished: dict[int, Done] = {}
        expected = 0
        lock = Lock()

        def work() -> None:
            nonlocal expected
            for part in numbers:
                outcome = step(part)
                with lock:
                    finished[part] = outcome
                    while expected in finished:
                        use(finished.pop(expected))
                        expected += 1

        others = [self._pool.submit(work) for _ in range(self._others)] if self._pool is not None else []
        work()
        for other in others:
            other.result()
