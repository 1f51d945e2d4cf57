"""Functions that turn names and numbers into the cells of a table."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..analysis.condensing import LONGEST_NAME
from ..errors import shortened
from .blocks import Cell

# The most characters of sentences in a cell.
_LONGEST_TEXT: Final = 2_000
# The most characters of the text of an item in a cell.
_LONGEST_ITEM_TEXT: Final = 200


def without_repeated(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]], pairs: Sequence[tuple[str, str]]
) -> tuple[list[str], list[list[Cell]]]:
    """Return a table without the first column of each pair that says the same as the second in every row."""
    twins = {
        columns.index(one)
        for one, other in pairs
        if {one, other} <= set(columns)
        and all(row[columns.index(one)].text == row[columns.index(other)].text for row in rows)
    }
    kept = [at for at in range(len(columns)) if at not in twins]
    return [columns[at] for at in kept], [[row[at] for at in kept] for row in rows]


def text(value: Any) -> Cell:
    """Return a cell with a name, which may have any type."""
    return Cell(shortened(str(value), LONGEST_NAME))


def item_columns(texts: Mapping[Any, str]) -> list[str]:
    """Return the names of the columns about an item: its id, and its text if texts are known."""
    return ["Item", *(["Text"] if texts else [])]


def item_cells(item: Any, texts: Mapping[Any, str]) -> list[Cell]:
    """Return the cells of these columns."""
    return [text(item), *([Cell(shortened(texts.get(item) or "", _LONGEST_ITEM_TEXT))] if texts else [])]


def sentences(lines: Sequence[str]) -> Cell:
    """Return a cell with sentences, each on a line of its own."""
    return Cell(shortened("\n".join(lines), _LONGEST_TEXT))


def number(value: float | None, form: str = ",") -> Cell:
    """Return a cell with a number, written in a format such as ".1%"; a dash for None and NaN."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))
