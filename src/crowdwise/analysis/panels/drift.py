"""How judges change: each now against what a history says about before, and by month, week or another period.

Judges are many, so that one of them changes by chance: p-values are corrected by Holm's method (1979), by which the
chance that any unchanged judge is marked is at most 5 %.
"""

from typing import Any, Final

import numpy as np
import polars as pl

from ...caution import listed
from ...crowd.ids import codes_of
from ...crowd.names import Names
from ...crowd.reading_report import several
from ...errors import DataError
from ...numerics import Array
from ...results.history import LABEL_COUNTS, History
from ...results.intervals import NORMAL, wilson
from ...results.result import Result

# The chance that any unchanged judge is marked.
_LEVEL: Final = 0.05
# A judge is compared over periods in which it has so many votes.
_LEAST_VOTES: Final = 10
# The most judges that sentences name.
_MOST_NAMED: Final = 5
# Half of all normal deviates are below this; it takes so many judges to say that they change more than by chance.
_MEDIAN: Final = 0.6745
_LEAST_JUDGES: Final = 4
BOTH: Final = "both"
NEW: Final = "new"
GONE: Final = "gone"
# How periods are cut and written.
PERIODS: Final = {"day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}


def holm(p: Array) -> Array:
    """Return p-values that are corrected for their number; NaN stays, and does not count.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    corrected = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * (len(order) - np.arange(len(order)))), 1.0)
    return corrected


def drift(alone: Result, history: History) -> pl.DataFrame:
    """Return one row per judge, of these labels and of the history: how good it is now, and how good it was.

    Columns: judge; votes and votes_before; quality and quality_before (how often it is right, as far as the panel can
    tell); change, low and high (a 95 % interval); p; agreement and agreement_before (how often it says what the panel
    does), with agreement_change, agreement_low, agreement_high and agreement_p; status ("both", "new" or "gone");
    changed. All p are corrected together by Holm's method; a judge changed if one of its two is below 5 %. What is not
    known is null.

    Args:
        alone: The result of these labels, without the history.
        history: What earlier labels taught.
    """
    now = alone.history
    if now is None or LABEL_COUNTS not in now.per_worker or LABEL_COUNTS not in history.per_worker:
        raise DataError("There is nothing to compare: the state does not say how good judges were.")
    history.require_method(now.method)
    mine, before = (_of(one) for one in (now, history))
    names = pl.concat([mine["judge"], before["judge"]]).unique().sort()
    both = pl.DataFrame({"judge": names})
    both = both.join(mine, on="judge", how="left").join(before, on="judge", how="left", suffix="_before")
    quality = _changes(both, "quality", "informative")
    agreement = _changes(both, "agreement", "informative_agreement")
    p = holm(np.concatenate([quality.pop("p"), agreement.pop("p")])).reshape(2, -1)
    status = (
        pl.when(pl.col("votes").is_null())
        .then(pl.lit(GONE))
        .when(pl.col("votes_before").is_null())
        .then(pl.lit(NEW))
        .otherwise(pl.lit(BOTH))
    )
    columns = {**quality, **agreement, "p": p[0], "agreement_p": p[1]}
    found = both.with_columns(pl.Series(name, value).fill_nan(None) for name, value in columns.items())
    return found.select(
        "judge",
        "votes",
        "votes_before",
        *("quality", "quality_before", *quality, "p"),
        *("agreement", "agreement_before", *agreement, "agreement_p"),
        status=status,
        changed=((pl.col("p") < _LEVEL) | (pl.col("agreement_p") < _LEVEL)).fill_null(False),
    )


def _changes(both: pl.DataFrame, name: str, size: str) -> dict[str, Array]:
    """Return how much a share changed, the ends of a 95 % interval, and p; NaN for judges who are new or gone.

    One right and one wrong label are added to both (Agresti and Caffo, 2000).
    """
    from scipy.special import ndtr  # imported here because importing it takes long

    share, n, share_before, n_before = (
        both[column].to_numpy().astype(float) for column in (name, size, f"{name}_before", f"{size}_before")
    )
    one, other = ((part * count + 1) / (count + 2) for part, count in ((share, n), (share_before, n_before)))
    error = np.sqrt(one * (1 - one) / (n + 2) + other * (1 - other) / (n_before + 2))
    # If judges change more than chance lets them, because items or the panel differ, all intervals are as much wider.
    wide = np.abs(one - other) / error
    known = wide[~np.isnan(wide)]
    error = error * (max(1.0, float(np.median(known)) / _MEDIAN) if len(known) >= _LEAST_JUDGES else 1.0)
    change = share - share_before
    start = "" if name == "quality" else f"{name}_"
    return {
        f"{start}change": change,
        f"{start}low": np.minimum(one - other - NORMAL * error, change),
        f"{start}high": np.maximum(one - other + NORMAL * error, change),
        "p": 2 * (1 - ndtr(np.abs(one - other) / error)),
    }


def _of(history: History) -> pl.DataFrame:
    """Return what a history says about each judge.

    Quality is by calibrated confidence, agreement by what the panel believes if judges err independently; both with how
    many labels they are as good as known of.
    """
    counts = history.per_worker[LABEL_COUNTS]  # (workers, readings, 3)
    given = counts[:, 0, 1]
    table = pl.DataFrame({"judge": history.workers.cast(pl.String), "votes": np.rint(given).astype(np.int64)})
    for name, size, (right, _, informative) in zip(
        ("agreement", "quality"), ("informative_agreement", "informative"), counts.transpose(1, 2, 0), strict=True
    ):
        table = table.with_columns(
            pl.Series(name, right / np.maximum(given, 1e-9)), pl.Series(size, np.maximum(informative, 0.0))
        )
    return table.filter(pl.col("votes") > 0)


def drift_sentences(table: pl.DataFrame) -> list[str]:
    """Return who changed, by how much, and who is new or gone."""
    both = table.filter(pl.col("status") == BOTH)
    said = []
    if both.height:
        changed = both.filter("changed").sort("p", "judge")
        said += [_changed(row) for row in changed.head(_MOST_NAMED).to_dicts()]
        others = both.height - changed.height
        said.append(
            f"{others:,} of {several(both.height, 'judge shows', 'judges show')} no change beyond chance, in how often "
            "they are right or agree (if nobody changed, this would name somebody in at most 5% of panels: Holm's "
            "correction)."
        )
        mean = float(both["change"].mean())  # type: ignore[arg-type]  # a number
        said.append(
            f"On average, judges are right in {abs(100 * mean):.1f} points {'fewer' if mean < 0 else 'more'} of their "
            "votes than before, if the panel is right. "
            "Harder items look like a change of all, and a change that all judges share cannot be seen without truth."
        )
    for status, words in ((NEW, "new"), (GONE, "gone")):
        names = table.filter(pl.col("status") == status)["judge"].to_list()
        if names:
            said.append(f"{words.capitalize()}: {listed(names)}.")
    return said


def _changed(row: dict[str, Any]) -> str:
    """Return how a judge changed, in words: by quality, else by agreement."""
    by_quality = row["p"] is not None and row["p"] < _LEVEL
    start, what = ("", "is right in") if by_quality else ("agreement_", "agrees with the panel in")
    name = "quality" if by_quality else "agreement"
    believed = ", if the panel is right" if by_quality else ""
    change, low, high = (_points(row[f"{start}{end}"]) for end in ("change", "low", "high"))
    return (
        f"{row['judge']} {what} {row[name]:.1%} now and in {row[f'{name}_before']:.1%} before: "
        f"{change} points ({low} to {high}){believed}."
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def by_period(
    rows: pl.DataFrame, moments: pl.Series, period: str, names: Names, others: Array, truth: Array
) -> pl.DataFrame:
    """Return the curve of every judge, and of all together (judge is null), by period.

    Columns: period, judge, votes, agreement, low and high (how often the judge says what the others do, with Wilson's
    95 % interval), and, where true classes are known, accuracy and measured (of how many votes that is).

    Args:
        rows: The columns item, worker and label of every vote.
        moments: The time of every row.
        period: One of `PERIODS`.
        names: The names of items, workers and classes.
        others: (items, workers), the code of what the panel says without the worker; -1 if nothing.
        truth: (items), the code of the true class, -1 if it is not known.
    """
    item, worker = (codes_of(rows[role], getattr(names, f"{role}s")) for role in ("item", "worker"))
    label = names.class_codes(rows["label"])
    known = (item >= 0) & (worker >= 0) & (label >= 0)
    item, worker, label = item[known], worker[known], label[known]
    answer = others[item, worker]
    true_class = truth[item]
    judge = names.workers.cast(pl.String)
    votes = pl.DataFrame(
        {
            "period": _written(moments.filter(pl.Series(known)), period),
            "judge": judge.gather(worker),
            "agrees": pl.Series(np.where(answer >= 0, label == answer, np.nan)).fill_nan(None),
            "right": pl.Series(np.where(true_class >= 0, label == true_class, np.nan)).fill_nan(None),
        }
    )
    measures = [
        pl.len().cast(pl.Int64).alias("votes"),
        pl.col("agrees").sum().alias("agreed"),
        pl.col("agrees").count().alias("compared"),
        pl.col("right").mean().alias("accuracy"),
        pl.col("right").count().cast(pl.Int64).alias("measured"),
    ]
    each = votes.group_by("period", "judge").agg(measures)
    together = votes.group_by("period").agg(measures).with_columns(judge=pl.lit(None, pl.String))
    table = pl.concat([each, together.select(each.columns)]).sort("period", "judge", nulls_last=True)
    share, low, high = wilson(table["agreed"].to_numpy(), table["compared"].to_numpy())
    known_share = pl.col("compared") > 0
    ends = {"agreement": share, "low": low, "high": high}
    table = table.with_columns(pl.Series(name, value) for name, value in ends.items())
    table = table.with_columns(pl.when(known_share).then(pl.col(name)).alias(name) for name in ends)
    measured = ["accuracy", "measured"] if (truth >= 0).any() else []
    return table.select("period", "judge", "votes", "agreement", "low", "high", *measured)


def curve_measure(curve: pl.DataFrame) -> tuple[str, str]:
    """Return the column that judges are compared by from period to period, and the column of its number of votes.

    It is the accuracy where the class of most votes is known, else the agreement.
    """
    if "measured" in curve.columns and 2 * curve["measured"].sum() >= curve["votes"].sum():
        return "accuracy", "measured"
    return "agreement", "votes"


def _written(moments: pl.Series, period: str) -> pl.Series:
    """Return the period of every time: 2024, 2024-Q2, 2024-05, 2024-W20 or 2024-05-31."""
    date = moments.dt.truncate(PERIODS[period])
    if period == "quarter":
        table = pl.DataFrame({"d": date})
        return table.select(pl.format("{}-Q{}", pl.col("d").dt.year(), pl.col("d").dt.quarter())).to_series()
    return date.dt.strftime({"year": "%Y", "month": "%Y-%m", "week": "%G-W%V", "day": "%Y-%m-%d"}[period])


def unsteady(curve: pl.DataFrame) -> pl.DataFrame:
    """Return the judges who change from period to period by more than chance: judge, p and periods.

    It is the chi-square test of equal shares, over periods in which the judge has ten votes or more, corrected by
    Holm's method for the number of judges. What all judges share is taken out: shares are compared with those of all
    judges in the same period.
    """
    from scipy.special import chdtrc  # imported here because importing it takes long

    share, count = curve_measure(curve)
    named = curve.select("period", "judge", share=share, n=count).drop_nulls("share")
    together = named.filter(pl.col("judge").is_null()).select("period", panel="share")
    each = named.filter(pl.col("judge").is_not_null(), pl.col("n") >= _LEAST_VOTES).join(together, on="period")
    judges, p, periods = [], [], []
    for (judge,), rows in each.sort("judge", "period").group_by("judge", maintain_order=True):
        n, mine, panel = (rows[name].to_numpy() for name in ("n", "share", "panel"))
        # The judge is as much above or below all judges in each period, by odds.
        level = np.clip(panel, 0.01, 0.99)
        shift = _shift(n, mine, level)
        expected = 1 / (1 + np.exp(-(np.log(level / (1 - level)) + shift)))
        statistic = float((n * (mine - expected) ** 2 / np.maximum(expected * (1 - expected), 1e-9)).sum())
        judges.append(judge)
        periods.append(len(n))
        p.append(float(chdtrc(len(n) - 1, statistic)) if len(n) > 1 else np.nan)
    kinds = {"judge": pl.String, "p": pl.Float64, "periods": pl.Int64}
    found = pl.DataFrame({"judge": judges, "p": holm(np.array(p, float)), "periods": periods}, schema=kinds)
    return found.filter(pl.col("p").is_not_nan() & (pl.col("p") < _LEVEL)).sort("p", "judge")


def _shift(n: Array, share: Array, level: Array) -> float:
    """Return by how many log odds a judge is above all judges, so that it agrees as often as it does in the sum."""
    from scipy.optimize import brentq  # imported here because importing it takes long

    odds = np.log(level / (1 - level))
    return float(brentq(lambda shift: float((n * (1 / (1 + np.exp(-(odds + shift))) - share)).sum()), -20.0, 20.0))


def curve_sentences(curve: pl.DataFrame, period: str) -> list[str]:
    """Return who is unsteady, and from which period to which what is known."""
    periods = curve["period"].unique().sort().to_list()
    if len(periods) < 2:
        return [f"All votes are of one {period}, {periods[0]}, so there is no curve."]
    said = []
    share, count = curve_measure(curve)
    does = "is right" if share == "accuracy" else "agrees with the others"
    for row in unsteady(curve).head(_MOST_NAMED).to_dicts():
        mine = curve.filter(pl.col("judge") == row["judge"], pl.col(count) >= _LEAST_VOTES).sort(share, "period")
        low, high = mine.row(0, named=True), mine.row(-1, named=True)
        said.append(
            f"{row['judge']} {does} in {low[share]:.1%} of its votes in {low['period']} and in {high[share]:.1%} in "
            f"{high['period']}, which is beyond chance and beyond what all judges share."
        )
    if not said:
        said.append(
            f"No judge changes from {period} to {period} by more than chance and what all judges share ({periods[0]} "
            f"to {periods[-1]}; Holm's correction, 5%)."
        )
    return said
