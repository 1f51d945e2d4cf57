"""The section "The crowd at a glance" for numeric labels: the main numbers, and what was repaired on reading."""

from typing import Final

import numpy as np

from ...analysis import interval_alpha
from ...crowd.reading_report import several
from ..blocks import Block, Heading, Keyword, Paragraph, SideBySide, Stack, Tile, Tiles
from ..numeric_data import NumericReportData
from ..sections.glance import agreement_tile, beside, labels_per_item, repairs_of

_HOW_TO_READ: Final = (
    "The typical error is how far a label is off, as a root mean square, as far as labels tell by their differences. "
    "Krippendorff\N{RIGHT SINGLE QUOTATION MARK}s alpha, for numbers, is 1 where everybody says the same about every "
    "item and 0 where labels of one item differ as much as labels of different items. Above 0.8 data are usually "
    "called reliable; below 0.67, values need a method that knows whom to trust, or more labels."
)


def gather(data: NumericReportData) -> list[Block]:
    """Make warnings, the main numbers, a chart of labels per item and explanations."""
    per_item = np.diff(data.labels.item_starts)
    return [
        *_warnings(data),
        Tiles([*_error_tiles(data), *_crowd_tiles(data)]),
        SideBySide(beside(labels_per_item(per_item), [repairs_of(data.labels), _how_to_read()])),
    ]


def _warnings(data: NumericReportData) -> list[Block]:
    found: list[Block] = []
    if not data.result.convergence.converged:
        problem = f"The method {data.result.convergence}. Raise "
        found.append(Paragraph([problem, Keyword("max_iterations"), " before relying on the values."], "warning"))
    if not data.has_errors:
        nothing = "No item has two labels, so nothing says how far off they are: values have no intervals."
        found.append(Paragraph(nothing, "warning"))
    return found


def _error_tiles(data: NumericReportData) -> list[Tile]:
    """Make the tiles with the error of the method and of others; none if no truth is known."""
    return [
        Tile(f"RMSE of {name}", f"{one.rmse:.4g}", f"MAE {one.mae:.4g} on {one.items:,} items", strong=position == 0)
        for position, (name, one) in enumerate(data.measured.items())
    ]


def _crowd_tiles(data: NumericReportData) -> list[Tile]:
    labels, result = data.labels, data.result
    per_item = np.diff(labels.item_starts)
    tiles = []
    if data.has_errors:
        half = float(np.median(result.high - result.values))
        tiles += [
            Tile("Typical error of a label", f"{result.workers.typical**0.5:.4g}", strong=data.truth is None),
            Tile("Typical uncertainty of a value", f"\N{PLUS-MINUS SIGN} {half:.4g}", "Half of a 95% interval, median"),
            agreement_tile(interval_alpha(labels)),
        ]
    if result.workers.outlier_share:
        expected = float(np.nansum(result.errors.wild))
        tiles.append(
            Tile(
                "Wild answers",
                f"{expected / labels.n_labels:.2%}",
                "About " + several(round(expected), "label", "labels"),
            )
        )
    return [
        *tiles,
        Tile("Items", f"{labels.n_items:,}", light=True),
        Tile("Workers", f"{labels.n_workers:,}", light=True),
        Tile("Labels", f"{labels.n_labels:,}", f"{per_item.mean():.2f} per item", light=True),
    ]


def _how_to_read() -> Stack:
    return Stack([Heading("How to read error and agreement"), Paragraph(_HOW_TO_READ)], small=True)
