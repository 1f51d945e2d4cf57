"""The one loop. An iterative method scores, counts and estimates; this is what calls it.

An iteration is one sweep over all items, part by part wherever an engine has them: score each item from the workers'
parameters, measure how far the scores moved, count the item; then add up the counts and estimate the workers from
the sum.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..data.crowd import Crowd, Place
from ..data.labels import Labels
from ..engines.base import Engine, Sweeping, open_engine
from ..engines.memory import InMemory
from ..errors import CallError
from ..kernels import Array
from ..results.inferred import Inferred
from ..results.result import Ending
from .iterations import Iterations
from .method import Method, Progress


class Parameters(Protocol):
    """What an iterative method knows of the workers; the only thing that travels between iterations."""

    @property
    def objective(self) -> Array:
        """The objective of the scores behind these parameters, by class or as one number; empty if there is none."""
        ...


Workers = TypeVar("Workers", bound=Parameters)
# A named tuple of arrays, additive over disjoint slices of items.
Counts = TypeVar("Counts", bound=tuple[Any, ...])


class SweepingMethod(Method, Sweeping):
    """The base of methods that every engine can run."""

    def require_place(self, place: Place) -> None:
        """Refuse what every method refuses, and a cluster if the scores before are needed: it keeps none."""
        super().require_place(place)
        if place == "spark" and self.needs_previous_scores:
            raise CallError(
                f"{type(self).__name__} needs the scores of the iteration before, and a cluster keeps none: use engine "
                "memory or disk."
            )

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Sweep over the items where they are until the loop ends."""
        with open_engine(self, labels) as engine:
            return engine.result(self.iterate(engine, progress))

    @abstractmethod
    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Everything between the start and the result."""


class IterativeMethod(SweepingMethod, Generic[Workers, Counts]):
    """The base of methods that sweep over the items and estimate the workers, in turn.

    Scoring and counting are one function, `sweep`, so that an item is counted while it is in the processor's cache.
    """

    tolerance: float
    max_iterations: int

    @abstractmethod
    def empty_counts(self, labels: Labels, workers: Workers | None) -> Counts:
        """Counts of no items, to be added to; `workers` is None in the first sweep."""

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, workers: Workers | None, counts: Counts) -> Array:
        """Score these items and count them; see `Sweeping.sweep`."""

    @abstractmethod
    def estimate(self, counts: Counts, previous: Workers | None, change: Array) -> Workers:
        """The workers' parameters from the counts of all items.

        Args:
            counts: What was counted.
            previous: The parameters before; None after the first sweep.
            change: By how much each class moved in the sweep that counted; infinite after the first.
        """

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate until the scores settle or the iterations run out."""
        workers = engine.first
        if workers is None:
            counts, _ = engine.sweep(None)
            workers = self.estimate(counts, None, np.full(engine.n_classes, np.inf))
        iterations = Iterations(self.tolerance, self.max_iterations, progress, _total(workers.objective))
        while True:
            counts, change = engine.sweep(workers)
            following = self.estimate(counts, workers, change)
            if iterations.ended(float(change.max()), _total(following.objective)):
                # The workers of a result are those that gave its scores, so that an explanation adds up exactly.
                return Ending(workers, iterations.convergence, following.objective)
            workers = following


@dataclass(frozen=True, eq=False)
class Fitted:
    """How a loop in memory ended: its scores, and everything else."""

    scores: Array
    ending: Ending


def run(method: IterativeMethod[Any, Any], labels: Labels, start: Array, progress: Progress | None) -> Fitted:
    """Iterate in memory from other scores than the method's own, which are overwritten."""
    with InMemory(method, labels, start) as engine:
        return Fitted(start, method.iterate(engine, progress))


def _total(objective: Array) -> float | None:
    """The objective of all classes together; None where a method has none."""
    return float(np.sum(objective)) if objective.size else None
