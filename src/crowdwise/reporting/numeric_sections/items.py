"""The section "Items" for numeric labels: how uncertain values are, and the items that are disputed most."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts, figures
from ...analysis.condensing import left_out
from ...numerics import Array
from ..blocks import Block, Figure, Heading, Paragraph, Table
from ..cells import item_cells, item_columns, number, text
from ..numeric_data import NumericReportData

# The largest number of rows in the table, and of labels in one of its cells.
_MAX_ROWS: Final = 100
_MAX_LABELS: Final = 12


def gather(data: NumericReportData) -> list[Block] | None:
    """Make the histogram of half widths of intervals, and the table of disputed items; None without intervals."""
    if not data.has_errors:
        return None
    chart = figures.half_widths(data.result.high - data.result.values, charts.PAGE)
    return [
        Figure("How uncertain values are", chart, "Further right are less certain values."),
        Heading("Disputed items"),
        Paragraph("The items whose labels are furthest apart, by the standard deviation of their labels.", "intro"),
        _table(data),
    ]


def _table(data: NumericReportData) -> Table:
    """Make the table of the items whose labels are furthest apart."""
    labels, result = data.labels, data.result
    sizes = np.diff(labels.item_starts)
    means = np.bincount(labels.item_of, labels.labels, labels.n_items) / sizes
    squares = np.bincount(labels.item_of, (labels.labels - means[labels.item_of]) ** 2, labels.n_items)
    apart = np.sqrt(squares / np.maximum(sizes - 1, 1))
    several = np.flatnonzero(sizes > 1)
    order = several[np.argsort(-apart[several], kind="stable")[:_MAX_ROWS]]
    table = result.to_frame().with_columns(pl.Series("apart", apart))
    rows = [
        [
            *item_cells(row["item"], data.texts),
            number(row["value"], ".5g"),
            number(row["low"], ".5g"),
            number(row["high"], ".5g"),
            number(row["apart"], ".4g"),
            text(_labels_in_words(labels.labels[labels.item_starts[i] : labels.item_starts[i + 1]])),
        ]
        for i, row in zip(order.tolist(), table[order].iter_rows(named=True), strict=True)
    ]
    columns = [*item_columns(data.texts), "#Value", "#95% low", "#95% high", "#Labels apart", "Labels"]
    return Table("disputed items", columns, rows, left_out(len(rows), len(several), "Those that are furthest apart:"))


def _labels_in_words(values: Array) -> str:
    """Return the labels of an item, from the smallest to the largest."""
    ordered = np.sort(values)
    shown = ", ".join(f"{value:.5g}" for value in ordered[:_MAX_LABELS])
    return shown if len(ordered) <= _MAX_LABELS else f"{shown} and {len(ordered) - _MAX_LABELS} more"
