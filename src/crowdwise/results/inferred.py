"""`Inferred`: the interface of all results, whether in memory, on disk or in a Spark cluster."""

from os import PathLike
from typing import Any, Protocol

import polars as pl

from ..data.names import Names
from .convergence import Convergence
from .result import Quality, Result, Scale


class Inferred(Protocol):
    """The result of a method; `Result` has it in memory, `ResultInParts` on disk or in a cluster.

    `Result` describes the members in more detail.
    """

    @property
    def method(self) -> Any:
        """The method with all its parameters."""
        ...

    @property
    def names(self) -> Names:
        """The names of workers and classes, and for a result in memory also of the items."""
        ...

    @property
    def scale(self) -> Scale:
        """The meaning of the scores."""
        ...

    @property
    def workers(self) -> Any:
        """What the method learned about the workers; a `Learned`, or the method's own subclass of it."""
        ...

    @property
    def convergence(self) -> Convergence:
        """How the iterations ended."""
        ...

    @property
    def quality(self) -> Quality:
        """The quality of every worker."""
        ...

    @property
    def tie_count(self) -> int:
        """The number of items whose best two classes have the same score."""
        ...

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """Return one row per item, in memory; with `scores`, there is a column for the score of every class."""
        ...

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy table that need not fit in memory; `scores` as in `to_frame`."""
        ...

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance."""
        ...

    def confusion(self, worker: Any) -> pl.DataFrame:
        """Return the confusion matrix of one worker: a row for each true class, a column for each class said."""
        ...

    def about(self, items: pl.Series) -> Result:
        """Return a result in memory that holds these items, to compare them with a known truth.

        It may hold other items too. It is never empty, even if none of these items has a label.
        """
        ...

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the `count` items whose best two classes are closest, the closest first."""
        ...

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
    ) -> None:
        """Write the rows of the items to `truth` and those of the workers to `workers`.

        A path that is None is left out. Either all tables are written or none.
        """
        ...

    def credited_to(self, method: Any) -> "Inferred":
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        ...
