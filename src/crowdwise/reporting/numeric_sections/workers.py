"""The section "Workers" for numeric labels: biases, spreads and quality with their intervals."""

from typing import Any, Final

import polars as pl

from ...analysis import charts, numeric_charts
from ...analysis.condensing import left_out, names_as_text
from ..blocks import Block, Cell, Figure, Paragraph, SideBySide, Table
from ..cells import number, text
from ..numeric_data import NumericReportData

# The largest number of rows in the table, and of points in a chart.
_MAX_ROWS: Final = 300
_MAX_POINTS: Final = 1000
_HOW_TO_READ: Final = (
    "Bias: by how much a worker answers too high, compared with the crowd; what all have in common cannot be seen. "
    "Slope: by how much its answer rises where the value rises by one, compared with the crowd; below 1, it compresses "
    "the scale. Spread: the standard deviation of its answers around what bias and slope make of the value, so that "
    "small is consistent, not right. Typical error: all three together, as a root mean square. "
    "Quality: the share of the variance of its answers that is due to the items and not to its errors; 1 is always "
    "right, 0.5 errors as large as the differences between items."
)


def gather(data: NumericReportData) -> list[Block] | None:
    """Make the charts of bias, spread and quality, and the table of workers; None if nothing is known of errors."""
    if not data.has_errors:
        return None
    table = data.result.workers_frame().with_columns(names_as_text(data.result.names.workers).alias("worker"))
    table = table.sort("labels", descending=True, maintain_order=True)
    shown = table.head(_MAX_POINTS)
    note = left_out(shown.height, table.height, "The charts show the workers with the most labels:")
    errors = shown.select("worker", "labels", "bias", "bias_low", "bias_high", "spread", "spread_low", "spread_high")
    qualities = shown.select("worker", "labels", "quality", "quality_low", "quality_high")
    return [
        Paragraph("How far off each worker is, as far as the crowd can tell; lines are 95% intervals.", "intro"),
        SideBySide(
            [
                Figure(
                    "Bias and spread",
                    numeric_charts.errors_of_workers(errors, charts.PAGE),
                    "A point is a worker. Right of the dashed line: it answers too high. Lower: it is more consistent.",
                ),
                Figure(
                    "Quality against number of labels",
                    numeric_charts.qualities(qualities, charts.PAGE),
                    "Further right are workers with more labels (logarithmic).",
                ),
            ]
        ),
        *([Paragraph(note, "note")] if note else []),
        _table(table),
        Paragraph(_HOW_TO_READ, "note"),
    ]


def _table(table: pl.DataFrame) -> Table:
    """Make the table of the workers with the most labels."""
    has_wild, has_slope = "wild" in table.columns, "slope" in table.columns
    columns = ["Worker", "#Labels", "#Bias", "95% interval", *(["#Slope", "95% interval"] if has_slope else [])]
    columns += ["#Spread", "95% interval", "#Typical error", "#Quality"]
    columns += ["95% interval", *(["#Wild"] if has_wild else [])]
    rows = [
        [
            text(row["worker"]),
            number(row["labels"]),
            number(row["bias"], "+.3g"),
            _interval(row, "bias", "+.3g"),
            *([number(row["slope"], ".2f"), _interval(row, "slope", ".2f")] if has_slope else []),
            number(row["spread"], ".3g"),
            _interval(row, "spread", ".3g"),
            number(row["error"], ".3g"),
            number(row["quality"], ".3f"),
            _interval(row, "quality", ".3f"),
            *([number(row["wild"], ".1f")] if has_wild else []),
        ]
        for row in table.head(_MAX_ROWS).iter_rows(named=True)
    ]
    return Table("workers", columns, rows, left_out(len(rows), table.height, "The workers with the most labels:"))


def _interval(row: dict[str, Any], name: str, form: str) -> Cell:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return Cell(f"{low:{form}} to {high:{form}}", float(high - low))
