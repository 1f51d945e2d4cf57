"""`RateResult`: how many items truly pass, for every system; and how many gold items give which interval."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import Caution, in_order, listed
from ...crowd.reading_report import several
from ...numerics import Array
from ...results.tables import as_html
from .estimates import ELSEWHERE, FEWEST_GOLD, GOLD_ONLY, LEAST_EXPLAINED, Estimate, Sample, width, wilson_of
from .judged import Judged

# So many gold items are looked at, as far as there are items.
_LADDER: Final = (20, 50, 100, 200, 500, 1000)
# What good judges explain of the truth; right in 85 % of the items, for example.
_GOOD_JUDGES: Final = 0.5
# The most systems and differences in sentences.
_MOST_SAID: Final = 6

_NUMBERS: Final = ("pass_rate", "se", "low", "high")
_SYSTEMS: Final[dict[str, Any]] = {
    "items": pl.Int64,
    "gold": pl.Int64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "method": pl.String,
    "raw_rate": pl.Float64,
    "passed_of_good": pl.Float64,
    "passed_of_bad": pl.Float64,
    "explained": pl.Float64,
    "gold_rate": pl.Float64,
    "gold_low": pl.Float64,
    "gold_high": pl.Float64,
}
_DIFFERENCES: Final[dict[str, Any]] = {
    "difference": pl.Float64,
    "se": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "raw_difference": pl.Float64,
    "same_prompts": pl.Boolean,
    "items": pl.Int64,
    "gold": pl.Int64,
    "method": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class RateResult:
    """How many items truly pass; `str` gives it in sentences.

    Attributes:
        systems: One row per system: system (null without a column of systems), items, gold (how many of them are gold),
            pass_rate, se, low, high (95 % interval), method ("judges and gold", "gold only" or "gold from elsewhere"),
            raw_rate (what the judges pass; with gold from elsewhere, by majority), passed_of_good and passed_of_bad (of
            the gold items that truly pass, and of the others, what share the judges pass), explained (R^2 of the judges
            on the gold), gold_rate, gold_low and gold_high (by gold alone). Without gold, rates and intervals are null.
        differences: One row per two systems: a, b, difference (of a and b), se, low, high, raw_difference, same_prompts
            (whether they were compared prompt by prompt), items, gold, method.
        needed: About how wide the interval would be with more gold: system, gold, width, width_gold_only.
        cautions: What to know before trusting this.
        remarks: How the input was understood.
    """

    systems: pl.DataFrame
    differences: pl.DataFrame
    needed: pl.DataFrame
    cautions: tuple[Caution, ...]
    remarks: tuple[str, ...]

    @property
    def has_gold(self) -> bool:
        """Whether there is gold, and so an interval."""
        return bool(self.systems["pass_rate"].is_not_null().any())

    @property
    def summary(self) -> str:
        """What was found, in a few sentences."""
        return " ".join(self.sentences()[:1] if self.has_gold else self.sentences())

    def sentences(self) -> list[str]:
        """Return the rates, what is wrong with the judges' own, the differences, and what more gold would give."""
        if not self.has_gold:
            return self._without_gold()
        rows = self.systems.to_dicts()
        said = [_rate_of(row) for row in rows[:_MOST_SAID]]
        said += [why for row in rows[:_MOST_SAID] if (why := _why(row))]
        if len(rows) > _MOST_SAID:
            said.append(f"{len(rows) - _MOST_SAID:,} more systems are in the table.")
        said += [_difference_of(row) for row in self.differences.head(_MOST_SAID).to_dicts()]
        return said + self._more()

    def _without_gold(self) -> list[str]:
        passed = listed(
            f"{row['raw_rate']:.0%}" + ("" if row["system"] is None else f" of {row['system']}")
            for row in self.systems.head(_MOST_SAID).to_dicts()
        )
        ladder = [
            (f"{row['gold']:,}", f"{100 * row['width_gold_only']:.0f} points")
            for row in self.needed.unique("gold", keep="first").sort("gold").to_dicts()[:4]
        ]
        said = (
            f"The judges pass {passed}, which is not how many truly pass: without gold nobody knows how often they are "
            "wrong, so there is no interval."
        )
        if not ladder:
            return [said, f"With fewer than {_LADDER[0]} items, decide all of them yourself: then you know the share."]
        (gold, points), *more = ladder
        widths = ", ".join(
            [f"{gold} give a 95 % interval of about {points}", *(f"{n} one of {wide}" for n, wide in more)]
        )
        return [
            said,
            "Gold is items that are drawn at random, whose truth somebody decides. By gold alone, "
            f"{widths}; good judges make it narrower.",
            self._how_to_draw(),
        ]

    def _how_to_draw(self) -> str:
        draws = "crowdwise next labels.csv --ask expert --random 50 -o decide.csv"
        if self.systems["system"].null_count():
            return f"`{draws}` draws 50 items to decide."
        return (
            f"`{draws} --duplicates all` draws 50 items: decide the answers of every system to them, in a row each "
            "with the column of the system."
        )

    def _more(self) -> list[str]:
        if not self.needed.height:
            return []
        row = self.needed.row(0, named=True)
        of = "" if row["system"] is None else f" of {row['system']}"
        now = self.systems.filter(pl.col("system").eq_missing(pl.lit(row["system"]))).row(0, named=True)
        wide = 100 * (now["high"] - now["low"])
        return [
            f"The interval{of} is {wide:.0f} points wide with {now['gold']:,} gold items; with {row['gold']:,} it "
            f"would be about {100 * row['width']:.0f}."
        ]

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        gold = int(self.systems["gold"].sum())
        return f"RateResult({int(self.systems['items'].sum()):,} items, {gold:,} of them gold)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences, and the tables."""
        tables = {
            "Systems": self.systems,
            "Differences": self.differences,
            "Width of the interval by gold": self.needed,
        }
        return as_html([self.summary], tables)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "summary": self.summary,
            "systems": json.loads(self.systems.write_json()),
            "differences": json.loads(self.differences.write_json()),
            "needed": json.loads(self.needed.write_json()),
            "remarks": list(self.remarks),
            "cautions": [one.to_dict() for one in self.cautions],
        }


def _rate_of(row: dict[str, Any]) -> str:
    items = "items" if row["system"] is None else f"items of {row['system']}"
    if row["pass_rate"] is None:
        return f"{row['system']}: there is no gold, so no rate; the judges pass {row['raw_rate']:.0%}, rightly or not."
    judges = "By majority, the judges" if row["method"] == ELSEWHERE else "The judges"
    return (
        f"{row['pass_rate']:.0%} of {items} truly pass ({100 * row['low']:.0f} to {100 * row['high']:.0f}). {judges} "
        f"pass {row['raw_rate']:.0%}."
    )


def _why(row: dict[str, Any]) -> str:
    """Say what is wrong with the judges' own rate."""
    if row["pass_rate"] is None:
        return ""
    of = "" if row["system"] is None else f" of {row['system']}"
    shares = [
        f"{row[name]:.0%} of the items that {what}"
        for name, what in (("passed_of_good", "truly pass"), ("passed_of_bad", "do not"))
        if row[name] is not None
    ]
    off = 100 * (row["raw_rate"] - row["pass_rate"])
    wrong = f"so their own rate is about {abs(off):.0f} points too {'high' if off > 0 else 'low'}"
    cancel = "which nearly cancels out in their own rate"
    said = f"On the gold{of}, judges pass {' and '.join(shares)}, {wrong if abs(off) >= 0.5 else cancel}."
    if row["method"] == GOLD_ONLY and row["explained"] < LEAST_EXPLAINED:
        varies = row["gold_rate"] not in (0.0, 1.0) and row["passed_of_good"] != row["passed_of_bad"]
        said += (
            f" Their verdicts say too little about the truth (R2 is {row['explained']:.2f}, and 1 if they are always "
            "right) to help, so the rate is by gold alone."
            if varies
            else " That does not tell how far verdicts and truth go together, so the rate is by gold alone."
        )
    elif row["method"] == GOLD_ONLY:
        said += f" With fewer than {FEWEST_GOLD} gold items, the rate is by gold alone."
    return said


def _difference_of(row: dict[str, Any]) -> str:
    prompts = "the same prompts" if row["same_prompts"] else "gold of different prompts"
    clear = row["low"] > 0 or row["high"] < 0
    if abs(row["difference"]) < 0.005 and not clear:
        return (
            f"{row['a']} and {row['b']} pass about equally often: the difference is 0 points "
            f"({100 * row['low']:.0f} to {100 * row['high']:.0f}), on {prompts}; by the judges alone it would be "
            f"{100 * row['raw_difference']:+.0f}."
        )
    a, b, value, ends = row["a"], row["b"], row["difference"], (row["low"], row["high"])
    if value < 0:
        a, b, value, ends = b, a, -value, (-ends[1], -ends[0])
    raw = row["raw_difference"] if a == row["a"] else -row["raw_difference"]
    is_, points = "is" if clear else "may be", several(round(100 * value), "point", "points")
    return (
        f"{a} {is_} better than {b} by {points} ({100 * ends[0]:.0f} to {100 * ends[1]:.0f}), on "
        f"{prompts}; by the judges alone it would be {100 * raw:+.0f}."
    )


def nothing(judged: Judged, share: Array) -> RateResult:
    """Return what can be said without gold: the raw rates, and how much gold is needed."""
    empty = np.zeros(0)
    samples = [
        Sample(float(share[judged.system == code].mean()), int((judged.system == code).sum()), empty, empty)
        for code in range(len(judged.systems))
    ]
    needed = [
        (name, gold, width(gold, one.items, 0.5, _GOOD_JUDGES), width(gold, one.items))
        for name, one in zip(judged.systems, samples, strict=True)
        for gold in _LADDER
        if gold <= one.items
    ]
    nobody: list[Estimate | None] = [None] * len(samples)
    return _result(judged, samples, nobody, [], needed, judged.labels.cautions, ())


def make_result(
    judged: Judged,
    samples: Sequence[Sample],
    estimates: Sequence[Estimate | None],
    differences: Sequence[tuple[int, int, Estimate, int, int, bool]],
    cautions: Sequence[Caution],
    remarks: Sequence[str],
    *,
    these_items: bool,
) -> RateResult:
    """Return the estimates as tables."""
    needed = []
    for name, sample, found in zip(judged.systems, samples, estimates, strict=True):
        if found is None or found.method == ELSEWHERE:
            continue
        explained = found.explained if found.weight else 0.0
        more = [gold for gold in _LADDER if len(sample.truth) < gold <= sample.items][:3]
        needed += [
            (
                name,
                gold,
                width(gold, sample.items, found.value, explained),
                width(gold, sample.items, found.value),
            )
            for gold in more
        ]
    return _result(judged, samples, estimates, differences, needed if not these_items else [], cautions, remarks)


def _result(
    judged: Judged,
    samples: Sequence[Sample],
    estimates: Sequence[Estimate | None],
    differences: Sequence[tuple[int, int, Estimate, int, int, bool]],
    needed: Sequence[tuple[Any, int, float, float]],
    cautions: Sequence[Caution],
    remarks: Sequence[str],
) -> RateResult:
    rows = [_row(sample, found) for sample, found in zip(samples, estimates, strict=True)]
    systems = pl.DataFrame(rows, schema=_SYSTEMS, orient="row").insert_column(0, judged.systems.alias("system"))
    pairs = [
        (
            found.value,
            found.error,
            found.low,
            found.high,
            samples[a].mean - samples[b].mean,
            same,
            items,
            gold,
            found.method,
        )
        for a, b, found, items, gold, same in differences
    ]
    table = pl.DataFrame(pairs, schema=_DIFFERENCES, orient="row")
    table.insert_column(0, judged.systems.gather([a for a, *_ in differences]).alias("a"))
    table.insert_column(1, judged.systems.gather([b for _, b, *_ in differences]).alias("b"))
    schema: dict[str, Any] = {
        "system": judged.systems.dtype,
        "gold": pl.Int64,
        "width": pl.Float64,
        "width_gold_only": pl.Float64,
    }
    ladder = pl.DataFrame(list(needed), schema=schema, orient="row")
    return RateResult(systems, table, ladder, in_order(cautions), (*judged.remarks(), *remarks))


def _row(sample: Sample, found: Estimate | None) -> tuple[Any, ...]:
    gold = len(sample.truth)
    good = sample.truth > 0
    passed = [float(sample.judged[its].mean()) if its.any() else None for its in (good, ~good)]
    if found is None:
        return (sample.items, gold, *[None] * 5, sample.mean, *[None] * 6)
    if found.method == ELSEWHERE:
        return (sample.items, 0, *found[:4], found.method, sample.mean, *passed, *[None] * 4)
    alone = wilson_of(float(sample.truth.mean()), gold)
    return (sample.items, gold, *found[:4], found.method, sample.mean, *passed, found.explained, *alone)
