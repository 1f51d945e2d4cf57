"""`each_batch`: change a lazy table batch by batch, where polars would take long to plan the change."""

from collections.abc import Callable, Mapping

import polars as pl


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
