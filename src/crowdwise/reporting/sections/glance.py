"""The section "The crowd at a glance": the main numbers, repairs on reading, and labels per item."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import Agreement, alpha, charts, krippendorff
from ...analysis.agreement import Level
from ...analysis.condensing import bins
from ...caution import Caution
from ...crowd.labels import Labels, Numbers
from ...crowd.reading_report import several
from ...numerics import Array
from ...results.result import Result
from ..blocks import Block, Bullets, Figure, Heading, Paragraph, SideBySide, Stack, Tile, Tiles
from ..report_data import ReportData
from .accuracy import accuracies
from .summary import doubt

_HOW_TO_READ_AGREEMENT: Final = (
    "Krippendorff\N{RIGHT SINGLE QUOTATION MARK}s alpha is 1 where everybody says the same about every item and 0 "
    "where labels agree no more often than chance would make them. Above 0.8 data are usually called reliable; below "
    "0.67, answers need a method that knows whom to trust. The interval holds 95% of 1,000 crowds drawn again from "
    "these items."
)

_OF_ORDERED: Final = (
    " It treats all disagreement alike. Two more are for ordered classes: in ordinal alpha, labels disagree more if "
    "more labels lie between them; in interval alpha, if their distance is larger."
)


def gather(data: ReportData) -> list[Block]:
    """Make warnings and cautions, the main numbers, a chart of labels per item and explanations."""
    per_item = np.diff(data.labels.item_starts)
    return [
        *(Paragraph(str(caution), "warning") for caution in _cautions(data)),
        *_gold_check(data.result),
        Tiles([*_accuracy_tiles(data), _expected_accuracy(data), *_crowd_tiles(data, per_item), *_gold_tile(data)]),
        SideBySide(beside(labels_per_item(per_item), _explanations(data.labels, data.ordinal is not None))),
    ]


def _cautions(data: ReportData) -> list[Caution]:
    """Return what to know, except what the summary and the list of repairs say already."""
    return [one for one in data.cautions if one.kind != "dropped" and one not in doubt(data)]


def _gold_check(result: Result) -> list[Block]:
    """Make a sentence about what gold items say about the method, if there are some."""
    return [] if result.gold_check is None else [Paragraph(str(result.gold_check))]


def _gold_tile(data: ReportData) -> list[Tile]:
    """Make the tile with the number of gold items; none if none were given."""
    gold = data.result.gold
    if gold is None:
        return []
    return [
        Tile("Gold items", f"{int((gold >= 0).sum()):,}", "Given, not inferred; left out of every accuracy", light=True)
    ]


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


def _expected_accuracy(data: ReportData) -> Tile:
    """Make the tile with the accuracy that the confidence of the answers promises; it needs no truth."""
    expected = data.result.expected_accuracy
    return Tile(
        "Expected accuracy",
        f"{100 * expected.value:.1f}%",
        f"By the confidence of the answers; {expected.interval}",
        strong=data.known is None,
    )


def _crowd_tiles(data: ReportData, per_item: Array) -> list[Tile]:
    labels = data.labels
    few, many = int(per_item.min()), int(per_item.max())
    spread = (
        f"{few:,} to {many:,}, half have {np.median(per_item):g} or more" if few < many else "The same for every item"
    )
    return [
        agreement_tile(alpha(labels), "Agreement (alpha)" if labels.sets is None else "Agreement (alpha, MASI)"),
        *_ordered_agreement(data),
        _changes(data.result, data.majority),
        Tile("Labels per item", f"{per_item.mean():.2f}", spread),
        Tile("Items", f"{labels.n_items:,}", light=True),
        Tile("Workers", f"{labels.n_workers:,}", light=True),
        Tile("Classes", f"{labels.n_classes:,}", light=True),
        Tile("Labels", f"{labels.n_labels:,}", light=True),
    ]


def _ordered_agreement(data: ReportData) -> list[Tile]:
    """Make the tiles of alpha for ordered classes; none if they are not ordered."""
    if data.ordinal is None:
        return []
    places = data.ordinal.positions(data.labels.names.classes)
    levels: tuple[Level, ...] = ("ordinal", "interval")
    return [
        agreement_tile(krippendorff(data.labels, level=level, places=places), f"Agreement ({level} alpha)")
        for level in levels
    ]


def agreement_tile(found: Agreement, name: str = "Agreement (alpha)") -> Tile:
    """Make the tile that says, as a number and in words, how much the workers agree with each other."""
    if np.isnan(found.value):
        return Tile(name, "none", "Not defined: no item has two labels")
    words = "high" if found.value >= 0.8 else "fair" if found.value >= 2 / 3 else "low"
    if found.value <= 0:
        words = "no more than chance"
    return Tile(name, f"{found.value:.2f}", f"{found.low:.2f} to {found.high:.2f}: {words}")


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


def labels_per_item(per_item: Array) -> list[Figure]:
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


def beside(figures: list[Figure], parts: list[Stack]) -> list[Block]:
    """Put texts below each other beside a figure, or beside each other where there is none."""
    if not figures:
        return list(parts)
    return [*figures, Stack([block for part in parts for block in part.blocks], small=True)]


def _explanations(labels: Labels, ordered: bool) -> list[Stack]:
    """Make the text about what was repaired when the labels were read, and about the meaning of the agreement."""
    agreement = [
        Heading("How to read agreement"),
        Paragraph(_HOW_TO_READ_AGREEMENT + (_OF_ORDERED if ordered else "")),
    ]
    return [repairs_of(labels), Stack(agreement, small=True)]


def repairs_of(labels: Labels | Numbers) -> Stack:
    """Say what was repaired when the labels were read."""
    repairs = labels.report.repairs
    said = Bullets(repairs) if repairs else Paragraph("Nothing: every row was used as it came.")
    return Stack([Heading("What was repaired on reading"), said], small=True)
