"""The one loop. An iterative method scores, counts and estimates; this is what calls it.

An iteration is one sweep over slices of items: score each item from the workers' parameters, measure how far the
scores moved, count the item; then add up the counts and estimate the workers from the sum. Slices are cut by the
data alone and their counts are added in order, so a result is the same to the bit for any number of threads.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar, cast

import numpy as np

from .errors import CallError
from .kernels import Array
from .labels import Labels
from .result import Convergence, Result

Progress = Callable[[int, float], None]
Done = TypeVar("Done")
Added = TypeVar("Added", bound=tuple[Any, ...])

# Labels in a slice: handing one to a thread costs as much as working on ten thousand labels.
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
    """The base of methods that sweep over the items and estimate the workers, in turn.

    A sweep is two of the three functions in one, score and count, so that an item is scored and counted while it is in
    the processor's cache.
    """

    tolerance: float
    max_iterations: int

    @abstractmethod
    def empty(self, labels: Labels, workers: Workers | None) -> Counts:
        """Statistics of no items, to be counted into; `workers` is None at the start."""

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, workers: Workers | None, counts: Counts) -> Array:
        """Score these items and count them.

        Overwrites `scores` by what follows from the workers' parameters (without them they stay as they are), adds the
        items' sufficient statistics to `counts`, and returns by how much each class moved.
        """

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


def run(
    method: Iterative[Workers, Counts],
    labels: Labels,
    start: Array,
    parameters: int,
    progress: Progress | None = None,
    first: Workers | None = None,
) -> Fitted[Workers]:
    """Iterate until the scores settle or the iterations run out.

    Args:
        method: What to iterate.
        labels: All labels.
        start: Scores to start from, by counting them; overwritten.
        parameters: How many numbers the counts hold: what is counted into one set of counts has eight times as many
            labels at least, so that making and adding counts costs little beside counting.
        progress: Called with the iteration and the change after each.
        first: Parameters to start from instead, by scoring with them.
    """
    cuts = _cuts(labels, parameters)
    slices = [(labels.slice(*cut), start[slice(*cut)]) for cut in cuts]
    with Threads(len(cuts)) as threads:

        def one_pass(workers: Workers | None) -> tuple[Counts, Array]:
            total = _Sum()
            change = np.zeros(labels.n_classes)

            def step(part: int) -> tuple[Counts, Array]:
                counts = method.empty(labels, workers)
                return counts, method.sweep(*slices[part], workers, counts)

            def add(outcome: tuple[Counts, Array]) -> None:
                total.add(outcome[0])
                np.maximum(change, outcome[1], out=change)

            threads.run(step, add)
            return total.value, change

        if first is None:
            counts, _ = one_pass(None)
            first = method.estimate(counts, None, np.full(labels.n_classes, np.inf))
        workers = first
        objective = [float(np.sum(workers.objective))]
        for iteration in range(1, method.max_iterations + 1):
            counts, change = one_pass(workers)
            following = method.estimate(counts, workers, change)
            objective.append(float(np.sum(following.objective)))
            largest = float(change.max())
            if progress is not None:
                progress(iteration, largest)
            if largest <= method.tolerance or iteration == method.max_iterations:
                end = Convergence(iteration, largest <= method.tolerance, largest, tuple(objective))
                return Fitted(start, workers, end, following.objective)
            workers = following
    raise CallError(f"max_iterations={method.max_iterations} is not a positive number.")


def add_slices(labels: Labels, parameters: int, count: Callable[[int, int, Labels], Added]) -> Added:
    """The sum of `count` of each slice, given its first and last item; on threads; see `run` for `parameters`."""
    total = _Sum()
    _each_slice(labels, parameters, count, total.add)
    return cast(Added, total.value)


def each_slice(labels: Labels, step: Callable[[int, int, Labels], None]) -> None:
    """Run `step` on each slice, given its first and last item; on threads."""
    _each_slice(labels, 0, step)


def _each_slice(
    labels: Labels,
    parameters: int,
    step: Callable[[int, int, Labels], Done],
    use: Callable[[Done], object] = lambda _: None,
) -> None:
    cuts = _cuts(labels, parameters)
    with Threads(len(cuts)) as threads:
        threads.run(lambda part: step(*cuts[part], labels.slice(*cuts[part])), use)


def sliced(labels: Labels) -> bool:
    """Whether there are enough labels for several threads."""
    return len(_cuts(labels, 0)) > 1


def _cuts(labels: Labels, parameters: int) -> list[tuple[int, int]]:
    return list(labels.slices(max(_SLICE, 8 * parameters)))


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


class Threads:
    """Work on numbered parts on threads, this one among them, and use the outcomes in the order of the parts."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._others = min(thread_count(), parts) - 1
        self._pool = ThreadPoolExecutor(self._others) if self._others else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, step: Callable[[int], Done], use: Callable[[Done], object] = lambda _: None) -> None:
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
