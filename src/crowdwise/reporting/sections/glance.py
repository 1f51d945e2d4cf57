"""The section "The crowd at a glance": the main numbers, repairs on reading, and labels per item."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import Agreement, charts, krippendorff
from ...data.labels import Labels
from ...data.reading_report import several
from ...kernels import Array
from ...results.result import Result
from ..blocks import Block, Bullets, Figure, Heading, Keyword, Paragraph, SideBySide, Stack, Tile, Tiles
from ..condensing import bins
from ..report_data import ReportData
from .accuracy import accuracies

_HOW_TO_READ_AGREEMENT: Final = (
    "Krippendorff\N{RIGHT SINGLE QUOTATION MARK}s alpha is 1 where everybody says the same about every item and 0 "
    "where labels agree no more often than chance would make them. Above 0.8 data are usually called reliable; below "
    "0.67, answers need a method that knows whom to trust. The interval holds 95% of 1,000 crowds drawn again from "
    "these items."
)


def gather(data: ReportData) -> list[Block]:
    """Make a warning if the method did not converge, the main numbers, a chart of labels per item and explanations."""
    per_item = np.diff(data.labels.item_starts)
    return [
        *_warning(data.result),
        Tiles([*_accuracy_tiles(data), *_crowd_tiles(data, per_item)]),
        SideBySide([*_labels_per_item(per_item), _explanations(data.labels)]),
    ]


def _warning(result: Result) -> list[Block]:
    if result.convergence.converged:
        return []
    problem = f"The method {result.convergence}. Raise "
    return [Paragraph([problem, Keyword("max_iterations"), " before relying on the answers."], "warning")]


def _accuracy_tiles(data: ReportData) -> list[Tile]:
    """Make the tiles with the accuracy of the method and of majority vote; none if no truth is known."""
    if data.known is None:
        return []
    known = len(data.known.items)
    return [
        Tile(
            f"Accuracy of {one.method}",
            f"{100 * one.accuracy:.1f}%",
            f"{100 * one.low:.1f} to {100 * one.high:.1f}% on {known:,} items",
            strong=position == 0,
        )
        for position, one in enumerate(accuracies(data))
    ]


def _crowd_tiles(data: ReportData, per_item: Array) -> list[Tile]:
    labels, ending = data.labels, data.result.convergence
    few, many = int(per_item.min()), int(per_item.max())
    spread = (
        f"{few:,} to {many:,}, half have {np.median(per_item):g} or more" if few < many else "The same for every item"
    )
    how_it_ended = str(ending)[0].upper() + str(ending)[1:]
    return [
        Tile("Items", f"{labels.n_items:,}"),
        Tile("Workers", f"{labels.n_workers:,}"),
        Tile("Classes", f"{labels.n_classes:,}"),
        Tile("Labels", f"{labels.n_labels:,}"),
        Tile("Labels per item", f"{per_item.mean():.2f}", spread),
        _agreement(krippendorff(labels)),
        _changes(data.result, data.majority),
        Tile("Iterations", f"{ending.iterations:,}", "" if ending.iterations == 0 else how_it_ended),
    ]


def _agreement(alpha: Agreement) -> Tile:
    """Make the tile that says, as a number and in words, how much the workers agree with each other."""
    name = "Agreement (alpha)"
    if np.isnan(alpha.value):
        return Tile(name, "none", "Not defined: no item has two labels")
    words = "high" if alpha.value >= 0.8 else "fair" if alpha.value >= 2 / 3 else "low"
    if alpha.value <= 0:
        words = "no more than chance"
    return Tile(name, f"{alpha.value:.2f}", f"{alpha.low:.2f} to {alpha.high:.2f}: {words}")


def _changes(result: Result, majority: Result) -> Tile:
    """Make the tile that says how many answers differ from those of majority vote.

    Items on which majority vote is tied are not counted as different; the tile says how many of these ties the method
    settled.
    """
    decided = ~majority.ties
    changed = int((result.answers != majority.answers)[decided].sum())
    settled = int((majority.ties & ~result.ties).sum())
    remark = f"{changed / len(decided):.1%} of items"
    if majority.ties.any():
        remark += f"; {settled:,} of {several(int(majority.ties.sum()), 'tie', 'ties')} settled"
    return Tile("Answers changed against majority vote", f"{changed:,}", remark)


def _labels_per_item(per_item: Array) -> list[Figure]:
    """Make the chart of the number of labels per item; none if it is the same for all items."""
    values, counts = np.unique(per_item, return_counts=True)
    if len(values) == 1:
        return []
    if len(values) <= 20:
        table = pl.DataFrame({"value": values.astype(str), "count": counts})
        chart = charts.bars(table, "Labels", "Items", charts.PAGE)
    else:
        chart = charts.histogram(bins(per_item, values[0], values[-1]), "Labels", "Items", charts.PAGE)
    return [Figure("Labels per item", chart)]


def _explanations(labels: Labels) -> Stack:
    """Make the text about what was repaired when the labels were read, and about the meaning of the agreement."""
    repairs = labels.report.repairs
    return Stack(
        [
            Heading("What was repaired on reading"),
            Bullets(repairs) if repairs else Paragraph("Nothing: every row was used as it came."),
            Heading("How to read agreement"),
            Paragraph(_HOW_TO_READ_AGREEMENT),
        ],
        small=True,
    )
