"""`ReportData`: the data that the sections of the report are made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from ..analysis.cautions import cautions_in
from ..analysis.decisions import Decisions
from ..analysis.evaluation import Matched, match
from ..analysis.findings import Findings
from ..analysis.ordinal import Ordinal
from ..analysis.review import review_list
from ..caution import Caution
from ..crowd.labels import Labels
from ..crowd.votes import shares
from ..fitting.method import Method
from ..methods.mv import MajorityVote
from ..results.ending import Convergence
from ..results.learned import Learned
from ..results.result import Result


class OfMethod:
    """What is said of the method that a result is from."""

    result: Any

    @property
    def method(self) -> Method:
        """The method that the result is from."""
        method: Method = self.result.method
        return method

    @property
    def method_name(self) -> str:
        """The name of the method's class."""
        return type(self.method).__name__


@dataclass(frozen=True, eq=False)
class ReportData(OfMethod):
    """The data that the sections of the report are made from.

    Attributes:
        result: The result of a method.
        labels: The labels that it is from.
        truth: The true labels of some items (columns item and truth); None if no truth is known.
        command: The command or the Python call that makes the report again.
        decisions: What was decided by costs, or for ordered classes; None if there are none.
        ordinal: How classes are ordered; None if they are not.
        reviewed: The rows of a file of decisions that were given as gold; None if there are none.
        source: What is typed after a command to read the labels.
        texts: What items say, by their ids; {} if that is not known.
        true_sets: Where workers name several classes at once, the true sets: the columns item and truth, a list.
    """

    result: Result
    labels: Labels
    truth: pl.DataFrame | None
    command: str
    decisions: Decisions | None = None
    ordinal: Ordinal | None = None
    reviewed: pl.DataFrame | None = None
    source: str = "labels.csv"
    texts: Mapping[Any, str] = field(default_factory=dict)
    true_sets: pl.DataFrame | None = None

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
    def findings(self) -> Findings:
        """What several sections say about the labels and the result."""
        return Findings(self.result, self.labels, takes_time=True)

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know before relying on the result, the most serious first."""
        found = cautions_in(self.findings)
        return tuple(one for one in found if not (self.ordinal is not None and one.kind == "numbers"))

    @cached_property
    def to_review(self) -> pl.DataFrame:
        """The items that are worth a look, as `review_list` returns them; no row for labels of several classes."""
        return pl.DataFrame() if self.labels.set_valued else review_list(self.result, self.labels)

    @cached_property
    def known(self) -> Matched | None:
        """The known truth as codes of items and classes; None if no truth is known."""
        return None if self.truth is None else match(self.result, self.truth)
