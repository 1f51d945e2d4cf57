"""The blocks that say how good judges are, for the page about judges and the section of the report."""

from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from ..analysis import charts
from ..analysis.condensing import left_out
from ..analysis.panels.drift import BOTH, curve_measure
from ..analysis.panels.positions import ORDERS
from ..analysis.panels.result import JudgesResult, judges_chart
from .blocks import Block, Bullets, Figure, Heading, Paragraph, Table
from .cells import number, text

_MOST_ROWS: Final = 100
_MOST_PAIRS: Final = 30
_MOST_ORDERS: Final = 8


def panel_blocks(result: JudgesResult, workers_shown: bool = False) -> list[Block]:
    """Return the panel beside its best judge, and the table of judges.

    `workers_shown` says that the page shows the quality of the workers already. Without known classes, the share right
    of a judge is this quality, and is left out.
    """
    share = result.known or not workers_shown
    first, *others = result.about_panel()
    table = result.judges.head(_MOST_ROWS)
    rows = [
        [
            text(row["judge"]),
            number(row["measured"]),
            *(number(row[name], ".1%") for name in ("accuracy", "low", "high") if share),
            text(_interval(row, "gain")),
            text(_interval(row, "loss")),
            number(row["agreement"], ".1%"),
            number(row["changed"], ".1%"),
            text("yes" if row["in_smallest"] else ""),
        ]
        for row in table.to_dicts()
    ]
    columns = [
        "Judge",
        "#Items",
        *(["#Right", "#Low", "#High"] if share else []),
        "Panel better by",
        "Lost without it",
        "#Agrees",
        "#Changes",
        "Enough with",
    ]
    held = "Right, better by" if share else "Better by"
    believed = "" if result.known else f"{held} and lost hold if the panel is right. "
    note = (
        f"{believed}Panel better by, and lost without it: points, with 95 % intervals by the same items. Agrees: how "
        "often the judge says what the others say without it. Changes: how many answers would change without it. "
        "Enough with: whose majority is within a standard error."
    )
    chart = Figure("How often each is right", judges_chart(result, charts.PAGE), "Lines are 95 % intervals.")
    return [
        Paragraph(first, "intro"),
        Bullets(others),
        *([chart] if share else []),
        Table("judges", columns, rows, left_out(len(rows), result.judges.height, "The best judges:")),
        Paragraph(note, "note"),
    ]


def pair_blocks(result: JudgesResult) -> list[Block]:
    """Return who errs together."""
    found = result.pairs.head(_MOST_PAIRS)
    several_errors = bool((found["same_wrong"].drop_nulls() < 1).any())  # of two classes, there is one error
    shares = ("both_wrong", "by_chance", *(["same_wrong"] if several_errors else []))
    rows = [
        [
            text(row["one"]),
            text(row["other"]),
            number(row["shared"]),
            *(number(row[name], ".2f") for name in ("correlation", "low", "high")),
            *(number(row[name], ".1%") for name in shares),
            text("yes" if row["together"] else ""),
        ]
        for row in found.to_dicts()
    ]
    columns = [
        "Judge",
        "Other",
        "#Items",
        "#Correlation",
        "#Low",
        "#High",
        "#Both wrong",
        "#By chance",
        *(["#Same error"] if several_errors else []),
        "More than all",
    ]
    left = left_out(len(rows), result.pairs.height, "The pairs that err together most:")
    table: list[Block] = [Table("pairs of judges", columns, rows, left)] if rows else []
    return [Bullets(result.about_pairs()), *table]


def position_blocks(result: JudgesResult) -> list[Block]:
    """Return what the order does to verdicts; where it is not known, that."""
    said = Bullets([*result.positions.sentences(), *result.positions.remarks])
    table = result.positions.judges
    if not table.height:
        return [said]
    rows = [
        [
            text(row["judge"]),
            number(row["first"] + row["second"]),
            *(number(row[name], ".1%") for name in ("first_share", "first_low", "first_high")),
            number(row["in_both_orders"]),
            *(number(row[name], ".1%") for name in ("flip_share", "flip_low", "flip_high")),
            number(row["to_first"]),
        ]
        for row in table.head(_MOST_ROWS).to_dicts()
    ]
    columns = [
        "Judge",
        "#Decided",
        "#First won",
        "#Low",
        "#High",
        "#In both orders",
        "#Flipped",
        "#Low ",
        "#High ",
        "#First both times",
    ]
    left = left_out(len(rows), table.height, "The first judges:")
    return [said, Table("orders of judges", columns, rows, left), *_shares_by_order(result)]


def _shares_by_order(result: JudgesResult) -> list[Block]:
    """Return how often each judge said each class in each order, with a column for each order."""
    shares = result.positions.shares
    orders = shares["order"].unique().sort().to_list()
    if len(orders) > _MOST_ORDERS:
        return []
    wide = shares.pivot("order", index=["judge", "label"], values="share", sort_columns=True)
    rows = [
        [text(row["judge"]), text(row["label"]), *(number(row[order], ".1%") for order in orders)]
        for row in wide.head(_MOST_ROWS).to_dicts()
    ]
    columns = ["Judge", "Verdict", *(f"#{order}" if order in ORDERS else f"#{order} first" for order in orders)]
    left = left_out(len(rows), wide.height, "The first verdicts:")
    return [Heading("Verdicts by order"), Table("verdicts by order", columns, rows, left)]


def change_blocks(result: JudgesResult) -> list[Block]:
    """Return who changed; nothing if nobody asked."""
    blocks: list[Block] = [Bullets(result.about_changes())] if result.about_changes() else []
    if result.drift is not None:
        rows = [
            [
                text(row["judge"]),
                text("now and before" if row["status"] == BOTH else row["status"]),
                *(number(row[name]) for name in ("votes", "votes_before")),
                *(number(row[name], ".1%") for name in ("quality", "quality_before")),
                text(_interval(row, "change")),
                number(row["p"], ".3f"),
                *(number(row[name], ".1%") for name in ("agreement", "agreement_before")),
                text(_interval(row, "agreement_change")),
                number(row["agreement_p"], ".3f"),
            ]
            for row in result.drift.head(_MOST_ROWS).to_dicts()
        ]
        columns = [
            "Judge",
            "Is",
            "#Votes",
            "#Votes before",
            "#Right",
            "#Right before",
            "Change",
            "#p",
            "#Agrees",
            "#Agreed before",
            "Change ",
            "#p ",
        ]
        blocks += [
            Heading("Now and before"),
            Table("judges now and before", columns, rows, left_out(len(rows), result.drift.height, "Judges by name:")),
        ]
    if result.curve is not None:
        share, _ = curve_measure(result.curve)
        title = "Share right" if share == "accuracy" else "Agreement with the others"
        drawn = result.curve.select("period", pl.col("judge").alias("name"), share=share).drop_nulls("share")
        blocks.append(
            Figure(
                f"{title} by {result.period}",
                charts.curves(drawn, result.period.capitalize(), title, charts.PAGE),
                "A thin line is a judge, the thick one all together.",
            )
        )
    return blocks


def judge_blocks(result: JudgesResult) -> Sequence[Block]:
    """Return everything below one heading, for a section of the report."""
    return [
        *panel_blocks(result, workers_shown=True),
        Heading("Who errs together"),
        *pair_blocks(result),
        Heading("Position"),
        *position_blocks(result),
        *change_blocks(result),
    ]


def _interval(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "-"
    start = name.removesuffix("change") if name.endswith("change") else f"{name}_"
    ends = f"{start}low", f"{start}high"
    value, low, high = (round(100 * row[one], 1) + 0.0 for one in (name, *ends))  # -0.0 + 0.0 is 0.0
    return f"{value:+.1f} ({low:.1f} to {high:.1f})"
