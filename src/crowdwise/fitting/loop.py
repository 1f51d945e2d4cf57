"""`IterativeMethod`: the base of methods that any engine can run, and the loop that runs them.

Such a method gives two functions. `sweep` goes over a part of the items: it scores each item with what is known of the
workers, and counts what the scores say about the workers. `estimate` learns the workers' parameters from the counts. An
iteration is one sweep over all items, the sum of the counts of all parts, and one estimate from that sum.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from ..data.crowd import Crowd, Place
from ..data.labels import Labels
from ..errors import CallError
from ..numerics import Array
from ..results.inferred import Inferred
from ..results.result import Ending
from .engines.base import Engine, Sweeping, open_engine
from .engines.memory import MemoryEngine
from .iterations import Iterations
from .method import Method, Progress


class Estimates(Protocol):
    """What an iterative method knows of the workers; nothing else is passed from one iteration to the next."""

    @property
    def objective(self) -> Array:
        """The objective of the scores that these parameters were estimated from.

        One number, or one for each class; empty if the method has no objective.
        """
        ...


Workers = TypeVar("Workers", bound=Estimates)
# A named tuple of arrays; the counts of two sets of items add up to the counts of both together.
Counts = TypeVar("Counts", bound=tuple[Any, ...])


class SweepingMethod(Method, Sweeping):
    """The base of methods that sweep over the items part by part, so that the labels need not be in memory."""

    def require_place(self, place: Place) -> None:
        """Refuse to run where the labels are, if the method cannot.

        A method that needs the scores of the iteration before cannot run in a cluster, which keeps no scores.
        """
        super().require_place(place)
        if place == "spark" and self.needs_previous_scores:
            raise CallError(
                f"{type(self).__name__} needs the scores of the iteration before, and a cluster keeps none: use engine "
                "memory or disk."
            )

    @property
    def history_reason(self) -> str:
        """Empty: counts of disjoint sets of items add up."""
        return ""

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Run the loop on the engine of the place where the labels are."""
        with open_engine(self, labels) as engine:
            found: Inferred = engine.result(self.iterate(engine, progress))
            return found

    @abstractmethod
    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Sweep over the items as often as needed, and return how the iterations ended."""


class IterativeMethod(SweepingMethod, Generic[Workers, Counts]):
    """The base of methods that sweep over the items and estimate the workers, in turn.

    Scoring and counting are one function, `sweep`, so that an item is counted while it is still in the processor's
    cache.
    """

    tolerance: float
    max_iterations: int
    # The fewest iterations before the scores count as converged.
    least_iterations: ClassVar[int] = 1

    def moved(self, counts: Counts, change: Array) -> float:
        """How much an iteration changed the scores; the loop compares it with the tolerance.

        Args:
            counts: The sum of what the sweep counted in all items.
            change: (classes), the largest change of a score of each class.
        """
        return float(change.max())

    def last_change(self) -> float:
        """The tolerance."""
        return self.tolerance

    @abstractmethod
    def empty_counts(self, labels: Labels, workers: Workers | None) -> Counts:
        """Counts of no items, which `sweep` adds to; `workers` is None in the first sweep."""

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, workers: Workers | None, counts: Counts) -> Array:
        """Score these items, add them to the counts, and return the largest change of each class.

        See `Sweeping.sweep`.
        """

    @abstractmethod
    def estimate(self, counts: Counts, previous: Workers | None, change: Array) -> Workers:
        """The workers' parameters, learned from the counts of all items.

        Args:
            counts: The sum of what the sweep counted in all items.
            previous: The parameters of the iteration before; None after the first sweep.
            change: (classes), the largest change of a score of each class in that sweep; infinite after the first.
        """

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate until no score moves by more than the tolerance, or the iterations run out."""
        return self.iterate_from(self.begin(engine) if engine.first is None else engine.first, engine, progress)

    def begin(self, engine: Engine, start: Any = None) -> Workers:
        """Learn the first parameters from the first scores; `start` is given to the sweep that counts these."""
        counts, _ = engine.sweep(start)
        return self.estimate(counts, start, np.full(engine.n_classes, np.inf))

    def iterate_from(self, workers: Workers, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate from these parameters."""
        start = _total(workers.objective)
        iterations = Iterations(self.tolerance, self.max_iterations, progress, start, self.least_iterations)
        while True:
            counts, change = engine.sweep(workers)
            following = self.estimate(counts, workers, change)
            if iterations.ended(self.moved(counts, change), _total(following.objective)):
                # The result has the parameters that gave its scores, not the ones estimated after that: only so do the
                # contributions of the votes add up to the scores exactly.
                return Ending(workers, iterations.convergence, following.objective, following, counts)
            workers = following


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a loop in memory ended with: the scores (items, classes), and how it ended."""

    scores: Array
    ending: Ending


def run(method: IterativeMethod[Any, Any], labels: Labels, start: Array, progress: Progress | None) -> Fitted:
    """Iterate in memory from the scores `start` (items, classes) instead of the method's own; they are overwritten."""
    with MemoryEngine(method, labels, start) as engine:
        return Fitted(start, method.iterate(engine, progress))


class WithPrior(Protocol):
    """What is learned by a method that has a probability of every class before any label."""

    @property
    def log_prior(self) -> Array:
        """(classes), the logarithms of these probabilities, up to a constant."""
        ...


Prior = TypeVar("Prior", bound=WithPrior)


def if_known(workers: Prior, known: int, subtypes: int = 1) -> Prior:
    """Return the same parameters, except that no other class than the one that is known is possible.

    Args:
        workers: The workers' parameters, a dataclass.
        known: The class.
        subtypes: How many entries of the prior belong to each class.
    """
    possible = np.repeat(np.arange(len(workers.log_prior) // subtypes) == known, subtypes)
    # A class that nobody named is possible if it is known.
    masked = np.where(possible, np.maximum(workers.log_prior, -100.0), -np.inf)
    return replace(workers, log_prior=masked)  # type: ignore[type-var]  # all of them are dataclasses


def _total(objective: Array) -> float | None:
    """The objective of all classes together; None if the method has none."""
    return float(np.sum(objective)) if objective.size else None
