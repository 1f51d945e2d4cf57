"""`Table`: a source as a table whose columns can be picked, and lazy tables that are made or changed in batches."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

from .nested import Long, unnest


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
        remarks: Sentences for the user, such as which sheet was read.
    """

    names: list[str]
    pick: Callable[[Mapping[str, str]], pl.LazyFrame]
    rows: Callable[[], int]
    size: int
    spark_options: Mapping[str, Any] = field(default_factory=dict)
    nested: Callable[[Mapping[str, str | None], str], Long | None] | None = None
    features: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(cls, lazy: pl.LazyFrame, size: int, rows: Callable[[], int] | None = None, **more: Any) -> "Table":
        """Return a lazy table of polars as a `Table`; unless `rows` says it, polars counts the rows."""

        def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
            return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

        def count() -> int:
            return int(lazy.select(pl.len()).collect().item())

        schema = lazy.collect_schema()
        has_lists = any(dtype.is_nested() for dtype in schema.values())
        nested = partial(unnest, lazy) if has_lists else None
        return cls(schema.names(), pick, rows or count, size, nested=nested, **more)


def from_batches(batches: Callable[[], Iterable[pl.DataFrame]], schema: Mapping[str, Any]) -> pl.LazyFrame:
    """Return a table whose batches are made one by one when it is read, and no more of them than a query needs."""

    def read(columns: list[str] | None, predicate: Any, rows: int | None, _: Any) -> Iterator[pl.DataFrame]:
        for batch in batches():
            # polars asks for both in `head(rows).filter(predicate)` only: rows are counted before they are filtered.
            batch = batch if rows is None else batch.head(rows)
            rows = None if rows is None else rows - batch.height
            batch = batch if predicate is None else batch.filter(predicate)
            yield batch if columns is None else batch.select(columns)
            if rows == 0:
                return

    return register_io_source(read, schema=pl.Schema(schema))


def each_batch(
    lazy: pl.LazyFrame, change: Callable[[pl.DataFrame], pl.DataFrame], schema: Mapping[str, pl.DataType]
) -> pl.LazyFrame:
    """Return a table whose batches are changed one by one when it is read, to tables with this schema.

    A change that names all columns of a wide table goes here: polars takes time in proportion to the square of their
    number to plan an expression with all of them.
    """
    return lazy.map_batches(
        change,
        schema=pl.Schema(schema),
        streamable=True,
        predicate_pushdown=False,
        projection_pushdown=False,
        slice_pushdown=False,
    )
