"""`Table`: a source as a table whose columns can be picked, before anything but its beginning is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from .batchwise import each_batch
from .nested import Unnested, unnest


def _filled(batch: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with any value."""
    return batch.filter(~pl.all_horizontal(pl.all().is_null()))


@dataclass(frozen=True, eq=False)
class Table:
    """A source as a table.

    Attributes:
        names: The names of all columns. A name may be there twice; then it stands for no column.
        pick: Takes the column for each role, and returns a table of these columns, named by role, which is read only
            when it is collected. Raises `UnsoundError` if a column cannot be used.
        rows: Returns about how many rows there are.
        size: About how many bytes the rows have, unpacked.
        spark_options: How Spark must read this file, besides `SparkFormat.options`.
        nested: Takes the name of the column for each role and of the table, and returns the table with one label a row
            if it has lists of them, see `nested.unnest`; None if it has no lists at all.
        features: What the library `datasets` says of the columns; see `class_names.names_of`.
        has_empty_rows: Whether rows without any value are empty lines, which are left out.
        remarks: Sentences for the user, such as which sheet was read.
    """

    names: list[str]
    pick: Callable[[Mapping[str, str]], pl.LazyFrame]
    rows: Callable[[], int]
    size: int
    spark_options: Mapping[str, Any] = field(default_factory=dict)
    nested: Callable[[Mapping[str, str | None], str], Unnested | None] | None = None
    features: Mapping[str, Any] = field(default_factory=dict)
    has_empty_rows: bool = False
    remarks: tuple[str, ...] = ()

    def rows_with_values(self, lazy: pl.LazyFrame) -> pl.LazyFrame:
        """Return the picked columns without rows that are empty lines."""
        return each_batch(lazy, _filled, lazy.collect_schema()) if self.has_empty_rows else lazy

    @classmethod
    def of(cls, lazy: pl.LazyFrame, size: int, rows: Callable[[], int], **more: Any) -> "Table":
        """Return a lazy table of polars as a `Table`."""

        def pick(found: Mapping[str, str]) -> pl.LazyFrame:
            return lazy.select(pl.col(column).alias(role) for role, column in found.items())

        schema = lazy.collect_schema()
        has_lists = any(dtype.is_nested() for dtype in schema.values())
        return cls(schema.names(), pick, rows, size, nested=partial(unnest, lazy) if has_lists else None, **more)
