"""Functions that turn names and numbers into the cells of a table."""

from typing import Any

import numpy as np
import polars as pl

from .blocks import Cell


def text(value: Any) -> Cell:
    """Return a cell with a name, which may have any type."""
    return Cell(str(value))


def number(value: float | None, form: str = ",") -> Cell:
    """Return a cell with a number, written in a format such as ".1%"; a dash for None and NaN."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))


def names_as_text(names: pl.Series) -> pl.Series:
    """Return names of any type as text, for charts and tables."""
    return names.cast(pl.String)
