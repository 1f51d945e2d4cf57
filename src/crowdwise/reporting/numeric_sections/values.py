"""The section "Values": how labels and inferred values are distributed."""

import numpy as np

from ...analysis import charts
from ...analysis.condensing import bins
from ...crowd.reading_report import several
from ...numerics import Array
from ..blocks import Block, Figure, SideBySide
from ..numeric_data import NumericReportData


def gather(data: NumericReportData) -> list[Block]:
    """Make the histograms of labels and of values, on the same axis."""
    low, high = _range(data.labels.labels)
    said = charts.histogram(bins(data.labels.labels, low, high), "Said", "Labels", charts.PAGE)
    found = charts.histogram(bins(data.result.values, low, high), "Inferred value", "Items", charts.PAGE)
    return [
        SideBySide(
            [
                Figure("What was said", said, f"Labels of all items.{_outside(data.labels.labels, low, high)}"),
                Figure(
                    "What was inferred",
                    found,
                    f"Values of the items, on the same axis.{_outside(data.result.values, low, high)}",
                ),
            ]
        )
    ]


def _range(values: Array) -> tuple[float, float]:
    """Return the ends of the axis, which leaves out labels that are far from all others."""
    least, lower, upper, most = np.quantile(values, [0, 0.01, 0.99, 1]).tolist()
    margin = max(upper - lower, 0.0)
    low, high = max(least, lower - margin), min(most, upper + margin)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _outside(values: Array, low: float, high: float) -> str:
    """Return a sentence about numbers outside of the axis; "" if there are none."""
    outside = int(((values < low) | (values > high)).sum())
    return f" {several(outside, 'is', 'are')} outside of this range, and counted at its ends." if outside else ""
