"""Lazy tables that are made or changed batch by batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source


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
