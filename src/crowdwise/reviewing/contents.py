"""`Contents`: what the expert sees of an item: the values of some columns, as text, pictures, sound and video."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
import polars as pl

from ..crowd.ids import codes_of
from ..crowd.labels import Labels
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import several
from ..errors import CallError, DataError, did_you_mean, quoted
from ..reading.registry import open_inputs, platform_of
from ..sources.input import reading
from ..sources.rows import Rows, open_rows

# What a file is shown as, by the extension of its name.
_KINDS: Final = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".svg"), "image"),
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".oga", ".flac", ".m4a", ".opus"), "audio"),
    **dict.fromkeys((".mp4", ".webm", ".mov", ".m4v", ".ogv"), "video"),
}
# So many characters of a text are sent with the item; the rest is sent when the expert asks for it.
_FIRST_CHARACTERS: Final = 20_000
# A longer value is no path and no address.
_LONGEST_PATH: Final = 4096
# Pictures within a value, such as data:image/png;base64,..., may have so many characters.
_LONGEST_PICTURE: Final = 8_000_000


@dataclass(frozen=True, eq=False)
class Contents:
    """What is known of the items besides their labels.

    Attributes:
        columns: A column of text for each field, with a value (or null) for each item, in the order of their codes.
        folder: The folder that pictures, sound and video are taken from; None for none.
        remote: Whether the page may load them from addresses on other machines.
        remarks: Sentences for the user.
    """

    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    folder: Path | None = None
    remote: bool = False
    remarks: tuple[str, ...] = ()

    def fields(self, code: int) -> list[dict[str, Any]]:
        """Return what the page shows of an item; fields without a value are left out."""
        return [
            {"name": name, **self._shown(code, number, column[code])}
            for number, (name, column) in enumerate(self.columns.items())
            if column[code]
        ]

    def text(self, code: int, number: int) -> str | None:
        """Return the whole text of a field; None if there is none."""
        columns = list(self.columns.values())
        return columns[number][code] if number < len(columns) and code < len(columns[number]) else None

    def file(self, code: int, number: int) -> Path | None:
        """Return the file that a field names, if it is in the folder; None if not, whatever the name is."""
        value = self.text(code, number)
        return None if value is None or self.folder is None else _inside(self.folder, value)

    def _shown(self, code: int, number: int, value: str) -> dict[str, Any]:
        """Return how a value is shown: its kind, and what the browser needs for it."""
        if value.startswith("data:image/") and len(value) <= _LONGEST_PICTURE:
            return {"kind": "image", "value": "", "address": value}
        kind = _kind_of(value)
        address = _is_address(value)
        if kind is not None and address and self.remote:
            return {"kind": kind, "value": value, "address": value}
        if address:
            return {"kind": "link", "value": value}
        if kind is not None and self.folder is not None:
            if self.file(code, number) is not None:
                return {"kind": kind, "value": value, "address": f"/media/{code}/{number}"}
            problem = f"There is no file {quoted(value)} in the folder {self.folder}."
            return {"kind": "missing", "value": value, "problem": problem}
        return {
            "kind": "text",
            "value": value[:_FIRST_CHARACTERS],
            "length": len(value),
            "whole": len(value) <= _FIRST_CHARACTERS,
            "address": f"/api/text/{code}/{number}",
        }


def _is_address(value: str) -> bool:
    return len(value) <= _LONGEST_PATH and value.startswith(("http://", "https://")) and " " not in value.strip()


def _kind_of(value: str) -> str | None:
    """Return what a file of this name or address is shown as; None if it is none that can be shown.

    >>> _kind_of("cats/1.JPG"), _kind_of("https://host/a.mp3?size=1"), _kind_of("Is this a.b?")
    ('image', 'audio', None)
    """
    if len(value) > _LONGEST_PATH or "\n" in value:
        return None
    try:
        path = urlsplit(value).path if _is_address(value) else value
    except ValueError:
        return None
    return _KINDS.get(PurePosixPath(path.strip()).suffix.lower())


def _inside(folder: Path, name: str) -> Path | None:
    """Return a file of a folder by its relative name; None if there is none, or if it is anywhere else."""
    if "\0" in name:
        return None
    try:
        root = folder.resolve(strict=True)
        path = (root / name.strip()).resolve(strict=True)
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def read_contents(
    labels: Labels,
    source: Any,
    options: ReadOptions,
    items: Any = None,
    show: Sequence[str] | None = None,
    media: str | os.PathLike[str] | None = None,
    remote: bool = False,
) -> Contents:
    """Return what the input says of every item, and what a table of items says.

    Args:
        labels: The labels.
        source: What they were read from; None if that is not known. Its columns that are constant within an item count.
        options: How it was read.
        items: A table with a row for each item, which is joined by the id; or a path.
        show: The columns to show, in this order; None for all.
        media: The folder of pictures, sound and video.
        remote: Whether the page may load these from addresses on other machines.

    Raises:
        CallError: There is no such column or folder.
        DataError: A table cannot be read, or is about other items.
    """
    if media is not None and not Path(media).is_dir():
        raise CallError(f"--media {quoted(media)} is no folder.")
    columns: dict[str, pl.Series] = {}
    remarks: list[str] = []
    if source is not None:
        columns |= _from_input(labels, source, options)
    if items is not None:
        found, said = _from_items(labels, items, options)
        columns |= found
        remarks += said
    if show is not None:
        for name in show:
            if name not in columns:
                have = ", ".join(map(quoted, columns)) or "none"
                raise CallError(
                    f"There is no column {quoted(name)} to show; the columns are: {have}.{did_you_mean(name, list(columns))}"
                )
        columns = {name: columns[name] for name in show}
    return Contents(columns, None if media is None else Path(media), remote, tuple(remarks))


def _from_items(labels: Labels, items: Any, options: ReadOptions) -> tuple[dict[str, pl.Series], list[str]]:
    """Return the columns of a table of items, and what to know about it."""
    plain = ReadOptions(storage=options.storage)
    entries = open_inputs(items, plain)
    rows = _open(entries[0], {"item": None}, replace(plain, item=None))
    names = labels.names.items
    table = _all_columns(rows, rows.found["item"])
    codes = codes_of(table["item"], names)
    if (codes < 0).all():
        raise DataError(
            f"{rows.name} has no item of the labels: it has {quoted(table['item'][0])}, for example, and the labels "
            f"have {quoted(names[0])}."
        )
    known = table.with_columns(pl.Series("\0code", codes)).filter(pl.col("\0code") >= 0)
    once = known.unique("\0code", keep="first", maintain_order=True)
    remarks = []
    if once.height < known.height:
        remarks.append(
            f"{rows.name} has {several(known.height - once.height, 'row', 'rows')} about items of earlier rows, "
            "which are taken."
        )
    if once.height < labels.n_items:
        remarks.append(f"{rows.name} says nothing about {several(labels.n_items - once.height, 'item', 'items')}.")
    return _by_code(once, labels.n_items), remarks


def _from_input(labels: Labels, source: Any, options: ReadOptions) -> dict[str, pl.Series]:
    """Return the columns of the labels' own table that are constant within every item, and differ between items."""
    entries = open_inputs(source, options)
    if platform_of(entries, options.format) is not None or options.wide or options.worker_from is not None:
        return {}
    tables = []
    for entry in entries:
        rows = _open(entry, options.roles, options)
        if not set(rows.found.values()) <= set(rows.table.names):
            return {}  # it has another shape than a label a row
        others = {column for role, column in rows.found.items() if role != "item"}
        tables.append(_all_columns(rows, rows.found["item"], others))
    table = pl.concat(tables, how="diagonal")
    values = [name for name in table.columns if name != "item"]
    if not values:
        return {}
    counts = table.group_by("item").agg(pl.col(values).n_unique())
    constant = [
        name for name in values if (counts[name] == 1).all() and (table[name].n_unique() > 1 or labels.n_items == 1)
    ]
    first = table.unique("item", keep="first", maintain_order=True).select("item", *constant)
    first = first.with_columns(pl.Series("\0code", codes_of(first["item"], labels.names.items)))
    return _by_code(first.filter(pl.col("\0code") >= 0), labels.n_items)


def _open(entry: Any, roles: Mapping[str, str | None], options: ReadOptions) -> Rows:
    return open_rows(entry, roles, options)


def _all_columns(rows: Rows, item: str, without: Sequence[str] | set[str] = ()) -> pl.DataFrame:
    """Return the column of items, called `item`, and all others as text, under their own names."""
    names = [name for name in rows.table.names if rows.table.names.count(name) == 1 and name not in without]
    if item not in rows.table.names:
        raise DataError(f"{rows.name} has no column of items: name it {quoted('item')}.")
    numbered = {f"{number}": name for number, name in enumerate(names) if name != item}
    with reading(rows.name, rows.read_as):
        table = rows.table.pick({"item": item, **numbered}).collect()
    shown = [pl.col(number) for number in numbered if table[number].dtype not in (pl.Struct, pl.Binary, pl.Object)]
    lists = [
        column.cast(pl.List(pl.String)).list.join("\n")
        if isinstance(table[column.meta.output_name()].dtype, pl.List)
        else column.cast(pl.String)
        for column in shown
    ]
    return table.select(
        "item", *(one.alias(numbered[column.meta.output_name()]) for one, column in zip(lists, shown, strict=True))
    )


def _by_code(table: pl.DataFrame, n_items: int) -> dict[str, pl.Series]:
    """Return the columns with a value for each item, in the order of their codes; null where the table has none."""
    rows = np.full(n_items, -1, np.int64)
    rows[table["\0code"].to_numpy()] = np.arange(table.height)
    places = pl.Series(rows).replace(-1, None)
    return {name: table[name].gather(places) for name in table.columns if name not in ("item", "\0code")}
