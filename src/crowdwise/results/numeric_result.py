"""`NumericResult`: the value of every item with its interval, and the errors of every worker, in memory."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from ..data.labels import Labels
from ..data.names import Names
from ..data.numbering import Numbering
from ..errors import CallError
from ..numerics import Array
from .convergence import Convergence
from .finite import check_finite
from .intervals import NORMAL
from .learned import AnyLearned
from .maker import Maker
from .numeric_tables import NumericTables
from .result import Ending
from .tables import shown_in_notebook
from .worker_errors import WorkerErrors


@dataclass(frozen=True, eq=False)
class NumericResult(NumericTables):
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

    method: Maker
    names: Names
    values: Array
    variance: Array
    votes: Array
    workers: AnyLearned
    errors: WorkerErrors
    convergence: Convergence

    @classmethod
    def build(cls, method: Any, labels: Labels, scores: Array, ending: Ending) -> "NumericResult":
        """Make a result of the scores (items, 2): values and variances, and of how the iterations ended.

        Raises:
            DataError: A value is not finite; a `CallError` if a parameter may be to blame.
        """
        errors = method.worker_errors(ending)
        return part_of_numbers(method, labels, labels.names.items, scores, errors, ending.workers, ending.convergence)

    @property
    def low(self) -> Array:
        """(items), the lower ends of the 95 % intervals of the values."""
        return self.values - NORMAL * np.sqrt(self.variance)

    @property
    def high(self) -> Array:
        """(items), the upper ends of these intervals."""
        return self.values + NORMAL * np.sqrt(self.variance)

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return the table of `to_frame` as a lazy table; numbers have no scores and probabilities of classes."""
        refuse_columns_of_classes(scores or probabilities)
        table = {"item": self.names.items, "value": self.values}
        ends = {"low": self.low, "high": self.high}
        found = {name: pl.Series(end, nan_to_null=True) for name, end in ends.items()}
        return pl.LazyFrame({**table, **found, "votes": self.votes})

    def arranged(self, names: Names, numbering: Numbering) -> "NumericResult":
        """Return a copy with items and workers in the order of `names`, where this one has them by their numbers."""
        items = numbering.item_places
        return replace(
            self,
            names=names,
            values=self.values[items],
            variance=self.variance[items],
            votes=self.votes[items],
            workers=self.workers.arranged(numbering),
            errors=self.errors.arranged(numbering),
        )

    def __repr__(self) -> str:
        return (
            f"NumericResult({len(self.votes):,} items, {len(self.names.workers):,} workers by {self.method!r}; "
            f"{self.convergence})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how it ended, and the first rows of the tables."""
        return shown_in_notebook(self, Values=self.to_frame(), Workers=self.workers_frame())


def refuse_columns_of_classes(asked: bool) -> None:
    """Raise `CallError` if columns are asked for that only classes have."""
    if asked:
        raise CallError("scores and probabilities are columns for classes, and these labels are numbers.")


def part_of_numbers(
    method: Any,
    labels: Labels,
    items: pl.Series,
    scores: Array,
    errors: WorkerErrors,
    workers: Any,
    convergence: Convergence,
) -> NumericResult:
    """Return the result of all items, or of one part of them.

    Args:
        method: The method.
        labels: The labels of these items.
        items: The names of the items.
        scores: (items, 2), their values and the variances of these.
        errors: How all workers err.
        workers: What the method learned about all workers.
        convergence: How the iterations ended.
    """
    check_finite(method, items, scores)
    known = bool(np.isfinite(errors.error).all())
    return NumericResult(
        method=method,
        names=replace(labels.names, items=items),
        values=scores[:, 0].copy(),
        variance=scores[:, 1].copy() if known else np.full(len(scores), np.nan),
        votes=np.diff(labels.item_starts).astype(np.int32),
        workers=workers,
        errors=errors,
        convergence=convergence,
    )
