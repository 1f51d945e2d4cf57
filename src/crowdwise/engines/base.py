"""What an engine asks of a method; `loop.Inferring` and `loop.Iterative` are the bases that answer."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, Protocol

from ..data.labels import Labels
from ..kernels import Array
from ..results.result import Scale


class Sweeping(Protocol):
    """A method that every engine can run; `labels` is always a part of the items, with all workers and classes."""

    @property
    def scale(self) -> Scale:
        """What the scores are."""
        ...

    @property
    def coins(self) -> bool:
        """Whether workers are read as coins given the answers; else a worker's quality is its agreement with them."""
        ...

    @property
    def forgetful(self) -> bool:
        """Whether scores follow from the workers' parameters alone, not from the scores before them as well."""
        ...

    @property
    def variance(self) -> Callable[[Labels, Array, Any], Array] | None:
        """The posterior variance of scores, from them and the workers' parameters; None where there is none."""
        ...

    def start(self, labels: Labels) -> tuple[Array, Any]:
        """Scores to count first, or parameters to score with first."""
        ...

    def parameters(self, labels: Any) -> int:
        """How many numbers one set of counts holds."""
        ...

    def empty(self, labels: Any, workers: Any) -> tuple[Any, ...]:
        """Statistics of no items, to be counted into."""
        ...

    def sweep(self, labels: Labels, scores: Array, workers: Any, counts: Any) -> Array:
        """Overwrite the scores, count them, and say by how much each class moved."""
        ...

    def rescore(self, labels: Labels, workers: Any) -> Array:
        """The scores that follow from these parameters alone."""
        ...

    def finish(self, scores: Array) -> Array:
        """Scores as the loop ends with them to scores as the result has them."""
        ...


# The engine for each place where labels can be, by its module and class; Spark is imported only where it is used.
_ENGINES: Final = {"memory": ("memory", "InMemory"), "disk": ("disk", "OnDisk"), "spark": ("spark", "OnSpark")}


def open_engine(method: Sweeping, crowd: Any) -> Any:
    """The engine that runs a method where these labels are."""
    module, name = _ENGINES[crowd.where]
    return getattr(import_module(f".{module}", __package__), name)(method, crowd)
