"""The section "Costs": what decisions are expected to cost, which differ from the labels, and the value of workers."""

from typing import Final

import polars as pl

from ...analysis.condensing import LONGEST_NAME, left_out
from ...analysis.decisions import Decisions
from ...errors import shortened
from ..blocks import Block, Heading, Paragraph, Table, Tile, Tiles
from ..cells import number, text
from ..report_data import ReportData

# The largest number of rows in a table.
_MAX_ROWS: Final = 300
_HOW_TO_READ_VALUE: Final = (
    "One label saves: by how much one label of this worker lowers the cost of the best decision about a new item, in "
    "the unit of the costs. Value: the same as a share of the cost without any label. How fast workers are is not "
    "known here."
)


def gather(data: ReportData) -> list[Block] | None:
    """Make the expected costs, the table of decisions that are not the label, and that of workers; None if no costs."""
    if data.decisions is None or data.ordinal is not None:
        return None
    return [
        Paragraph(
            "Each item gets the decision of least expected cost, given the costs and the calibrated probabilities of "
            "the classes. The other sections are about the most probable labels.",
            "intro",
        ),
        tiles(data.decisions),
        *differing(data.decisions),
        Heading("What a label of each worker is worth"),
        _workers(data.decisions),
        Paragraph(_HOW_TO_READ_VALUE, "note"),
    ]


def tiles(decisions: Decisions) -> Tiles:
    """Make the tiles with what decisions are expected to cost; for ordered classes too, where costs are distances."""
    cost = decisions.expected_cost

    def tile(name: str, total: float, strong: bool = False) -> Tile:
        return Tile(name, f"{total / cost.items:.4g}", f"For an item; {total:,.2f} for all", strong)

    found = [
        tile(f"Expected {decisions.measured_in}", cost.total, strong=True),
        tile("Of the most probable labels", cost.most_probable),
        tile(f"Of always {shortened(str(cost.single_decision), LONGEST_NAME)}", cost.single),
        Tile("Not the most probable", f"{cost.changed:,}", f"{cost.changed / cost.items:.1%} of items"),
    ]
    if decisions.costs.can_abstain:
        found.append(Tile("Without a label", f"{cost.abstained:,}", f"{cost.abstained / cost.items:.1%} of items"))
    return Tiles(found)


def differing(decisions: Decisions) -> list[Block]:
    """Make the table of items whose decision is not the most probable label; nothing if there are none."""
    cost = decisions.expected_cost
    count = cost.changed + cost.abstained
    if not count:
        return []
    expected = f"expected_{decisions.measure}"
    differs = pl.col("label").cast(pl.String) != pl.col("most_probable").cast(pl.String)
    shown = decisions.to_frame().filter(differs).sort(expected, descending=True, maintain_order=True)
    rows = [
        [
            text(row["item"]),
            text(row["label"]),
            number(row[expected], ".4g"),
            text(row["most_probable"]),
            number(row["votes"]),
        ]
        for row in shown.head(_MAX_ROWS).iter_rows(named=True)
    ]
    columns = ["Item", "Decision", f"#Expected {decisions.measured_in}", "Most probable", "#Votes"]
    left = left_out(len(rows), count, f"Those of the largest expected {decisions.measured_in}:")
    return [Heading("Decisions that are not the most probable label"), Table("decisions", columns, rows, left)]


def _workers(decisions: Decisions) -> Table:
    """Make the table of the workers whose labels are worth most."""
    workers = decisions.workers_frame()
    best = workers.sort("value_per_label", descending=True, nulls_last=True, maintain_order=True).head(_MAX_ROWS)
    rows = [
        [
            text(row["worker"]),
            number(row["labels"]),
            number(row["quality"], ".3f"),
            number(row["value"], ".3f"),
            number(row["value_per_label"], ".4g"),
        ]
        for row in best.iter_rows(named=True)
    ]
    columns = ["Worker", "#Labels", "#Quality", "#Value", "#One label saves"]
    left = left_out(len(rows), workers.height, "The workers whose labels are worth most:")
    return Table("value of workers", columns, rows, left)
