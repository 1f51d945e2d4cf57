"""`Inferred`: the interface of all results, whether in memory, on disk or in a Spark cluster."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Protocol, Self

import polars as pl

from ..caution import Caution
from ..data.names import Names
from ..numerics import Array
from .convergence import Convergence
from .expected_accuracy import ExpectedAccuracy
from .gold import GoldCheck
from .history import History
from .learned import AnyLearned
from .maker import Maker
from .recalibration import Recalibration
from .result import Quality, Result, Scale


class Inferred(Protocol):
    """The result of a method; `Result` has it in memory, `ResultInParts` on disk or in a cluster.

    `Result` describes the members in more detail.
    """

    @property
    def method(self) -> Maker:
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
    def workers(self) -> AnyLearned:
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

    @property
    def expected_accuracy(self) -> ExpectedAccuracy:
        """How many of the inferred labels are right, as far as can be told without a truth, with an interval."""
        ...

    @property
    def gold_check(self) -> GoldCheck | None:
        """What the items of known class say about the method and about confidence; None if there are too few."""
        ...

    @property
    def recalibration(self) -> Recalibration | None:
        """What gold, also that of earlier labels, says about confidence; None without any."""
        ...

    @property
    def history(self) -> History | None:
        """What was counted, to go on from it with other labels; None if the method counts nothing that lasts."""
        ...

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on this result, the most serious first."""
        ...

    def with_cautions(self, look: Callable[[], tuple[Caution, ...]]) -> Self:
        """Return a copy whose `cautions` are what `look` returns; it is called when they are first asked for."""
        ...

    def checked(self, check: GoldCheck, measure_quality: Callable[[Array], Quality] | None) -> "Inferred":
        """Return a copy whose confidence is fitted to what the items of known class say.

        In memory, `measure_quality` computes the workers' quality from the probabilities; None if it stays as it is.
        """
        ...

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item, in memory.

        With `scores` or `probabilities`, there is a column for the score or the calibrated probability of every class.
        """
        ...

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy table that need not fit in memory; its columns are those of `to_frame`."""
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
        probabilities: bool = False,
        columns: str = "crowdwise",
        storage: Mapping[str, Any] | None = None,
        bom: bool = False,
    ) -> None:
        """Write the rows of the items to `truth` and those of the workers to `workers`.

        A path that is None is left out. Either all tables are written or none.
        """
        ...

    def credited_to(self, method: Maker) -> "Inferred":
        """Return a copy that names another method as its `method`: one that left its work to this method."""
        ...
