"""`Engine`: runs a method on the labels where they are; `open_engine` chooses one.

An engine knows where the labels are, but not what a method does with them. It cuts the items into parts, calls the
method's `sweep` on every part, and adds up the counts. Therefore a method needs no code of its own for memory, disk or
Spark.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, Self

from ...data.crowd import Crowd
from ...data.knowledge import Known
from ...data.labels import Labels
from ...data.names import Names
from ...numerics import Array
from ...results.ending import Ending


class Engine(ABC):
    """Runs one method on one crowd.

    Attributes:
        method: The method, a `SweepingMethod`.
        crowd: The labels.
        n_classes: The number of classes.
        known: What is known beforehand, such as what was counted in earlier labels, which is added to every sweep.
        sample_of: (workers), whose sample each worker is, by its number; None if no worker has several; see `Names`.
        initial_workers: The workers' parameters that the method starts from; None if it starts from scores.
    """

    initial_workers: Any

    def __init__(self, method: Any, crowd: Any, known: Known, names: Names) -> None:
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


# For every place where labels can be: the module and the class of its engine. A module is imported only when its engine
# is used, because Spark is not always installed.
_ENGINES: Final = {
    "memory": ("memory", "MemoryEngine"),
    "disk": ("disk", "DiskEngine"),
    "spark": ("spark", "SparkEngine"),
}


def open_engine(method: Any, crowd: Crowd) -> Engine:
    """Return the engine for the place where the crowd's labels are: memory, disk or Spark."""
    engine: Engine = _engine(crowd)(method, crowd)
    return engine


def count_labels(crowd: Crowd, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
    """Call `count` with the labels of every part and return the sum of what it returns; no method is needed."""
    return _engine(crowd).count_labels(crowd, count, phase)


def _engine(crowd: Crowd) -> Any:
    module, name = _ENGINES[crowd.place]
    return getattr(import_module(f".{module}", __package__), name)
