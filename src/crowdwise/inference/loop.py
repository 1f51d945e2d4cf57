"""The one loop. An iterative method scores, counts and estimates; this is what calls it.

An iteration is one sweep over all items, in parts wherever an engine has them: score each item from the workers'
parameters, measure how far the scores moved, count the item; then add up the counts and estimate the workers from
the sum.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from ..data.labels import Labels, shares
from ..engines.base import open_engine
from ..engines.memory import InMemory
from ..errors import CallError
from ..kernels import Array
from ..results.result import Convergence, Ending, Result, Scale

Progress = Callable[[int, float], None]


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


class Inferring:
    """The base of methods that every engine can run: where scores start, and what they are at the end.

    `labels` is always a part of the items: all of them in memory, a part of them on disk or in a cluster.
    """

    scale: ClassVar[Scale] = "probability"
    # Whether workers are read as coins given the answers; else a worker's quality is its agreement with them.
    coins: ClassVar[bool] = True
    # Whether scores follow from the workers' parameters alone, not from the scores before them as well.
    forgetful: ClassVar[bool] = True
    # The posterior variance of scores, from labels, scores and the workers' parameters.
    variance: ClassVar[Callable[..., Array] | None] = None

    @property
    def in_memory_only(self) -> str:
        """Why all labels must be in memory at once, as "because ..."; empty where any engine can run the method."""
        return ""

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, in memory or elsewhere.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_suitable(self)
        self.check(labels)
        engine = open_engine(self, labels)
        with engine:
            result: Result = engine.result(self.iterate(engine, progress))
            return result

    def check(self, labels: Labels) -> None:
        """Refuse labels that the method has no meaning for."""
        labels.require_single_votes(type(self).__name__)

    def start(self, labels: Labels) -> tuple[Array, Any]:
        """Scores to count first, or parameters to score with first; vote shares, if a method does not say."""
        return shares(labels), None

    def finish(self, scores: Array) -> Array:
        """Scores as the loop ends with them to scores as the result has them."""
        return scores

    def parameters(self, labels: Labels) -> int:
        """How many numbers one set of counts holds."""
        return labels.n_workers

    def empty(self, labels: Labels, workers: Any) -> Any:
        """Nothing is counted."""
        return ()

    def sweep(self, labels: Labels, scores: Array, workers: Any, counts: Any) -> Array:
        """Scores stay as they started."""
        return np.zeros(labels.n_classes)

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """The scores that follow from these parameters alone, for an engine that keeps none."""
        scores = np.zeros((labels.n_items, labels.n_classes))
        self.sweep(labels, scores, workers, self.empty(labels, workers))
        return scores

    def iterate(self, engine: "Engine", progress: Progress | None) -> Ending:
        """What comes between the start and the end: here, nothing but the start."""
        engine.sweep(None)
        return Ending(None, Convergence(0, True, 0.0), np.zeros(0))


class Engine(Protocol):
    """One method over one crowd, wherever the crowd is."""

    n_classes: int
    first: Any  # the parameters to score with first, if a method starts from those

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """One pass over all items: the sum of what the method counts, and by how much each class moved."""
        ...

    def result(self, ending: Ending) -> Result:
        """What was found."""
        ...

    def __enter__(self) -> "Engine": ...

    def __exit__(self, *_: object) -> None: ...


class Iterative(Inferring, Generic[Workers, Counts]):
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

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate until the scores settle or the iterations run out."""
        workers = engine.first
        if workers is None:
            counts, _ = engine.sweep(None)
            workers = self.estimate(counts, None, np.full(engine.n_classes, np.inf))
        objective = [float(np.sum(workers.objective))]
        for iteration in range(1, self.max_iterations + 1):
            counts, change = engine.sweep(workers)
            following = self.estimate(counts, workers, change)
            objective.append(float(np.sum(following.objective)))
            largest = float(change.max())
            if progress is not None:
                progress(iteration, largest)
            if largest <= self.tolerance or iteration == self.max_iterations:
                end = Convergence(iteration, largest <= self.tolerance, largest, tuple(objective))
                return Ending(workers, end, following.objective)
            workers = following
        raise CallError(f"max_iterations={self.max_iterations} is not a positive number.")


@dataclass(frozen=True, eq=False)
class Fitted(Generic[Workers]):
    """How a loop ended: scores, the parameters that gave them, and the objective after every iteration."""

    scores: Array
    workers: Workers
    convergence: Convergence
    objective: Array  # of the final scores, as the method's parameters hold it


def run(method: Iterative[Workers, Counts], labels: Labels, start: Array, progress: Progress | None) -> Fitted[Workers]:
    """Iterate in memory from other scores than the method's own, which are overwritten."""
    with InMemory(method, labels, start) as engine:
        ending = method.iterate(engine, progress)
    return Fitted(start, ending.workers, ending.convergence, ending.objective)
