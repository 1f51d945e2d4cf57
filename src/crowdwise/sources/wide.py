"""Wide tables: one row for each item and one column for each worker, turned into one label a row."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

import numpy as np
import polars as pl

from ..crowd.ids import common_type, kind, require_ids
from ..errors import CallError, DataError
from .columns import ROW_NUMBERS, item_column
from .table import each_batch

# Columns that are no worker even if they look like one.
_KNOWN_TRUTH: Final = ("truth", "gold")
# A wide table is recognised by the values of so many rows, of which there may be so many classes.
SAMPLE_ROWS: Final = 5_000
_MOST_CLASSES: Final = 50
# The most cells that are looked at together; so many stay in the cache of a processor.
_BLOCK_CELLS: Final = 500_000


@dataclass(frozen=True)
class WideColumns:
    """The column of items, None if items are row numbers, and the columns of workers."""

    item: str | None
    workers: list[str]

    @property
    def all(self) -> list[str]:
        """The item's column, if there is one, and the workers'."""
        return self.workers if self.item is None else [self.item, *self.workers]

    def found(self) -> dict[str, str]:
        """Return the name of the column for each role, in words."""
        item = ROW_NUMBERS if self.item is None else self.item
        return {"item": item, "worker": f"the names of {len(self.workers):,} columns", "label": "their values"}


def choose(names: Sequence[str], item: str | None, wide: bool | str | Sequence[str], where: str) -> WideColumns:
    """Return which columns the user means by `wide`; see `read_labels`.

    Raises:
        CallError: It is neither True nor text nor a list of texts.
        DataError: A pattern or a name stands for no column, a column is there twice, or none is left.
    """
    of_item = item_column(names, item, where)
    others = [name for name in names if name != of_item]
    if wide is True:
        workers = [name for name in others if name.strip().lower() not in _KNOWN_TRUTH]
    else:
        patterns = [wide] if isinstance(wide, str) else list(wide) if isinstance(wide, Iterable) else [wide]
        workers = []
        for pattern in patterns:
            if not isinstance(pattern, str):
                raise CallError("wide has to be True, a pattern such as 'r*', or the names of the workers' columns.")
            meant = [pattern] if pattern in others else [name for name in others if fnmatchcase(name, pattern)]
            if not meant:
                raise DataError(
                    f"{where} has no column {pattern!r} besides the item's; --wide-columns names the workers'."
                )
            workers += meant
        workers = list(dict.fromkeys(workers))
    if not workers:
        raise DataError(f"{where} has no column besides the item's, and a wide table has one for each worker.")
    counts = Counter(names)
    chosen = WideColumns(of_item, workers)
    for name in chosen.all:
        if counts[name] > 1:
            raise DataError(f"{where} has {counts[name]:,} columns {name!r}; rename all but one.")
    return chosen


def recognise(names: Sequence[str], item: str | None, sample: pl.DataFrame, where: str) -> WideColumns | None:
    """Return the columns of a wide table if this is one, by a sample of its first rows; else None.

    All columns besides the item's have the same few values; or those have that differ by a number in their names.
    """
    if (item is not None and item not in names) or len(set(names)) < len(names):
        return None
    of_item = item_column(names, item, where)
    others = [name for name in names if name != of_item and name.strip().lower() not in _KNOWN_TRUTH]
    if len(others) >= 2 and _share_values(sample, others):
        return WideColumns(of_item, others)
    families: dict[str, list[str]] = {}
    for name in others:
        if re.search(r"\d", name):
            families.setdefault(re.sub(r"\d+", "#", name), []).append(name)
    alike = [family for family in families.values() if len(family) >= 2 and _share_values(sample, family)]
    return WideColumns(of_item, alike[0]) if len(alike) == 1 else None


def refuse_text(sample: pl.DataFrame, columns: WideColumns, where: str) -> None:
    """Raise `DataError` if a worker's column has text of its own in nearly every row, such as the items' text."""
    texts = {name: sample[name] for name in columns.workers if sample[name].dtype == pl.String}
    distinct = {name: set(values.to_list()) - {None} for name, values in texts.items()}
    columns_with = Counter(value for values in distinct.values() for value in values)
    for name, values in distinct.items():
        if 2 * len(values) <= max(len(texts[name]) - texts[name].null_count(), 2 * _MOST_CLASSES):
            continue
        if all(columns_with[value] == 1 for value in values):
            raise DataError(
                f"{where} has a text of its own in nearly every row of column {name!r}, so that this is hardly "
                "a worker. Name the workers' columns with wide= (--wide-columns 'r*')."
            )


def _share_values(sample: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Return whether these columns have the same few values, as those of workers have."""
    if not set(columns) <= set(sample.columns):
        return False
    of_columns: list[set[object]] = []
    for name in columns:
        if sample[name].dtype.is_nested():
            return False
        column = sample[name].fill_nan(None) if sample[name].dtype.is_float() else sample[name]
        values = set(column.to_list()) - {None, ""}
        fractions = column.dtype.is_float() and any(value % 1 > 0 for value in values)
        if len(values) > _MOST_CLASSES or fractions:
            return False
        of_columns.append(values)
    columns_with = Counter(value for values in of_columns for value in values)
    # A rare class may be in one column only; but a column of other things has hardly any value of another.
    alike = all(2 * sum(columns_with[value] > 1 for value in values) >= len(values) for values in of_columns)
    return alike and 0 < len(columns_with) <= _MOST_CLASSES and sample.height >= 2


def long_form(lazy: pl.LazyFrame, columns: WideColumns, where: str) -> pl.LazyFrame:
    """Return a wide table with one label a row: the columns item, worker and label.

    Cells without a value are no rows, except that an item without any has one row, so that it is counted.
    """
    schema = lazy.collect_schema()
    kinds = {name: kind(schema[name]) for name in columns.workers if schema[name] != pl.Null}
    require_ids({name: schema[name] for name in columns.all}, {}, where)
    first = next(iter(kinds), "")
    for name, words in kinds.items():
        if words != kinds[first]:
            raise DataError(
                f"{where} has {kinds[first]} in column {first!r} and {words} in column {name!r}: the labels of all "
                "workers have one type. Name the workers' columns with wide= (--wide-columns 'r*')."
            )
    dtype = common_type([schema[name] for name in columns.workers], any_text=False)
    item = columns.item
    if item is None:
        item = "row"
        while item in columns.workers:
            item += "_"
        lazy = lazy.with_row_index(item)
    rows = max(_BLOCK_CELLS // len(columns.workers), 1)
    item_type = pl.Int64() if columns.item is None else schema[columns.item]
    long_schema = {"item": item_type, "worker": pl.String(), "label": dtype}

    def melt(table: pl.DataFrame) -> pl.DataFrame:
        typed = table.select(pl.col(item).cast(item_type), pl.col(columns.workers).cast(dtype))
        blocks = [_cells(typed.slice(start, rows)) for start in range(0, table.height, rows)]
        return pl.concat(blocks) if blocks else pl.DataFrame(schema=long_schema)

    return each_batch(lazy, melt, long_schema)


def _cells(table: pl.DataFrame) -> pl.DataFrame:
    """Return the cells with a value of some rows, row by row; the first column is the item."""
    names = pl.Series("worker", table.columns[1:])
    values = pl.concat([column.alias("label") for column in table.get_columns()[1:]], rechunk=True)
    if values.dtype.is_float():
        values = values.fill_nan(None)
    cells = np.array(values.is_not_null().to_numpy().reshape(len(names), table.height).T, order="C")
    cells[~cells.any(axis=1), 0] = True
    rows, workers = np.divmod(np.flatnonzero(cells), len(names))
    labels = values.gather(workers * table.height + rows)
    # Empty text is rare: looking for it among all cells would take longer.
    if labels.dtype == pl.String and (labels == "").any():
        return _cells(table.with_columns(pl.col(names.to_list()).replace("", None)))
    return pl.DataFrame([table.to_series(0).gather(rows).alias("item"), names.gather(workers), labels])
