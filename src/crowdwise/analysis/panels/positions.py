"""`Positions`: how often judges take what they see first, and how many verdicts change with the order.

The order is known where a column says what the judge saw first, and where one judge is there under two names, such as
gpt and gpt/swap, the second of which saw everything in the other order.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import listed
from ...crowd.ids import text
from ...crowd.labels import Labels
from ...crowd.reading_report import several
from ...numerics import Array
from ...results.intervals import wilson
from .drift import holm

# How the name of a judge ends who saw the other order, after the name of the same judge.
_SWAPPED: Final = re.compile(r"[\s/_:.#|-]*\(?(swap|swapped|reversed|flipped)\)?$", re.IGNORECASE)
# The chance that any judge is named as biased who is not; the most judges that are named.
_LEVEL: Final = 0.05
_MOST_NAMED: Final = 5
# Classes that say which slot won, in small letters.
_SLOTS: Final = (
    ("1", "2"),
    ("a", "b"),
    ("a>b", "b>a"),
    ("left", "right"),
    ("first", "second"),
    ("model_a", "model_b"),
    ("model_1", "model_2"),
)
TIES: Final = ("tie", "tie (bothbad)", "tie(bothbad)", "bothbad", "both_bad", "both bad", "draw", "equal", "same")
ORDERS: Final = ("as listed", "swapped")


@dataclass(frozen=True, eq=False)
class Positions:
    """What the order of things does to verdicts.

    Attributes:
        judges: What `position_table` returns, one row per judge whose order is known; empty if none is.
        shares: How often each judge said each class in each order: judge, order (what was seen first), label, votes and
            share.
        remarks: How the order was understood.
    """

    judges: pl.DataFrame
    shares: pl.DataFrame
    remarks: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """Return what the orders say, and where they say little; one sentence if they are not known."""
        return [*position_sentences(self.judges), *self._one_order()]

    def _one_order(self) -> list[str]:
        """Say who saw the same first every time; if nobody's order is known, what to do."""
        if not self.judges.height:
            return ["`crowdwise judges --first-column COLUMN` tells, if a column has what was seen first."]
        orders = self.shares.group_by("judge").agg(pl.col("order").unique())
        same = orders.filter(pl.col("order").list.len() == 1).sort("judge")
        if not same.height:
            return []
        who, judges = listed(same["judge"]), several(same.height, "judge", "judges")
        named = f"{judges} saw" if same.height > _MOST_NAMED else f"{who} saw"
        return [
            f"{named} the same first every time, so what such a judge prefers and what it sees first cannot be told "
            "apart."
        ]


def position_table(
    judges: pl.Series, said: tuple[Array, Array, Array], both_orders: tuple[Array, Array, Array]
) -> pl.DataFrame:
    """Return one row per judge, in this order.

    Columns: judge; first, second and ties (how many verdicts were each); first_share, first_low and first_high (the
    share of the first among decided votes, with Wilson's 95 % interval); in_both_orders (how often the judge saw two
    things in both orders), flips (how often the verdict then changed), to_first (how often it was the first both
    times), flip_share, flip_low and flip_high. What is not known is null.

    Args:
        judges: The names of the judges.
        said: (judges) each, how many verdicts were for the first, for the second, and ties.
        both_orders: (judges) each, how many verdicts there are in both orders; how many changed; and how many were for
            the first both times, -1 if that is not known.
    """
    first, second, ties = said
    both, flips, to_first = both_orders
    decided = first + second
    columns: dict[str, Any] = {"judge": judges, "first": first, "second": second, "ties": ties}
    for name, count, total in (("first", first, decided), ("flip", flips, both)):
        if name == "flip":
            columns |= {"in_both_orders": both, "flips": flips, "to_first": pl.Series(to_first).replace(-1, None)}
        for end, value in zip(("share", "low", "high"), wilson(count, total), strict=True):
            columns[f"{name}_{end}"] = pl.Series(np.where(total > 0, value, np.nan)).fill_nan(None)
    return pl.DataFrame(columns)


def position_sentences(table: pl.DataFrame) -> list[str]:
    """Return what the positions of all judges together say; one sentence if they are not known."""
    if not table.height:
        return ["Position bias cannot be told: it is not known what judges saw first."]
    first = int(table["first"].sum())
    decided = first + int(table["second"].sum())
    said = []
    if decided:
        share, low, high = wilson(first, decided)
        said.append(f"What was seen first won {share:.0%} of {decided:,} decided votes ({low:.0%} to {high:.0%}).")
        said += _biased(table)
    both, flips = int(table["in_both_orders"].sum()), int(table["flips"].sum())
    if not both:
        said.append(
            "No judge saw a pair in both orders, so how many verdicts depend on the order is not known, and what was "
            "seen first may have won because it was better."
        )
        return said
    changed = f"Of {both:,} pairs that a judge saw in both orders, {flips:,} verdicts ({flips / both:.0%}) changed"
    if table["to_first"].null_count() == table.height:
        said.append(f"{changed} with the order.")
    else:
        said.append(f"{changed} with the order; {int(table['to_first'].sum()):,} were for the first both times.")
    return said


def _biased(table: pl.DataFrame) -> list[str]:
    """Say which judges take what they see first more or less often than half of the time, beyond chance."""
    from scipy.special import bdtr  # imported here because importing it takes long

    first, second = (table[name].to_numpy() for name in ("first", "second"))
    chance = np.minimum(2 * bdtr(np.minimum(first, second).astype(float), first + second, 0.5), 1.0)
    p = holm(np.where(first + second > 0, chance, np.nan))
    biased = table.filter(pl.Series(p < _LEVEL))
    if not biased.height:
        return ["No judge takes what is seen first more or less often than half of the time, beyond chance."]
    order = (pl.col("first_share") - 0.5).abs()
    rows = biased.sort(order, "judge", descending=[True, False]).head(_MOST_NAMED).to_dicts()
    shares = [(row["judge"], *(f"{row[f'first_{end}']:.0%}" for end in ("share", "low", "high"))) for row in rows]
    who = [f"{judge} in {share} ({low} to {high})" for judge, share, low, high in shares]
    more = [several(left, "other", "others")] if (left := biased.height - len(rows)) else []
    named = "; ".join([*who, *more])
    return [f"Who takes what is seen first clearly more or less often than half of the time: {named}."]


def positions_by_names(labels: Labels) -> Positions | None:
    """Return the positions of judges who are there under two names, such as gpt and gpt/swap; None if nobody is.

    The labels of both are taken to name the same things.
    """
    names = [str(name) for name in labels.names.workers.to_list()]
    code = {name: place for place, name in enumerate(names)}
    pairs = sorted((_SWAPPED.sub("", name), place) for name, place in code.items() if _SWAPPED.search(name))
    pairs = [(base, place) for base, place in pairs if base in code]
    if not pairs:
        return None
    said = np.full((labels.n_workers, labels.n_items), -1)
    said[labels.workers, labels.item_of] = labels.labels
    classes = [str(name).strip().lower() for name in labels.names.classes.to_list()]
    tie = [place for place, name in enumerate(classes) if name in TIES]
    slots = next((slot for slot in _SLOTS if set(classes) - set(TIES) == set(slot)), None)
    counts, shares = [], []
    for base, swapped in pairs:
        listed, turned = said[code[base]], said[swapped]
        both = (listed >= 0) & (turned >= 0)
        changed = int((listed != turned)[both].sum())
        ties = int(np.isin(np.concatenate([listed, turned]), tie).sum())
        if slots is None:
            counts.append((0, 0, ties, int(both.sum()), changed, -1))
        else:
            one, two = classes.index(slots[0]), classes.index(slots[1])
            first = int((listed == one).sum() + (turned == two).sum())
            second = int((listed == two).sum() + (turned == one).sum())
            to_first = int(((listed == one) & (turned == two)).sum())
            counts.append((first, second, ties, int(both.sum()), changed, to_first))
        for order, votes in zip(ORDERS, (listed, turned), strict=True):
            given = np.bincount(votes[votes >= 0], minlength=labels.n_classes)
            shares += [(base, order, str(name), int(n)) for name, n in zip(labels.names.classes, given, strict=True)]
    table = np.array(counts).T
    where = f"{pairs[0][0]} and {names[pairs[0][1]]}"
    remark = (
        f"{len(pairs):,} judges are there in both orders, such as {where}: the labels of both are taken to name the "
        "same things."
    )
    if slots is not None:
        remark += f" The one that is not swapped is taken to have seen {slots[0]} first."
    judges = position_table(
        pl.Series("judge", [base for base, _ in pairs]), (table[0], table[1], table[2]), (table[3], table[4], table[5])
    )
    return Positions(judges, _shares(shares), (remark,))


def positions_by_column(rows: pl.DataFrame) -> Positions:
    """Return the positions by rows with the columns item, worker, label, and first: the class that was seen first."""
    rows = rows.filter(pl.col("first").is_not_null())
    known = rows.select(
        "item",
        judge=text(pl.col("worker"), rows.schema["worker"]),
        label=text(pl.col("label"), rows.schema["label"]).str.strip_chars(),
        first=text(pl.col("first"), rows.schema["first"]).str.strip_chars(),
    )
    is_first, is_tie = pl.col("label") == pl.col("first"), pl.col("label").str.to_lowercase().is_in(TIES)
    verdicts = known.group_by("judge").agg(
        is_first.sum().alias("first"),
        (~is_first & ~is_tie).sum().alias("second"),
        is_tie.sum().alias("ties"),
    )
    # Of several verdicts in one order, the first label in the order of names stands for all.
    once = known.group_by("item", "judge", "first").agg(pl.col("label").min())
    pairs = once.group_by("item", "judge").agg(
        pl.col("first").n_unique().alias("orders"),
        (pl.col("label").n_unique() > 1).alias("flipped"),
        is_first.all().alias("to_first"),
    )
    orders = (
        pairs.filter(pl.col("orders") > 1)
        .group_by("judge")
        .agg(pl.len().alias("both"), pl.col("flipped").sum(), pl.col("to_first").sum())
    )
    table = verdicts.join(orders, on="judge", how="left").sort("judge").fill_null(0)
    said, both = (
        tuple(table[name].cast(pl.Int64).to_numpy() for name in names)
        for names in (("first", "second", "ties"), ("both", "flipped", "to_first"))
    )
    counted = known.group_by("judge", "first", "label").len().sort("judge", "first", "label")
    return Positions(
        position_table(table["judge"], said, both),  # type: ignore[arg-type]  # three of each
        _shares(counted.rows()),
    )


def _shares(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    kinds = {"judge": pl.String, "order": pl.String, "label": pl.String, "votes": pl.Int64}
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    total = pl.col("votes").sum().over("judge", "order")
    return table.with_columns(share=pl.col("votes") / pl.max_horizontal(total, 1))


def nothing_known() -> Positions:
    """Return positions of nobody."""
    return Positions(pl.DataFrame(), pl.DataFrame())
