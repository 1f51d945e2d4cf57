"""The section "Against the truth" for numeric labels: errors, a chart, and the items that are furthest off."""

from typing import Final

import polars as pl

from ...analysis import charts, numeric_charts
from ...analysis.condensing import evenly, left_out, names_as_text
from ..blocks import Block, Figure, Heading, Paragraph, Table
from ..cells import number, text
from ..numeric_data import NumericReportData

# The largest number of rows in the table, and of points in the chart.
_MAX_ROWS: Final = 100
_MAX_POINTS: Final = 1500


def gather(data: NumericReportData) -> list[Block] | None:
    """Make the chart of inferred against true values, the errors, and the values furthest off; None without truth."""
    if data.known is None:
        return None
    known = data.known.with_columns(names_as_text(data.known["item"]).alias("item"))
    points = evenly(known, _MAX_POINTS).select("item", "truth", "value", "low", "high")
    note = left_out(points.height, known.height, "The chart shows items evenly from all:")
    caption = f"A point is an item, a line its 95% interval; on the dashed line it is right. {note}".rstrip()
    return [
        Paragraph(f"The true value of {known.height:,} items is known.", "intro"),
        *_errors(data),
        Figure("Inferred against true", numeric_charts.against_truth(points, charts.PAGE), caption),
        Heading("Furthest from the truth"),
        _furthest(known),
    ]


def _errors(data: NumericReportData) -> list[Block]:
    """Make the table of the errors of the method, and of mean and median."""
    rows = [
        [
            text(name),
            number(one.mae, ".4g"),
            number(one.rmse, ".4g"),
            number(one.correlation, ".4f"),
            number(one.coverage, ".1%"),
        ]
        for name, one in data.measured.items()
    ]
    how_to_read = (
        "MAE: the mean absolute error. RMSE: the root of the mean squared error, which counts large errors more. "
        "Coverage: the share of true values inside the 95% interval. Where it is far below 95%, workers err together: "
        "no method can tell that from the labels alone."
    )
    columns = ["Method", "#MAE", "#RMSE", "#Correlation", "#Coverage"]
    return [Table("errors", columns, rows), Paragraph(how_to_read, "note")]


def _furthest(known: pl.DataFrame) -> Table:
    """Make the table of the values that are furthest from the truth."""
    error = (pl.col("value") - pl.col("truth")).alias("error")
    shown = known.with_columns(error).sort(error.abs(), descending=True, maintain_order=True).head(_MAX_ROWS)
    rows = [
        [
            text(row["item"]),
            number(row["truth"], ".5g"),
            number(row["value"], ".5g"),
            number(row["low"], ".5g"),
            number(row["high"], ".5g"),
            number(row["error"], "+.4g"),
            number(row["votes"]),
        ]
        for row in shown.iter_rows(named=True)
    ]
    columns = ["Item", "#Truth", "#Value", "#95% low", "#95% high", "#Error", "#Labels"]
    return Table("errors of items", columns, rows, left_out(len(rows), known.height, "Those that are furthest off:"))
