"""`ReportData`: everything that a section of the report may show, gathered once for all of them."""

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
    """What a report is about.

    Attributes:
        labels: What the workers said.
        result: What the method found from them.
        truth: The true label of some items (columns item and truth); None if none is known.
        command: How to make the report again.
    """

    labels: Labels
    result: Result
    truth: pl.DataFrame | None
    command: str

    @property
    def method(self) -> Method:
        """The method that found the result."""
        method: Method = self.result.method
        return method

    @property
    def method_name(self) -> str:
        """What the method is called in Python."""
        return type(self.method).__name__

    @property
    def learned(self) -> Learned:
        """What the method learned of the workers, the classes and the items."""
        learned: Learned = self.result.workers
        return learned

    @cached_property
    def majority(self) -> Result:
        """What majority vote finds from the same labels, to compare with."""
        # `MajorityVote` refuses votes that name several classes, but the share of the votes is defined for those too.
        return Result.build(
            MajorityVote(), self.labels, shares(self.labels), "weight", convergence=Convergence(0, True, 0.0)
        )

    @cached_property
    def known(self) -> Matched | None:
        """The items whose truth is known, as numbers of the result's items and classes; None without any truth."""
        return None if self.truth is None else match(self.result, self.truth)
