"""Cells that hold several classes: lists, lists of JSON or Python in text, and text with a separator."""

import ast
import json
import re
from collections.abc import Collection
from typing import Any, Final

import polars as pl

from ..errors import DataError, shown

# The brackets of lists, tuples and sets, as JSON and Python write them.
_BRACKETS: Final = {"[": "]", "(": ")", "{": "}"}
# An array as NumPy writes it: texts or numbers with spaces between them.
_ELEMENT: Final = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[-+]?[0-9][0-9.eE+-]*|True|False)"
_ARRAY: Final = re.compile(rf"\[\s*{_ELEMENT}(?:\s+{_ELEMENT})+\s*\]")


def one_class_a_row(lazy: pl.LazyFrame, separator: str | None, column: str) -> pl.LazyFrame:
    """Return a table whose column `label` has one class in each row.

    Two further columns say whether a row is an empty set (`none`), and whether it is the first of its cell (`first`).

    `label` is a list, or text. Without a separator, text that is a list as JSON or Python write it is one; other text
    is one class. An empty cell is an empty set if there is a separator; null in a column of lists means no answer.
    """
    dtype = lazy.collect_schema()["label"]
    if isinstance(dtype, pl.Array):
        lazy = lazy.with_columns(pl.col("label").arr.to_list())
        dtype = pl.List(dtype.inner)
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        lazy = lazy.with_columns(
            pl.col("label")
            .cast(pl.String)
            .map_batches(
                lambda cells: _split(cells, separator, column), return_dtype=pl.List(pl.String), is_elementwise=True
            )
        )
    elif not isinstance(dtype, pl.List):
        return lazy.with_columns(pl.lit(False).alias("none"), pl.lit(True).alias("first"))
    elif dtype.inner.is_nested():
        raise DataError(f"Column {column!r} has lists of {dtype.inner.base_type()}, and not of classes.")
    is_empty = pl.col("label").list.len().fill_null(1) == 0
    row, nothing = (
        pl.int_range(pl.len(), dtype=pl.Int64),
        pl.lit(pl.Series([[None]], dtype=lazy.collect_schema()["label"])),
    )
    label = pl.when("none").then(nothing).otherwise("label").alias("label")
    exploded = lazy.with_columns(is_empty.alias("none"), row.alias("first")).with_columns(label).explode("label")
    return exploded.with_columns(pl.col("first") != pl.col("first").shift(fill_value=-1))


def _split(cells: pl.Series, separator: str | None, column: str) -> pl.Series:
    """Return the lists that cells of text hold; each different cell is looked at once."""
    different = cells.unique()
    lists = [None if cell is None else _classes_in(cell, separator, column) for cell in different]
    if separator is not None:
        lists = [[] if one is None else one for one in lists]
    table = pl.DataFrame({"cell": different, "list": pl.Series(lists, dtype=pl.List(pl.String))})
    joined = cells.alias("cell").to_frame().join(table, on="cell", how="left", maintain_order="left", nulls_equal=True)
    return joined["list"].alias(cells.name)


def _classes_in(cell: str, separator: str | None, column: str) -> list[str]:
    """Return the classes that a cell names."""
    stripped = cell.strip()
    if stripped == "set()":
        return []
    if _BRACKETS.get(stripped[:1]) == stripped[-1:]:
        found = _list_in(stripped)
        if found is not None:
            if any(isinstance(one, list | dict | tuple) or one is None for one in found):
                raise DataError(f"Column {column!r} has {shown(cell)}, which is no list of classes.")
            return [one if isinstance(one, str) else str(one) for one in found]
        quoted = stripped[1:].lstrip()[:1] in ("'", '"')
        if stripped[0] == "[" and (quoted or "," in stripped or (separator is not None and separator in stripped)):
            raise DataError(
                f"Column {column!r} has {shown(cell)}, which looks like a list and is none: write it as JSON, as in "
                '["cat", "dog"], or without brackets.'
            )
    if separator is None:
        return [cell]
    return [part for part in (one.strip() for one in cell.split(separator)) if part]


def _list_in(text: str) -> Collection[Any] | None:
    """Return the list that a text is, as JSON, Python or NumPy write it; None if it is none."""
    if _ARRAY.fullmatch(text):  # Python would take two texts without a comma between them for one
        text = f"[{', '.join(re.findall(_ELEMENT, text))}]"
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list | tuple | set) else None
    return None
