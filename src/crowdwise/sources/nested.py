"""Nested tables: a row for each item, with lists of its workers and of their labels, turned into one label a row.

The lists are two columns, two fields of a column of structures, or fields of one column with lists of structures.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from ..crowd.reading_report import several
from ..errors import DataError
from .columns import ALIASES, ROW_NUMBERS, item_column, spelled_as


class Long(NamedTuple):
    """A table with one label a row, as in `rows.Rows`: its columns, what each was called, and remarks."""

    lazy: pl.LazyFrame
    found: dict[str, str]
    remarks: tuple[str, ...] = ()


def unnest(lazy: pl.LazyFrame, given: Mapping[str, str | None], where: str) -> Long | None:
    """Return a nested table with one label a row; None if it has no lists of workers and of labels.

    Raises:
        DataError: The lists of a row are not equally long.
    """
    schema = lazy.collect_schema()
    lists = dict(_lists(schema))
    chosen = choose(list(lists), given)
    scalars = [name for name, dtype in schema.items() if not dtype.is_nested()]
    if chosen is None or (given["item"] is not None and given["item"] not in scalars):
        return None
    item = item_column(scalars, given["item"], where)
    if item is None:
        lazy = lazy.with_row_index("the row").with_columns(pl.col("the row").cast(pl.Int64))
    of_item = pl.col("the row" if item is None else item).alias("item")
    table = lazy.select(of_item, lists[chosen[0]].alias("worker"), lists[chosen[1]].alias("label"))
    empty = _check_lengths(table, chosen, where)
    found = {"item": item or ROW_NUMBERS, "worker": chosen[0], "label": chosen[1]}
    long = table.filter(pl.col("label").list.len() > 0).explode("worker", "label")
    return Long(long, found, about_empty(empty))


def about_empty(rows: int) -> tuple[str, ...]:
    """Return what to say about rows with empty lists; nothing if there are none."""
    of = "has an empty list of labels, and is left out.", "have an empty list of labels, and are left out."
    return (several(rows, f"row {of[0]}", f"rows {of[1]}"),) if rows else ()


def _lists(schema: Mapping[str, pl.DataType]) -> Iterator[tuple[str, pl.Expr]]:
    """Yield everything in a table that has a list in every row, by its name: a column's, or "column.field"."""
    for name, dtype in schema.items():
        column = pl.col(name)
        if isinstance(dtype, pl.Array):
            column, dtype = column.arr.to_list(), pl.List(dtype.inner)
        if isinstance(dtype, pl.List) and isinstance(dtype.inner, pl.Struct):
            for field in dtype.inner.fields:
                yield f"{name}.{field.name}", column.list.eval(pl.element().struct.field(field.name))
        elif isinstance(dtype, pl.List):
            yield name, column
        elif isinstance(dtype, pl.Struct):
            for field in dtype.fields:
                if isinstance(field.dtype, pl.List):
                    yield f"{name}.{field.name}", column.struct.field(field.name)


def choose(lists: Sequence[str], given: Mapping[str, str | None]) -> tuple[str, str] | None:
    """Return which lists are the workers and their labels: two columns, or two fields of one; None if there are none.

    >>> choose(["votes.user_id", "votes.label", "labels"], {"worker": None, "label": None})
    ('votes.user_id', 'votes.label')
    """
    for worker in _called(lists, "worker", given["worker"]):
        for label in _called(lists, "label", given["label"]):
            if label != worker and label.rpartition(".")[0] == worker.rpartition(".")[0]:
                return worker, label
    return None


def _called(lists: Sequence[str], role: str, name: str | None) -> Iterator[str]:
    """Yield the lists that the user names for a role, also by the field alone, or that have a usual name for it."""
    if name is not None:
        yield from (path for path in lists if name in (path, path.rpartition(".")[2]))
        return
    for alias in ALIASES[role]:
        yield from (path for path in lists if spelled_as(path.rpartition(".")[2], alias, plural=True))


def _check_lengths(table: pl.LazyFrame, chosen: tuple[str, str], where: str) -> int:
    """Return how many rows have no labels. Raises `DataError` if some row has more workers than labels, or fewer."""
    lengths: Any = [pl.col(role).list.len().fill_null(0) for role in ("worker", "label")]
    sizes = table.select(lengths).with_row_index("row")
    unequal = pl.col("worker") != pl.col("label")
    counts, first = pl.collect_all(
        [
            sizes.select(unequal.sum().alias("unequal"), (pl.col("label") == 0).sum().alias("empty")),
            sizes.filter(unequal).head(1),
        ]
    )
    if first.height:
        row, workers, labels = first.row(0)
        raise DataError(
            f"{where} has {counts['unequal'][0]:,} rows with lists of different lengths; first: row {row + 1:,} has "
            f"{workers:,} in {chosen[0]!r} and {labels:,} in {chosen[1]!r}."
        )
    return int(counts["empty"][0])
