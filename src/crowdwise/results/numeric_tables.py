"""What every result of a numeric method does with its two tables."""

from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from ..data.names import Names
from .tables import ResultTables, check_count
from .worker_errors import WorkerErrors


class NumericTables(ResultTables):
    """The base of results of numeric methods: a table of items and a table of workers."""

    names: Names
    workers: Any
    errors: WorkerErrors

    def to_frame(self) -> pl.DataFrame:
        """Return one row per item with the columns item, value, low, high and votes.

        `low` and `high` are the ends of the 95 % interval of the value; null if no item has two labels, because then
        nothing says how much workers err.
        """
        return self.lazy().collect()

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the `count` items with the widest intervals, the widest first."""
        check_count(count)
        width = pl.col("high") - pl.col("low")
        table = self.lazy().drop_nulls("low")
        return table.top_k(count, by=width).collect().sort(width, descending=True, maintain_order=True)

    def workers_frame(self) -> pl.DataFrame:
        """Return one row per worker, in order of first appearance; `WorkerErrors` says what the columns mean.

        All but worker and labels are null if no item has two labels. There are columns `slope`, `slope_low` and
        `slope_high` if the method learns slopes, and `wild` if it looks for wild answers.
        If workers have several samples (`duplicates="samples"`), the column sample_of has the worker that each belongs
        to.
        """
        return self._workers

    @cached_property
    def _workers(self) -> pl.DataFrame:
        errors = self.errors
        given = {"worker": self.names.workers, "labels": errors.answers}
        found = {field.name: pl.Series(getattr(errors, field.name), nan_to_null=True) for field in fields(errors)[1:]}
        if np.isnan(errors.wild).all():
            del found["wild"]
        if not self.workers.learns_slopes:
            found = {name: values for name, values in found.items() if not name.startswith("slope")}
        table, sample_of = pl.DataFrame({**given, **found}), self.names.sampled_workers
        return table if sample_of is None else table.with_columns(sample_of)
