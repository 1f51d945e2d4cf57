"""What an engine asks of a method, what it gives the loop above it, and which engine runs where.

An engine knows where the labels are and nothing of what a method does with them. It cuts the items into parts, lets the
method sweep over every part, and adds up what the method counted. So one method runs in memory, on disk and in a Spark
cluster without a line for any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from ..data.crowd import Crowd
from ..data.labels import Labels, shares
from ..kernels import Array
from ..results.inferred import Inferred
from ..results.result import Ending, Scale


class Sweeping(ABC):
    """A method that sweeps over the items part by part, so that any engine can run it.

    `labels` is always a part of the items with all workers and classes: a slice of them in memory, a file on disk, a
    partition in a cluster.
    """

    # What the scores are; see `Result.scale`.
    scale: ClassVar[Scale] = "probability"
    # Whether a worker's quality is its accuracy, estimated from the answers; else it is its agreement with them.
    measures_accuracy: ClassVar[bool] = True
    # Whether new scores depend on the scores of the sweep before, not on the workers' parameters alone.
    needs_previous_scores: ClassVar[bool] = False
    # The posterior variance of scores, from labels, scores and the workers' parameters; None where there is none.
    variance: ClassVar[Callable[..., Array] | None] = None

    def start(self, labels: Labels) -> tuple[Array, Any]:
        """Where to begin: scores to count first, or the workers' parameters to score with first, else None.

        Unless a method says otherwise, scores start as the shares of the votes.
        """
        return shares(labels), None

    def count_size(self, labels: Labels) -> int:
        """About how many numbers one set of counts holds: slices are cut so that adding them up costs little."""
        return labels.n_workers

    @abstractmethod
    def empty_counts(self, labels: Labels, workers: Any) -> tuple[Any, ...]:
        """Counts of no items, as a tuple of arrays that `sweep` adds to; `workers` is None in the first sweep."""

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, workers: Any, counts: Any) -> Array:
        """Score these items and count them.

        Overwrites `scores` by what follows from the workers' parameters (without parameters they stay as they are),
        adds the items' sufficient statistics to `counts`, and returns by how much each class moved.
        """

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """The scores that follow from these parameters alone, for an engine that keeps no scores."""
        scores = np.zeros((labels.n_items, labels.n_classes))
        self.sweep(labels, scores, workers, self.empty_counts(labels, workers))
        return scores

    def finish(self, scores: Array) -> Array:
        """Turn the scores that the loop ended with into the scores of the result."""
        return scores


class Engine(Protocol):
    """One method over one crowd, wherever the crowd is."""

    n_classes: int
    first: Any  # the workers' parameters to score with first, if the method starts from those

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """One pass over all items: the sum of what the method counted, and by how much each class moved at most."""
        ...

    def result(self, ending: Ending) -> Inferred:
        """What was found."""
        ...

    def __enter__(self) -> "Engine": ...

    def __exit__(self, *_: object) -> None: ...


# The engine of every place where labels can be: its module and its class. Spark is imported only where it is used.
_ENGINES: Final = {"memory": ("memory", "InMemory"), "disk": ("disk", "OnDisk"), "spark": ("spark", "OnSpark")}


def open_engine(method: Sweeping, crowd: Crowd) -> Engine:
    """The engine that runs a method where the labels of a crowd are."""
    module, name = _ENGINES[crowd.place]
    engine: Engine = getattr(import_module(f".{module}", __package__), name)(method, crowd)
    return engine
