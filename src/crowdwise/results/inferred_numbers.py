"""`InferredNumbers`: the interface of all results of numeric methods, in memory, on disk or in a Spark cluster."""

from collections.abc import Callable
from os import PathLike
from typing import Protocol, Self

import polars as pl

from ..caution import Caution
from ..data.names import Names
from .convergence import Convergence
from .learned import AnyLearned
from .maker import Maker
from .worker_errors import WorkerErrors


class InferredNumbers(Protocol):
    """The result of a numeric method; `NumericResult` has it in memory and describes the members in more detail."""

    @property
    def method(self) -> Maker:
        """The method with all its parameters."""
        ...

    @property
    def names(self) -> Names:
        """The names of workers, and for a result in memory also of the items."""
        ...

    @property
    def workers(self) -> AnyLearned:
        """What the method learned about the workers."""
        ...

    @property
    def errors(self) -> WorkerErrors:
        """How every worker errs."""
        ...

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on this result, the most serious first."""
        ...

    def with_cautions(self, look: Callable[[], tuple[Caution, ...]]) -> Self:
        """Return a copy whose `cautions` are what `look` returns; it is called when they are first asked for."""
        ...

    @property
    def convergence(self) -> Convergence:
        """How the iterations ended."""
        ...

    def to_frame(self) -> pl.DataFrame:
        """Return one row per item, in memory."""
        ...

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy table that need not fit in memory; both arguments must be False."""
        ...

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance."""
        ...

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the `count` items with the widest intervals, the widest first."""
        ...

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
        probabilities: bool = False,
    ) -> None:
        """Write the rows of the items to `truth` and those of the workers to `workers`; either all or none.

        `scores` and `probabilities` are for classes, and must be False.
        """
        ...
