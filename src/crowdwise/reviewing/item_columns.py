"""`read_contents`: what the input says of every item besides its labels, and what a table of items says."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..addresses import is_address
from ..caution import listed
from ..crowd.ids import codes_of
from ..crowd.labels import Labels
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import several
from ..errors import CallError, DataError, did_you_mean, quoted
from ..platforms.platform import Platform
from ..reading.registry import open_inputs, platform_of
from ..sources.columns import item_column
from ..sources.input import Input, reading
from ..sources.paths import is_stream
from ..sources.rows import Rows, open_rows
from ..sources.typed_columns import column_or_text
from .contents import Contents


def read_contents(
    labels: Labels,
    source: Any,
    options: ReadOptions,
    items: Any = None,
    show: str | Sequence[str] | None = None,
    media: str | os.PathLike[str] | None = None,
    remote: bool = False,
) -> Contents:
    """Return what the expert sees of the items.

    Args:
        labels: The labels.
        source: What they were read from; None if that is not known. Its columns that are constant within an item count.
        options: How it was read.
        items: A table with a row for each item, or its path; the id of the item joins them.
        show: The columns to show, in this order, such as "text,image"; None for all.
        media: The folder of pictures, sound and video.
        remote: Whether the page may load these from addresses on other machines.

    Raises:
        CallError: There is no such column or folder.
        DataError: A table cannot be read, or is about other items.
    """
    if media is not None and not Path(media).is_dir():
        raise CallError(f"media (--media) {quoted(media)} is no folder.")
    sets = labels.sets
    if sets is not None:  # what is known of an item is shown with each question about it
        labels = replace(labels, names=replace(labels.names, items=sets.items), item_starts=sets.starts, sets=None)
    columns = {} if source is None else _of_input(labels, source, options)
    remarks: list[str] = []
    if isinstance(show, str):
        show = [name.strip() for name in show.split(",")]
    if items is not None:
        columns |= _of_items(labels, items, options, show or (), remarks)
    if sets is not None:
        columns = {name: column.gather(sets.item_of) for name, column in columns.items()}
    for name in show or ():
        if name not in columns:
            have, meant = ", ".join(map(quoted, columns)) or "none", did_you_mean(name, list(columns))
            raise CallError(f"There is no column {quoted(name)} to show; the columns are: {have}.{meant}")
    shown = columns if show is None else {name: columns[name] for name in show}
    return Contents(shown, None if media is None else Path(media), remote, tuple(remarks))


def item_texts(labels: Any, files: Sequence[str], options: ReadOptions) -> dict[Any, str]:
    """Return what the items say, by their ids: of the columns that are the same in all rows of an item, the longest.

    {} where there is no such column, or the labels are not in files of this machine, which alone are read once more.
    """
    if any(is_stream(one) or is_address(one) for one in files):
        return {}
    try:
        columns = read_contents(labels, files, options).columns
    except (CallError, DataError):  # a page without texts is better than none
        return {}
    lengths: dict[str, Any] = {name: column.str.len_chars().sum() for name, column in columns.items()}
    if not lengths:
        return {}
    said = columns[max(lengths, key=lengths.__getitem__)]
    return {item: one for item, one in zip(labels.names.items, said, strict=True) if one}


def _of_items(
    labels: Labels, items: Any, options: ReadOptions, show: Sequence[str], remarks: list[str]
) -> dict[str, pl.Series]:
    """Return the columns of a table of items; adds to `remarks` what to know about it.

    A column that differs between the rows of an item, as labels do, is left out unless it is to be shown.
    """
    plain = ReadOptions(storage=options.storage)
    (entry, *_) = open_inputs(items, plain)

    def roles(names: Sequence[str]) -> dict[str, str | None]:
        """Prefer the name of the labels' own column, then the usual names in a table with a row for each item."""
        given = options.item if options.item in names else None
        return {"item": item_column(names, given, entry.name)}

    rows = open_rows(entry, roles, plain)
    names, columns = _columns(rows)
    codes = codes_of(names, labels.names.items)
    known = len(set(codes[codes >= 0].tolist()))
    if known == 0:
        raise DataError(
            f"{rows.name} has no item of the labels: it has {quoted(names[0])}, for example, and the labels have "
            f"{quoted(labels.names.items[0])}."
        )
    if known < int((codes >= 0).sum()):
        table = pl.DataFrame([pl.Series("\0code", codes), *(one.alias(name) for name, one in columns.items())])
        same = _constant_within(table.filter(pl.col("\0code") >= 0))
        differ = [name for name in columns if name not in same and name not in show]
        columns = {name: column for name, column in columns.items() if name not in differ}
        left = f"; not shown are the columns in which they differ: {listed(map(quoted, differ))}" if differ else ""
        remarks.append(f"{rows.name} has several rows for some items: the first of them is shown{left}.")
    if known < labels.n_items:
        remarks.append(f"{rows.name} says nothing about {several(labels.n_items - known, 'item', 'items')}.")
    return _by_code(codes, columns, labels.n_items)


def _of_input(labels: Labels, source: Any, options: ReadOptions) -> dict[str, pl.Series]:
    """Return what the labels' own files say of the items."""
    entries = open_inputs(source, options)
    export = platform_of(entries, options.format)
    if export is not None:
        return _of_export(labels, *export, options)
    if options.wide or options.worker_from is not None:
        return {}
    tables = []
    for entry in entries:
        rows = open_rows(entry, options.roles, options)
        if not set(rows.found.values()) <= set(rows.table.names):
            return {}  # it has another shape than a label a row
        names, columns = _columns(rows, {column for role, column in rows.found.items() if role != "item"})
        codes = pl.Series("\0code", codes_of(names, labels.names.items))
        tables.append(pl.DataFrame([codes, *(column.alias(name) for name, column in columns.items())]))
    table = pl.concat(tables, how="diagonal").filter(pl.col("\0code") >= 0)
    found = _constant(table)
    return _by_code(table["\0code"].to_numpy(), {name: table[name] for name in found}, labels.n_items)


def _constant(table: pl.DataFrame) -> list[str]:
    """Return the columns that are constant within every item, and differ between items."""
    is_one_item = table["\0code"].n_unique() == 1
    return [name for name in _constant_within(table) if is_one_item or table[name].n_unique() > 1]


def _constant_within(table: pl.DataFrame) -> list[str]:
    """Return the columns that are constant within every item."""
    names = [name for name in table.columns if name != "\0code"]
    if not names:
        return []
    within = table.group_by("\0code").agg(pl.col(names).n_unique())
    return [name for name in names if (within[name] == 1).all()]


def _of_export(
    labels: Labels, platform: Platform, files: Sequence[Input], options: ReadOptions
) -> dict[str, pl.Series]:
    """Return what an export says was shown to workers of every item; nothing if the platform does not say that."""
    if platform.contents is None:
        return {}
    items: list[Any] = []
    shown: dict[str, dict[int, str]] = {}
    for item, values in platform.contents(files, options):
        for name, value in values.items():
            if value is not None:
                shown.setdefault(name, {})[len(items)] = value if isinstance(value, str) else json.dumps(value)
        items.append(item)
    codes = codes_of(column_or_text("item", items), labels.names.items)
    columns = {
        name: pl.Series([found.get(row) for row in range(len(items))], dtype=pl.String) for name, found in shown.items()
    }
    return _by_code(codes, columns, labels.n_items)


def _columns(rows: Rows, without: Collection[str] = ()) -> tuple[pl.Series, dict[str, pl.Series]]:
    """Return the column of items of a table, and its other columns as text, by their names."""
    item = rows.found["item"]
    if item not in rows.table.names:
        raise DataError(f"{rows.name} has no column of items: name it 'item'.")
    once = [name for name in rows.table.names if rows.table.names.count(name) == 1 and name not in (item, *without)]
    picked = {str(number): name for number, name in enumerate(once)}
    with reading(rows.name, rows.read_as):
        table = rows.table.pick({"item": item, **picked}).collect()
    texts = {name: _as_text(table[number]) for number, name in picked.items()}
    return table["item"], {name: text for name, text in texts.items() if text is not None}


def _as_text(column: pl.Series) -> pl.Series | None:
    """Return a column as text; None if nobody could read it."""
    if isinstance(column.dtype, pl.List):
        inner = column.dtype.inner
        return None if inner.is_nested() or inner == pl.Binary else column.cast(pl.List(pl.String)).list.join("\n")
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return None
    return column.cast(pl.String)


def _by_code(codes: Any, columns: Mapping[str, pl.Series], n_items: int) -> dict[str, pl.Series]:
    """Return columns with a value for each item, in the order of their codes: that of its first row; else null.

    `codes` has the code of the item of every row, -1 if it is none.
    """
    rows = np.full(n_items, -1, np.int64)
    known = np.flatnonzero(codes >= 0)[::-1]  # the first row of an item is written last
    rows[codes[known]] = known
    places = pl.Series(rows).replace(-1, None)
    return {name: column.gather(places) for name, column in columns.items()}
