"""Names and numbers as cells of a table."""

from typing import Any

import numpy as np
import polars as pl

from .blocks import Cell


def text(value: Any) -> Cell:
    """A name, which may be of any type, as a cell."""
    return Cell(str(value))


def number(value: float | None, form: str = ",") -> Cell:
    """A number as a cell, written by a format such as ".1%"; a dash where there is none."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))


def names_as_text(names: pl.Series) -> pl.Series:
    """Names of any type as text, which is what charts and tables want."""
    return names.cast(pl.String)
