"""`NumericResult`: the value of every item with its interval, and the errors of every worker, in memory."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..crowd.names import Names
from ..crowd.numbering import Numbering
from ..errors import CallError
from ..numerics import Array
from .any_method import AnyMethod
from .ending import Convergence
from .intervals import NORMAL
from .learned import AnyLearned
from .scores import check_finite
from .tables import ResultTables, shown_in_notebook
from .worker_errors import WorkerErrors


@dataclass(frozen=True, eq=False)
class NumericResult(ResultTables):
    """The values that a numeric method inferred from labels in memory.

    Attributes:
        method: The method with all its parameters, a `NumericMethod`.
        names: The names of items and workers; there are no classes.
        values: (items), the inferred values, always finite.
        variance: (items), how uncertain the values are; NaN if no item has two labels.
        votes: (items), the number of labels.
        workers: What the method learned: the parameters that gave the values.
        errors: How every worker errs, with intervals.
        convergence: How the iterations ended.

    >>> import crowdwise as cw
    >>> numbers = cw.Numbers.from_arrays([1, 1, 2, 2], ["a", "b", "a", "b"], [1.0, 3.0, 5.0, 5.0])
    >>> cw.NumericMean().fit(numbers).to_frame().select("item", "value", "votes").rows()
    [(1, 2.0, 2), (2, 5.0, 2)]
    """

    method: AnyMethod
    names: Names
    values: Array
    variance: Array
    votes: Array
    workers: AnyLearned
    errors: WorkerErrors
    convergence: Convergence

    @classmethod
    def build(
        cls,
        method: Any,
        labels: Labels,
        names: Names,
        scores: Array,
        errors: WorkerErrors,
        *,
        workers: Any,
        convergence: Convergence,
    ) -> "NumericResult":
        """Make a result of the scores (items, 2): the values of these items, and the variances of these.

        Raises:
            DataError: A value is not finite; a `CallError` if a parameter may be to blame.
        """
        check_finite(method, names.items, scores)
        known = bool(np.isfinite(errors.error).all())
        return cls(
            method=method,
            names=names,
            values=scores[:, 0].copy(),
            variance=scores[:, 1].copy() if known else np.full(len(scores), np.nan),
            votes=np.diff(labels.item_starts).astype(np.int32),
            workers=workers,
            errors=errors,
            convergence=convergence,
        )

    @property
    def numeric(self) -> bool:
        """True: answers are numbers."""
        return True

    @property
    def low(self) -> Array:
        """(items), the lower ends of the 95 % intervals of the values."""
        return self.values - NORMAL * np.sqrt(self.variance)

    @property
    def high(self) -> Array:
        """(items), the upper ends of these intervals."""
        return self.values + NORMAL * np.sqrt(self.variance)

    def to_frame(self, scores: bool = False, probabilities: bool = False) -> pl.DataFrame:
        """Return one row per item with the columns item, value, low, high and votes.

        `low` and `high` are the ends of the 95 % interval of the value; null if no item has two labels, because then
        nothing says how much workers err. `scores` and `probabilities` are for classes, and must be False.
        """
        if scores or probabilities:
            raise CallError("scores and probabilities are columns for classes, and these labels are numbers.")
        ends = {name: pl.Series(end, nan_to_null=True) for name, end in (("low", self.low), ("high", self.high))}
        return pl.DataFrame({"item": self.names.items, "value": self.values, **ends, "votes": self.votes})

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of `to_frame` as a lazy table, for code that also takes results on disk."""
        return self.to_frame(scores, probabilities).lazy()

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance; `WorkerErrors` says what the columns mean.

        All but worker and labels are null if no item has two labels. There are columns `slope`, `slope_low` and
        `slope_high` if the method learns slopes, and `wild` if it looks for wild answers. If workers have several
        samples (`duplicates="samples"`), the column sample_of has the worker that each belongs to.
        """
        names = [field.name for field in fields(self.errors)[1:]]
        if np.isnan(self.errors.wild).all():
            names.remove("wild")
        if self.workers.slope_precision is None:
            names = [name for name in names if not name.startswith("slope")]
        known = {name: pl.Series(getattr(self.errors, name), nan_to_null=True) for name in names}
        table = pl.DataFrame({"worker": self.names.workers, "labels": self.errors.answers, **known})
        sample_of = self.names.sampled_workers
        return table if sample_of is None else table.with_columns(sample_of)

    def reordered(self, names: Names, numbering: Numbering) -> "NumericResult":
        """Return a copy with items and workers in the order of `names`, where this one has them by their numbers."""
        items = numbering.item_numbers
        return replace(
            self,
            names=names,
            values=self.values[items],
            variance=self.variance[items],
            votes=self.votes[items],
            workers=self.workers.reordered(numbering),
            errors=self.errors.reordered(numbering),
        )

    def __repr__(self) -> str:
        return (
            f"NumericResult({len(self.votes):,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how it ended, and the first rows of the tables."""
        return shown_in_notebook(self, Values=self.to_frame(), Workers=self.workers_frame())
