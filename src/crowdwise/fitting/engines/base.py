"""`Engine`: runs a method on the labels where they are; `open_engine` chooses one.

An engine knows where the labels are, but not what a method does with them. It cuts the items into parts, calls the
method's `sweep` on every part, and adds up the counts. Therefore a method needs no code of its own for memory, disk or
Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self, get_type_hints

import numpy as np

from ...crowd.knowledge import PriorKnowledge
from ...crowd.labels import Labels
from ...crowd.names import Names
from ...crowd.protocol import Crowd
from ...numerics import Array
from ...parallel import Sum
from ...results.ending import Ending
from ...results.gold import clamped_scores
from ...results.history import Counted

if TYPE_CHECKING:
    from ..sweeping import AnySweeping, Finished


class Engine(ABC):
    """Runs one method on one crowd.

    Attributes:
        known: What is known beforehand, such as what was counted in earlier labels, which is added to every sweep.
        sample_of: (workers), whose sample each worker is, by its number; None if no worker has several; see `Names`.
    """

    initial_workers: Any  # the workers' parameters that the method starts from; None if it starts from scores

    def __init__(self, method: Any, crowd: Any, known: PriorKnowledge, names: Names) -> None:
        self.method, self.crowd, self.known = method, crowd, known
        self.n_classes, self.sample_of = len(names.classes), names.sample_of

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all items; return the sum of the counts and each class's largest change."""
        counts, change = self.sweep_parts(workers)
        if self.known.earlier is not None:
            self.method.add_earlier(counts, self.known.earlier, workers)
        return counts, change

    @abstractmethod
    def sweep_parts(self, workers: Any) -> tuple[Any, Array]:
        """The same, without what was counted in earlier labels."""

    @staticmethod
    @abstractmethod
    def count_labels(crowd: Any, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels of every part and return the sum of what it returns.

        `phase` is the name of this work in the progress bar.
        """

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """The same for the crowd of this engine."""
        return self.count_labels(self.crowd, count, phase)

    @abstractmethod
    def result(self, ending: Ending) -> Any:
        """Return the result, given how the iterations ended: an `Inferred`, or a `NumericResult`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return


# The engine of every place where labels can be. Its module has the name of the place, and is imported only when it is
# used, because Spark is not always installed.
_ENGINES: Final = {"memory": "MemoryEngine", "disk": "DiskEngine", "spark": "SparkEngine"}


def open_engine(method: Any, crowd: Crowd) -> Engine:
    """Return the engine for the place where the crowd's labels are: memory, disk or Spark."""
    engine: Engine = _engine(crowd)(method, crowd)
    return engine


def count_labels(crowd: Crowd, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
    """Call `count` with the labels of every part and return the sum of what it returns; no method is needed."""
    return _engine(crowd).count_labels(crowd, count, phase)


def _engine(crowd: Crowd) -> Any:
    return getattr(import_module(f".{crowd.place}", __package__), _ENGINES[crowd.place])


def sweep_items(method: "AnySweeping", labels: Labels, scores: Array, workers: Any) -> tuple[Any, Array]:
    """Sweep over the items of a part; those of known class are clamped to it, and count with the weight of gold.

    Returns the counts, and for every class the largest change of a score.
    """
    counts = method.empty_counts(labels, workers)
    if labels.gold is None or not labels.gold_split.gold:
        return counts, method.sweep(labels, scores, workers, counts)
    apart = labels.gold_split
    of_known = method.empty_counts(labels, workers)
    for known, items, part in apart.gold:
        clamped = scores[items]
        method.clamp(clamped, known)
        method.sweep_known(part, clamped, known, workers, of_known)
        scores[items] = clamped
    of_open = scores[apart.open_items]
    change = method.sweep(apart.open, of_open, workers, counts)
    scores[apart.open_items] = of_open
    for name, weight in _gold_weights(counts.__class__, labels.known.gold_weight).items():
        total = getattr(counts, name)
        total += weight * getattr(of_known, name)
    return counts, change


@cache
def _gold_weights(kind: Any, weight: float) -> dict[str, float]:
    """Return how often items of known class count, for each of the arrays that a method counts.

    They count for more in what is counted about each worker, not in how common classes are: which items are known need
    not be by chance.
    """
    declared = get_type_hints(kind, include_extras=True).items()
    return {name: weight if "worker_numbers" in getattr(hint, "__metadata__", ()) else 1.0 for name, hint in declared}


def finish_items(method: "AnySweeping", labels: Labels, scores: Array, workers: Any) -> "Finished":
    """Call `finish` on the items of a part; those whose class is known have that class in the end, too."""
    finished = method.finish(labels, scores, workers)
    return finished if labels.gold is None else finished._replace(scores=clamped_scores(labels.gold, finished.scores))


def counted_by(method: "AnySweeping", names: Names, known: PriorKnowledge, ending: Ending) -> Counted | None:
    """Return what a method counted, including what it began with; None if it counts nothing for later labels.

    `names` are in the order of the workers' numbers. Workers of earlier labels who gave none of these are kept.
    """
    if ending.counts is None:
        return None
    statistics = method.statistics(ending)
    if not statistics.per_worker:
        return None
    return Counted(names.classes, names.workers, *statistics, known.label_counts, known.other_workers)


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
