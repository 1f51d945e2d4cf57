"""What sections of a page are made of: tables and figures, and how numbers are written."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..kernels import Array


@dataclass(frozen=True)
class Cell:
    """What a cell of a table shows.

    Attributes:
        text: What is shown.
        value: What to sort by where the text does not sort by itself.
        picture: A small heat map: how many classes, a path for each shade, and what it shows in words.
    """

    text: str
    value: float | None = None
    picture: tuple[int, list[tuple[int, str]], str] | None = None


@dataclass(frozen=True)
class Table:
    """The top rows of a table, and which ones those are.

    Attributes:
        label: What the rows are, for the search field and for those who cannot see it.
        columns: Names; a leading "#" says that a column holds numbers.
        rows: Cells.
        left_out: A sentence if some rows are left out, else "".
    """

    label: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left_out: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a title and a sentence that says how to read it."""

    title: str
    chart: Any
    caption: str = ""

    @property
    def spec(self) -> dict[str, Any]:
        """The chart for Vega-Lite."""
        spec: dict[str, Any] = self.chart.to_dict()
        del spec["$schema"]  # an address, though nothing would load it
        return spec


def text(value: Any) -> Cell:
    """A name."""
    return Cell(str(value))


def number(value: float | None, form: str = ",") -> Cell:
    """A number, or nothing."""
    if value is None or np.isnan(value):
        return Cell("-")
    return Cell(format(value, form), float(value))


def names(series: pl.Series) -> pl.Series:
    """Names as text, as charts and tables want them."""
    return series.cast(pl.String)


def left_out(shown: int, total: int, rule: str) -> str:
    """Which rows are shown and how many are not; "" where all are."""
    return f"{rule} {shown:,} of {total:,}; {total - shown:,} are left out here." if shown < total else ""


def bins(values: Array, low: float, high: float, count: int = 30) -> pl.DataFrame:
    """A histogram: low, high, count."""
    counts, edges = np.histogram(np.clip(values, low, high), count, (low, high))
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def most(counts: Array, limit: int) -> Array:
    """The codes with the largest counts, at most so many, in their own order."""
    if len(counts) <= limit:
        return np.arange(len(counts))
    return np.sort(np.argsort(-counts, kind="stable")[:limit])


def listed(parts: Iterable[str]) -> str:
    """Things one after the other."""
    return " · ".join(parts)
