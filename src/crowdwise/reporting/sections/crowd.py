"""The crowd at a glance."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from ...analysis import charts
from ...analysis.agreement import Agreement, krippendorff
from ...data.labels import Labels
from ...data.reading_report import several
from ...kernels import Array
from ...results.result import Result
from ..widgets import Figure, bins


@dataclass(frozen=True)
class Tile:
    """A number with its name and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Glance:
    """The first section: numbers, what was repaired, how many labels items have."""

    tiles: list[Tile]
    repairs: list[str]
    figure: Figure | None


def glance(labels: Labels, result: Result, majority: Result) -> Glance:
    """Gather it."""
    per_item = np.diff(labels.item_starts)
    few, many = int(per_item.min()), int(per_item.max())
    spread = (
        f"{few:,} to {many:,}, half have {np.median(per_item):g} or more" if few < many else "The same for every item"
    )
    ending = result.convergence
    settled = str(ending)[0].upper() + str(ending)[1:]
    tiles = [
        Tile("Items", f"{labels.n_items:,}"),
        Tile("Workers", f"{labels.n_workers:,}"),
        Tile("Classes", f"{labels.n_classes:,}"),
        Tile("Labels", f"{labels.n_labels:,}"),
        Tile("Labels per item", f"{per_item.mean():.2f}", spread),
        _agreement(krippendorff(labels)),
        _changes(result, majority),
        Tile("Iterations", f"{ending.iterations:,}", "" if ending.iterations == 0 else settled),
    ]
    return Glance(tiles, labels.report.repairs, _per_item(per_item))


def _agreement(alpha: Agreement) -> Tile:
    name = "Agreement (alpha)"
    if np.isnan(alpha.value):
        return Tile(name, "none", "Not defined: no item has two labels")
    words = "high" if alpha.value >= 0.8 else "fair" if alpha.value >= 2 / 3 else "low"
    if alpha.value <= 0:
        words = "no more than chance"
    return Tile(name, f"{alpha.value:.2f}", f"{alpha.low:.2f} to {alpha.high:.2f}: {words}")


def _changes(result: Result, majority: Result) -> Tile:
    """Where majority vote is tied there is no answer to change, only a tie to settle."""
    decided = ~majority.ties
    changed = int((result.answers != majority.answers)[decided].sum())
    settled = int((majority.ties & ~result.ties).sum())
    remark = f"{changed / len(decided):.1%} of items"
    if majority.ties.any():
        remark += f"; {settled:,} of {several(int(majority.ties.sum()), 'tie', 'ties')} settled"
    return Tile("Answers changed against majority vote", f"{changed:,}", remark)


def _per_item(per_item: Array) -> Figure | None:
    values, counts = np.unique(per_item, return_counts=True)
    if len(values) == 1:
        return None  # a single bar says nothing
    if len(values) <= 20:
        table = pl.DataFrame({"value": values.astype(str), "count": counts})
        chart = charts.bars(table, "Labels", "Items", charts.PAGE)
    else:
        chart = charts.histogram(bins(per_item, values[0], values[-1]), "Labels", "Items", charts.PAGE)
    return Figure("Labels per item", chart)
