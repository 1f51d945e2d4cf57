"""`Inferred`: what every result answers, whether its items are in memory, on disk or in a Spark cluster."""

from os import PathLike
from typing import Any, Protocol

import polars as pl

from ..data.names import Names
from .convergence import Convergence
from .result import Quality, Result, Scale


class Inferred(Protocol):
    """The inferred truth of a crowd, wherever it is kept. `Result` says what the members mean."""

    @property
    def method(self) -> Any:
        """The method with all its parameters."""
        ...

    @property
    def names(self) -> Names:
        """What workers and classes are called; in memory, also what the items are called."""
        ...

    @property
    def scale(self) -> Scale:
        """What the scores are."""
        ...

    @property
    def workers(self) -> Any:
        """What the method learned of the workers, a `Learned`."""
        ...

    @property
    def convergence(self) -> Convergence:
        """How the iterations ended."""
        ...

    @property
    def quality(self) -> Quality:
        """How good every worker is."""
        ...

    @property
    def tie_count(self) -> int:
        """How many items have two best classes with the same score."""
        ...

    def to_frame(self, scores: bool = False) -> pl.DataFrame:
        """One row per item, in memory; with `scores`, a column for the score of every class."""
        ...

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """The same as a stream."""
        ...

    def workers_frame(self) -> pl.DataFrame:
        """One row per worker, in order of first appearance."""
        ...

    def confusion(self, worker: Any) -> pl.DataFrame:
        """What one worker says where each class is true: a row per true class, a column per class said."""
        ...

    def about(self, items: pl.Series) -> Result:
        """The result of these items in memory, to be measured; of any item at all if none of these has a label."""
        ...

    def disputed(self, count: int) -> pl.DataFrame:
        """The rows of the items whose best two classes are closest, the closest first."""
        ...

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
    ) -> None:
        """Write the rows of the items to `truth` and those of the workers to `workers`: both of them, or none."""
        ...

    def credited_to(self, method: Any) -> "Inferred":
        """The same as the result of another method, which this one was a part of."""
        ...
