"""Functions that turn names and numbers into the cells of a table."""

from typing import Any, Final

import numpy as np
import polars as pl

from ..errors import shortened
from .blocks import Cell

# The most characters of a name in the page.
LONGEST_NAME: Final = 200


def text(value: Any) -> Cell:
    """Return a cell with a name, which may have any type."""
    return Cell(shortened(str(value), LONGEST_NAME))


def number(value: float | None, form: str = ",") -> Cell:
    """Return a cell with a number, written in a format such as ".1%"; a dash for None and NaN."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))


def names_as_text(names: pl.Series) -> pl.Series:
    """Return names of any type as text, for charts and tables; long ones are cut."""
    texts = names.cast(pl.String)
    if (texts.str.len_chars() <= LONGEST_NAME).all():
        return texts
    return texts.map_elements(lambda name: shortened(name, LONGEST_NAME), pl.String)
