"""Functions that turn names and numbers into the cells of a table."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..analysis.condensing import LONGEST_NAME
from ..errors import shortened
from .blocks import Cell

# The most characters of sentences in a cell.
_LONGEST_TEXT: Final = 2_000


def text(value: Any) -> Cell:
    """Return a cell with a name, which may have any type."""
    return Cell(shortened(str(value), LONGEST_NAME))


def sentences(lines: Sequence[str]) -> Cell:
    """Return a cell with sentences, each on a line of its own."""
    return Cell(shortened("\n".join(lines), _LONGEST_TEXT))


def number(value: float | None, form: str = ",") -> Cell:
    """Return a cell with a number, written in a format such as ".1%"; a dash for None and NaN."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))
