"""`Sweeping` and `Engine`: the interfaces of methods and engines; `open_engine` chooses an engine.

An engine knows where the labels are, but not what a method does with them. It cuts the items into parts, calls the
method's `sweep` on every part, and adds up the counts. Therefore a method needs no code of its own for memory, disk or
Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Final, NamedTuple, Protocol, get_type_hints

import numpy as np

from ...data.crowd import Crowd
from ...data.knowledge import Known
from ...data.labels import Labels, shares
from ...data.names import Names
from ...numerics import Array
from ...parallel import Sum
from ...results.gold import clamped_scores
from ...results.history import Counted, require_shape
from ...results.learned import ClassAxes
from ...results.result import Ending, Scale


class Lasting(NamedTuple):
    """What a method counted that is worth keeping for later labels, by name; see `History`.

    Attributes:
        per_worker: The arrays whose first axis is the workers.
        shared: The arrays about all workers together.
        class_axes: Which axes of these arrays are the classes.
    """

    per_worker: dict[str, Array]
    shared: dict[str, Array]
    class_axes: dict[str, tuple[int, ...]]

    @classmethod
    def nothing(cls) -> "Lasting":
        """Return no arrays."""
        return cls({}, {}, {})


class Finished(NamedTuple):
    """What a method says about the items of a part when the iterations have ended.

    Attributes:
        scores: (items, classes), the scores of the result.
        difficulty: (items), larger for harder items; None if the method has no difficulties.
    """

    scores: Array
    difficulty: Array | None = None


class Sweeping(ABC):
    """The interface of a method that works on the items part by part, so that any engine can run it.

    The argument `labels` of the functions below is one part: some of the items, with all workers and all classes. In
    memory a part is a slice of the labels, on disk it is a file, in a cluster it is a row of a table.
    """

    # The meaning of the scores; see `Result.scale`.
    scale: ClassVar[Scale] = "probability"
    # Whether the quality of a worker is an estimate of its accuracy. If False, it is its agreement with the answers.
    measures_accuracy: ClassVar[bool] = True
    # Whether the new scores depend on the previous scores, and not only on the workers' parameters.
    needs_previous_scores: ClassVar[bool] = False
    # How many times as long a label takes in a sweep as in the methods that only look up a few numbers for it.
    work_per_label: ClassVar[int] = 1
    # Whether labels are numbers; then the scores of an item are its value and the variance of that.
    numeric: ClassVar[bool] = False
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
        """Return how many numbers the scores of an item are: by default one for every class."""
        return labels.n_classes

    def count_size(self, labels: Labels) -> int:
        """Return roughly how many numbers the counts of one slice hold.

        The memory engine chooses the number of slices by it, so that adding up the counts takes little time.
        """
        return labels.n_workers

    @abstractmethod
    def empty_counts(self, labels: Labels, workers: Any) -> tuple[Any, ...]:
        """Return a tuple of arrays, all zero, to which `sweep` adds; `workers` is None in the first sweep."""

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, workers: Any, counts: Any) -> Array:
        """Compute the scores of these items and count them.

        Args:
            labels: The labels of these items.
            scores: The previous scores (items, classes). They are overwritten by the new scores, which follow from the
                workers' parameters. Without parameters they stay as they are.
            workers: The workers' parameters; None in the first sweep of a method that starts from scores. Then the
                scores are only counted.
            counts: The arrays from `empty_counts`. The sufficient statistics of these items are added to them.

        Returns:
            For every class, the largest change of a score.
        """

    def clamp(self, scores: Array, known: int) -> None:
        """Overwrite the scores of items by those of items that are known to be of a class."""
        scores[:] = 0.0
        scores[:, known] = 1.0

    def sweep_known(self, labels: Labels, scores: Array, known: int, workers: Any, counts: Any) -> None:
        """Count items that are known to be of a class; their scores are clamped already.

        By default they are counted with these scores. A method that counts more than what follows from the scores and
        the labels does so here, with the workers' parameters and only this class possible.

        Args:
            labels: The labels of these items.
            scores: Their scores, as `clamp` left them.
            known: The class.
            workers: The workers' parameters; None in the first sweep of a method that starts from scores.
            counts: The arrays from `empty_counts`, to which these items are added.
        """
        self.sweep(labels, scores, None, counts)

    def add_past(self, counts: Any, past: Mapping[str, Array], workers: Any) -> None:
        """Add what was counted in earlier items to what a sweep counted.

        Args:
            counts: The counts of all items of a sweep, which are changed.
            past: What `lasting` returned for the earlier items, with these workers, by name.
            workers: The workers' parameters that the sweep had; None in a first sweep.
        """
        for name, total in counts._asdict().items():
            if name in past and total.size:  # what a first sweep does not need is empty there
                require_shape(name, past[name], total.shape)
                total += past[name]

    def lasting(self, ending: Ending) -> Lasting:
        """Return what was counted that is worth keeping for later labels.

        By default it is all that the counts declare as `PerWorker` or `Shared`, with their `ClassAxes`.
        """
        kept = Lasting.nothing()
        per_worker, shared, class_axes = kept
        for name, hint in get_type_hints(type(ending.counts), include_extras=True).items():
            marks = getattr(hint, "__metadata__", ())
            if "worker_places" in marks:
                per_worker[name] = getattr(ending.counts, name)
            if "shared" in marks:
                shared[name] = getattr(ending.counts, name)
            for mark in marks:
                if isinstance(mark, ClassAxes):
                    class_axes[name] = tuple(mark)
        return kept

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """Return the scores that follow from these parameters alone; for an engine that does not store scores."""
        scores = np.zeros((labels.n_items, self.width(labels)))
        self.sweep(labels, scores, workers, self.empty_counts(labels, workers))
        return scores

    def finish(self, labels: Labels, scores: Array, workers: Any) -> Finished:
        """Turn the scores of the last iteration into the scores of the result; by default they are the same.

        Args:
            labels: The labels of these items.
            scores: The scores of the last iteration (items, classes).
            workers: The workers' parameters that gave these scores; None if there were no iterations.
        """
        return Finished(scores)


def sweep_items(method: Sweeping, labels: Labels, scores: Array, workers: Any) -> tuple[Any, Array]:
    """Sweep over the items of a part; those whose class is known are clamped to it, and count as often as is said.

    Returns:
        The counts, and for every class the largest change of a score.
    """
    counts = method.empty_counts(labels, workers)
    if labels.gold is None or not labels.by_knowledge.known:
        return counts, method.sweep(labels, scores, workers, counts)
    apart = labels.by_knowledge
    of_known = method.empty_counts(labels, workers)
    for known, items, part in apart.known:
        clamped = scores[items]
        method.clamp(clamped, known)
        method.sweep_known(part, clamped, known, workers, of_known)
        scores[items] = clamped
    of_open = scores[apart.open_items]
    change = method.sweep(apart.open, of_open, workers, counts)
    scores[apart.open_items] = of_open
    for name, weight in _gold_weights(type(counts), labels.known.gold_weight).items():
        total = getattr(counts, name)
        total += weight * getattr(of_known, name)
    return counts, change


@cache
def _gold_weights(kind: type, weight: float) -> dict[str, float]:
    """Return how often items of known class count, for each of the arrays that a method counts.

    They count for more in what is counted about each worker, not in how common classes are: which items are known need
    not be by chance.
    """
    declared = get_type_hints(kind, include_extras=True).items()
    return {name: weight if "worker_places" in getattr(hint, "__metadata__", ()) else 1.0 for name, hint in declared}


def finish_items(method: Sweeping, labels: Labels, scores: Array, workers: Any) -> Finished:
    """Call `finish` on the items of a part; those whose class is known have that class in the end, too."""
    finished = method.finish(labels, scores, workers)
    return finished if labels.gold is None else finished._replace(scores=clamped_scores(labels.gold, finished.scores))


def counted_by(method: Sweeping, names: Names, known: Known, ending: Ending) -> Counted | None:
    """Return what a method counted, including what it began with; None if it counts nothing that lasts.

    Args:
        method: The method.
        names: The names of workers, in the order of their numbers, and of classes.
        known: What was known beforehand: workers of earlier labels who gave none of these are kept.
        ending: How the iterations ended.
    """
    if ending.counts is None:
        return None
    kept = method.lasting(ending)
    if not kept.per_worker:
        return None
    return Counted(names.classes, names.workers, *kept, known.evidence, known.absent)


class SweepTotal:
    """The sum over parts of what a sweep counted, and by how much each class moved at most.

    Parts must be added in their order, so that the sum is the same to the bit whoever made them when.
    """

    def __init__(self) -> None:
        self._sum = Sum()
        self._change: Array | None = None

    def add(self, outcome: tuple[tuple[Any, ...], Array]) -> None:
        """Add the counts and the changes of one part."""
        counts, change = outcome
        self._sum.add(counts)
        self._change = change.copy() if self._change is None else np.maximum(self._change, change)

    @property
    def value(self) -> tuple[Any, Array]:
        """The sum of the counts, and the largest change of each class."""
        assert self._change is not None, "no part was added"
        return self._sum.value, self._change

    def with_past(self, method: Sweeping, past: Any, workers: Any) -> tuple[Any, Array]:
        """Return the same, with what was counted in earlier items, if there are any; see `Sweeping.add_past`."""
        counts, change = self.value
        if past is not None:
            method.add_past(counts, past, workers)
        return counts, change


class Engine(Protocol):
    """The interface of an engine: it runs one method on one crowd.

    Attributes:
        n_classes: The number of classes.
        first: The workers' parameters that the method starts from; None if it starts from scores.
        known: What is known beforehand, such as what was counted in earlier labels, which is added to every sweep.
        sample_of: (workers), whose sample each worker is, by its number; None if no worker has several; see `Names`.
    """

    n_classes: int
    first: Any
    known: Known
    sample_of: Array | None

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all items; return the sum of the counts and each class's largest change."""
        ...

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels of every part and return the sum of what it returns.

        `phase` is the name of this work in the progress bar.
        """
        ...

    def result(self, ending: Ending) -> Any:
        """Return the result, given how the iterations ended: an `Inferred`, or an `InferredNumbers`."""
        ...

    def __enter__(self) -> "Engine": ...

    def __exit__(self, *_: object) -> None: ...


# For every place where labels can be: the module and the class of its engine. A module is imported only when its engine
# is used, because Spark is not always installed.
_ENGINES: Final = {
    "memory": ("memory", "MemoryEngine"),
    "disk": ("disk", "DiskEngine"),
    "spark": ("spark", "SparkEngine"),
}


def open_engine(method: Sweeping, crowd: Crowd) -> Engine:
    """Return the engine for the place where the crowd's labels are: memory, disk or Spark."""
    module, name = _ENGINES[crowd.place]
    engine: Engine = getattr(import_module(f".{module}", __package__), name)(method, crowd)
    return engine
