"""`SweepingMethod`: the base of methods that work on the items part by part, so that any engine can run them.

Such a method is expectation-maximisation, or like it. `sweep` is the E step: it scores the items of a part by what is
known of the workers, and counts what the scores say about the workers. The counts of parts add up. `estimate` is the M
step: it learns the workers' parameters from the counts of all items. Therefore one method runs in memory, on disk and
in a cluster, with the same result on any number of threads.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar, get_type_hints

import numpy as np

from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..crowd.votes import shares
from ..numerics import Array
from ..results.ending import Ending
from ..results.history import require_shape
from ..results.in_parts import Inferred
from ..results.learned import ClassAxes, Learned
from ..results.result import Scale
from .engines.base import Engine, open_engine
from .iterations import Progress, Step
from .limits import Limits
from .method import Method

# What a method knows of the workers; nothing else is passed from one iteration to the next.
Workers = TypeVar("Workers", bound=Learned)
# A named tuple of arrays, the sufficient statistics: those of two sets of items add up to those of both together.
Counts = TypeVar("Counts", bound=tuple[Any, ...])


class Statistics(NamedTuple):
    """The sufficient statistics that later fits may start from, by name; see `History`."""

    per_worker: dict[str, Array]  # the arrays whose first axis is the workers
    shared: dict[str, Array]  # the arrays about all workers together
    class_axes: dict[str, tuple[int, ...]]  # which axes of these arrays are the classes

    @classmethod
    def nothing(cls) -> "Statistics":
        """No arrays."""
        return cls({}, {}, {})


class Finished(NamedTuple):
    """What a method says about the items of a part when the iterations have ended."""

    scores: Array  # (items, classes), the scores of the result
    difficulty: Array | None = None  # (items), larger for harder items; None if the method has no difficulties


class SweepingMethod(Method, Generic[Workers, Counts]):
    """The base of methods that work on the items part by part, so that the labels need not be in memory.

    A subclass gives the E step and the M step. The E step is `score` and `count` in NumPy, or one function `sweep` that
    does both, for kernels: an item is counted while it is still in the processor's cache. The M step is `estimate`.

    The argument `labels` is one part: some of the items, with all workers and all classes. In memory a part is a slice
    of the labels, on disk it is a file, in a cluster it is a row of a table.
    """

    # The meaning of the scores; see `Result.scale`.
    scale: ClassVar[Scale] = "probability"
    # Whether the new scores depend on the previous scores, and not only on the workers' parameters.
    needs_previous_scores: ClassVar[bool] = False
    # How many times as long a label takes in a sweep as in the methods that only look up a few numbers for it.
    work_per_label: ClassVar[int] = 1
    # Whether `finish` gives difficulties.
    has_difficulties: ClassVar[bool] = False
    # Computes, from the labels and the workers' parameters, how many labels of every worker are expected to be right by
    # the method's own probabilities, and the variance of that. None if it is estimated from the answers.
    expected_right: ClassVar[Callable[..., tuple[Array, Array]] | None] = None
    # Computes the posterior variance of the scores from the labels, the scores and the workers' parameters. None for a
    # method that has no such variance.
    variance: ClassVar[Callable[..., Array] | None] = None

    def start(self, labels: Labels) -> tuple[Array, Any]:
        """Return the first scores, and the first parameters of the workers or None.

        With None, the first sweep counts the first scores, and the parameters are estimated from these counts. By
        default, the score of a class is its share of the votes on the item.
        """
        return shares(labels), None

    def width(self, labels: Labels) -> int:
        """Return how many numbers the scores of an item are: one for every class, or a value and its variance."""
        return 2 if self.numeric else labels.n_classes

    def count_size(self, labels: Labels) -> int:
        """Return roughly how many numbers the counts of one slice hold.

        The memory engine chooses the number of slices by it, so that adding up the counts takes little time.
        """
        return labels.n_workers

    def score(self, labels: Labels, workers: Workers) -> Array:
        """E step: the scores (items, classes) that follow from the workers' parameters."""
        raise NotImplementedError

    def count(self, labels: Labels, scores: Array) -> Counts:
        """The sufficient statistics of these items; those of two sets of items add up to those of both together."""
        raise NotImplementedError

    def empty_counts(self, labels: Labels, workers: Workers | None) -> Counts:
        """The counts of no items, which `sweep` adds to; `workers` is None in the first sweep."""
        none: Any = self.count(labels.slice(0, 0), np.zeros((0, self.width(labels))))
        counts: Counts = none._make(np.zeros(total.shape) for total in none)
        return counts

    def sweep(self, labels: Labels, scores: Array, workers: Workers | None, counts: Counts) -> Array:
        """E step: overwrite the scores of these items, and add their sufficient statistics to the counts.

        `workers` is None in the first sweep of a method that starts from scores. Then the scores (items, classes) stay
        as they are, and are only counted. Returns for every class the largest change of a score.
        """
        before = scores.copy()
        if workers is not None:
            scores[:] = self.score(labels, workers)
        for total, part in zip(counts, self.count(labels, scores), strict=True):
            total += part
        return np.asarray(np.abs(scores - before).max(axis=0, initial=0.0))

    @abstractmethod
    def estimate(self, counts: Counts, previous: Workers | None, change: Array) -> Workers:
        """M step: the workers' parameters, learned from the counts of all items.

        `previous` are the parameters of the iteration before, None after the first sweep. `change` (classes) is the
        largest change of a score of each class in that sweep, infinite after the first.
        """

    def moved(self, counts: Counts, change: Array) -> float:
        """How much an iteration changed the scores, which the loop compares with the tolerance; see `estimate`."""
        return float(change.max())

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Run the loop on the engine of the place where the labels are."""
        with open_engine(self, labels) as engine:
            found: Inferred = engine.result(self.iterate(engine, progress))
            return found

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Iterate until no score moves by more than the tolerance, or the iterations run out."""
        first = engine.initial_workers
        return self.iterate_from(self.begin(engine) if first is None else first, engine, progress)

    def begin(self, engine: Engine, start: Any = None) -> Workers:
        """Learn the first parameters from the first scores; `start` is given to the sweep that counts these."""
        counts, _ = engine.sweep(start)
        return self.estimate(counts, start, np.full(engine.n_classes, np.inf))

    def iterate_from(
        self,
        workers: Workers,
        engine: Engine,
        progress: Progress | None,
        until: Callable[[Workers], bool] | None = None,
    ) -> Ending:
        """Iterate from these parameters; also end where `until` says so of those that are estimated.

        The result has the parameters that gave its scores, not the ones estimated after that: only so do the
        contributions of the votes add up to the scores exactly.
        """
        steps, objective = self._steps(workers, engine, until), _total(workers)
        del workers  # the first parameters are not needed any more
        (last, estimated, counts), convergence = self.run_steps(steps, progress, objective)
        return Ending(last, convergence, _objective(estimated), estimated, counts)

    def _steps(
        self, workers: Workers, engine: Engine, until: Callable[[Workers], bool] | None = None
    ) -> Iterator[Step[tuple[Workers, Workers, Counts]]]:
        def finish() -> tuple[Workers, Workers, Counts]:  # refers to these variables, so that nothing lives longer
            return workers, estimated, counts

        while True:
            counts, change = engine.sweep(workers)  # E step
            estimated = self.estimate(counts, workers, change)  # M step
            ends = until is not None and until(estimated)
            yield Step(0.0 if ends else self.moved(counts, change), finish, _total(estimated))
            workers = estimated

    def clamp(self, scores: Array, known: int) -> None:
        """Overwrite the scores of items by those of items that are known to be of a class."""
        scores[:] = 0.0
        scores[:, known] = 1.0

    def sweep_known(self, labels: Labels, scores: Array, known: int, workers: Any, counts: Any) -> None:
        """Count items that are known to be of a class; their scores are as `clamp` left them.

        Parameters with a `log_prior` score them, with no other class possible. Otherwise the scores are only counted.
        """
        self.sweep(labels, scores, _if_known(workers, known, labels.n_classes), counts)

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """Return the scores that follow from these parameters alone; for an engine that does not store scores."""
        scores = np.zeros((labels.n_items, self.width(labels)))
        self.sweep(labels, scores, workers, self.empty_counts(labels, workers))
        return scores

    def finish(self, labels: Labels, scores: Array, workers: Any) -> Finished:
        """Turn the scores of the last iteration into the scores of the result; by default they are the same.

        `workers` are the parameters that gave these scores; None if there were no iterations.
        """
        return Finished(scores)

    def statistics(self, ending: Ending) -> Statistics:
        """Return the sufficient statistics that later fits may start from.

        By default it is all that the counts declare as `PerWorker` or `Shared`, with their `ClassAxes`.
        """
        found = Statistics.nothing()
        for name, hint in get_type_hints(type(ending.counts), include_extras=True).items():
            marks = getattr(hint, "__metadata__", ())
            if "worker_numbers" in marks:
                found.per_worker[name] = getattr(ending.counts, name)
            if "shared" in marks:
                found.shared[name] = getattr(ending.counts, name)
            for mark in marks:
                if isinstance(mark, ClassAxes):
                    found.class_axes[name] = tuple(mark)
        return found

    def add_earlier(self, counts: Any, earlier: Mapping[str, Array], workers: Any) -> None:
        """Add to the counts of a sweep what `statistics` returned for earlier items.

        `workers` are the parameters that the sweep had; None in a first sweep.
        """
        for name, total in counts._asdict().items():
            if name in earlier and total.size:  # what a first sweep does not need is empty there
                require_shape(name, earlier[name], total.shape)
                total += earlier[name]

    def limits(self) -> Limits:
        """A method that needs the scores of the iteration before cannot run in a cluster, which keeps no scores."""
        needs = "the scores of the iteration before, and a cluster keeps none" if self.needs_previous_scores else ""
        return replace(super().limits(), no_history="", not_in_cluster=needs)


AnySweeping: TypeAlias = SweepingMethod[Any, Any]


def _if_known(workers: Any, known: int, n_classes: int) -> Any:
    """The same parameters, except that no class but the known one is possible; None if they have no `log_prior`."""
    if not hasattr(workers, "log_prior"):
        return None
    by_class = workers.log_prior.reshape(n_classes, -1)  # a column for each subtype of the class
    masked = np.full_like(by_class, -np.inf)
    masked[known] = np.maximum(by_class[known], -100.0)  # a class that nobody named is possible if it is known
    return replace(workers, log_prior=masked.ravel())


def _objective(workers: Learned) -> Array:
    """The objective of the scores that these parameters were estimated from: one number, or one for each class.

    Empty if the method has none.
    """
    return np.asarray(getattr(workers, "objective", ()))


def _total(workers: Learned) -> float | None:
    objective = _objective(workers)
    return float(np.sum(objective)) if objective.size else None
