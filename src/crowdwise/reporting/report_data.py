"""`ReportData`: the data that the sections of the report are made from."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from ..analysis.evaluation import Matched, match
from ..data.labels import Labels, shares
from ..inference.method import Method
from ..methods.mv import MajorityVote
from ..results.convergence import Convergence
from ..results.learned import Learned
from ..results.result import Result


@dataclass(frozen=True, eq=False)
class ReportData:
    """The data that the sections of the report are made from.

    Attributes:
        labels: The labels.
        result: The result of a method on these labels.
        truth: The true labels of some items (columns item and truth); None if no truth is known.
        command: The command or the Python call that makes the report again.
    """

    labels: Labels
    result: Result
    truth: pl.DataFrame | None
    command: str

    @property
    def method(self) -> Method:
        """The method that the result is from."""
        method: Method = self.result.method
        return method

    @property
    def method_name(self) -> str:
        """The name of the method's class."""
        return type(self.method).__name__

    @property
    def learned(self) -> Learned:
        """What the method learned about workers, classes and items."""
        learned: Learned = self.result.workers
        return learned

    @cached_property
    def majority(self) -> Result:
        """The result of majority vote on the same labels, for comparison."""
        # `MajorityVote.fit` is not called, because it refuses votes that name several classes. The shares of the votes
        # are defined for those too.
        return Result.build(
            MajorityVote(), self.labels, shares(self.labels), "weight", convergence=Convergence(0, True, 0.0)
        )

    @cached_property
    def known(self) -> Matched | None:
        """The known truth as codes of items and classes; None if no truth is known."""
        return None if self.truth is None else match(self.result, self.truth)
