"""`Sweeping` and `Engine`: the interfaces of methods and engines; `open_engine` chooses an engine.

An engine knows where the labels are, but not what a method does with them. It cuts the items into parts, calls the
method's `sweep` on every part, and adds up the counts. Therefore a method needs no code of its own for memory, disk or
Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from ..data.crowd import Crowd
from ..data.labels import Labels, shares
from ..kernels import Array
from ..parallel import Sum
from ..results.inferred import Inferred
from ..results.result import Ending, Scale


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
    # Computes the posterior variance of the scores from the labels, the scores and the workers' parameters. None for a
    # method that has no such variance.
    variance: ClassVar[Callable[..., Array] | None] = None

    def start(self, labels: Labels) -> tuple[Array, Any]:
        """Return the first scores, and the first parameters of the workers or None.

        With None, the first sweep counts the first scores, and the parameters are estimated from these counts. By
        default, the score of a class is its share of the votes on the item.
        """
        return shares(labels), None

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
            workers: The workers' parameters; None in the first sweep of a method that starts from scores.
            counts: The arrays from `empty_counts`. The sufficient statistics of these items are added to them.

        Returns:
            For every class, the largest change of a score.
        """

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """Return the scores that follow from these parameters alone; for an engine that does not store scores."""
        scores = np.zeros((labels.n_items, labels.n_classes))
        self.sweep(labels, scores, workers, self.empty_counts(labels, workers))
        return scores

    def finish(self, scores: Array) -> Array:
        """Turn the scores of the last iteration into the scores of the result; by default they are the same."""
        return scores


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


class Engine(Protocol):
    """The interface of an engine: it runs one method on one crowd.

    Attributes:
        n_classes: The number of classes.
        first: The workers' parameters that the method starts from; None if it starts from scores.
    """

    n_classes: int
    first: Any

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all items; return the sum of the counts and each class's largest change."""
        ...

    def result(self, ending: Ending) -> Inferred:
        """Return the result, given how the iterations ended."""
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
