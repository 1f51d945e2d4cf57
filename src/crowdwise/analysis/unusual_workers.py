"""`unusual_workers`: workers who are worth a look, and why, in words and numbers.

A reason does not mean that a worker is bad: there may be a harmless explanation. Every reason is about what the other
workers say, never about the worker's own votes; and all limits are such that fewer than one in twenty crowds of honest
workers has somebody with a reason, however many workers there are.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..caution import listed
from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..families.dependence.pairs import pairs_refusal
from ..numerics import Array
from ..results.result import Result
from .blocks import Block, blocks
from .habits import ENOUGH, habits
from .haste import hasty
from .pairing import same_labels

# In crowds of more labels than this, workers are looked at only if that is asked for: it takes a second or more.
_MOST_LABELS: Final = 2_000_000
# A worker with fewer labels than this cannot be judged.
_FEW: Final = 5
# The share of honest crowds in which anybody may have one of these reasons, by chance.
_UNLIKELY: Final = 0.02
# A worker says nearly always the same if it says it so often, also where most others say something else.
_NEARLY_ALWAYS: Final = 0.9
_ALSO_AGAINST_OTHERS: Final = 0.8
# A worker is far below the others if it errs twice as often and few others do, or if this much is between them.
_FAR: Final = 0.25
# How often a worker who is no worse than others may take one class for another, at least; and by chance, which share of
# workers who do it every second time may seem to do it more often than not.
_ERRING: Final = 0.1
_DOUBTFUL: Final = 0.05
# The standard deviation of a normal distribution, divided by the median of the distances from the median.
_SCALE: Final = 1.4826
# The ends of a 95 % interval are so many standard deviations apart.
_ENDS: Final = 3.92
# The columns of `find_unusual` that are reasons, the most telling first.
REASONS: Final = ("block", "always", "guessing", "hasty", "below", "takes", "alone")


def find_unusual(table: pl.DataFrame, n_classes: int, dependent: Sequence[Block] = ()) -> pl.DataFrame:
    """Select the unusual workers; those with the most reasons are first, and of those the ones with the most labels.

    Args:
        table: The table that `habits` returns.
        n_classes: The number of classes; if there is only one, no worker is unusual.
        dependent: The blocks of workers who are not independent, if they were looked for.

    Returns:
        The rows of these workers, with a column of booleans for each reason. block: it agrees with others too often.
        always: it says nearly always the same class. guessing: it is not better than guessing. hasty: it answers much
        faster than the others. below: it is far below the others. takes: it takes a class for another one. alone: it
        disagrees with the others more often than by chance. few: it has very few labels. The columns twins and
        agrees say with whom the members of blocks agree, and how often.
    """
    from scipy import special  # slow to import

    limit = _UNLIKELY / max(table.height, 1)
    far = float(-special.ndtri(limit))
    measured = table.select(pl.selectors.numeric() - pl.selectors.by_name("worker"))
    columns = {name: measured[name].to_numpy().astype(float) for name in measured.columns}
    labels, against, rate = columns["labels"], columns["against"], columns["against_rate"]
    times = columns["against_usual"]
    # The probability that somebody says it so often who says it as often as others do there, or every second time.
    always_by_chance = special.betainc(np.maximum(times, 1), against - times + 1, np.maximum(rate, 0.5))
    always = (
        (columns["usual_times"] >= _NEARLY_ALWAYS * labels)
        & (times >= _ALSO_AGAINST_OTHERS * np.maximum(against, 1))
        & (np.where(times > 0, always_by_chance, 1.0) < limit)
    )
    spread = np.maximum((columns["most"] - columns["least"]) / _ENDS, 1e-9)
    behind = (np.median(columns["quality"]) - columns["quality"]) / spread > far
    guessing = (labels >= ENOUGH) & (columns["least"] <= columns["guessed_answers"]) & behind
    below = _far_below(columns["with_most"], columns["judged"], far) & ~guessing
    chance, compared = columns["guessed_others"], columns["compared"]
    alone = (compared >= ENOUGH) & (
        columns["others"] < chance - far * np.sqrt(chance * (1 - chance) / np.maximum(compared, 1))
    )
    taken, cases = np.nan_to_num(columns["taken_times"]), np.nan_to_num(columns["taken_of"])
    usually = np.nan_to_num(columns["taken_rate"])
    # More often than every second time, and far more often than the others, not by chance.
    above, places = np.maximum(taken, 1), np.maximum(cases - taken, 0) + 1
    takes = (taken > 0) & (special.betainc(above, places, 0.5) < _DOUBTFUL)
    takes &= special.betainc(above, places, np.maximum(usually, _ERRING)) < limit / n_classes
    takes &= ~(always & (columns["taken_for"] == columns["usual"]))  # which says it already
    blocks = _blocks(table["worker"], dependent)
    flagged = table.with_columns(
        pl.Series("block", [one is not None for one in blocks]),
        pl.Series("always", always),
        pl.Series("guessing", guessing),
        pl.Series("hasty", hasty(columns["seconds"], columns["timed"], columns["noise"])),
        pl.Series("below", below),
        pl.Series("takes", takes),
        pl.Series("alone", alone),
        pl.Series("few", labels < _FEW),
        pl.Series("twins", ["" if one is None else one[0] for one in blocks], dtype=pl.String),
        pl.Series("agrees", ["" if one is None else one[1] for one in blocks], dtype=pl.String),
    )
    unusual = flagged.filter(pl.any_horizontal(*REASONS, "few") & (n_classes > 1))
    return unusual.sort(
        pl.sum_horizontal(REASONS), pl.col("labels"), pl.col("code"), descending=[True, True, False]
    ).with_columns(
        pl.lit(float(np.median(columns["with_most"] / np.maximum(columns["judged"], 1)))).alias("typical"),
        pl.lit(table["seconds"].median(), pl.Float64).alias("typical_seconds"),
    )


def _far_below(agreed: Array, judged: Array, far: float) -> Array:
    """Return whose share of agreement with most others is far below the usual, as far as chance goes.

    Shares are compared on the scale of 2 arcsin(sqrt(p)), on which the variance of n cases is about 1 / n. Twice as
    many errors are far if honest workers rarely differ so much: that is estimated by the median of the distances,
    which a few bad ones do not move. A distance of 25 points is far however much the workers differ.
    """
    known = judged >= ENOUGH
    if known.sum() < 4:  # nobody can be far from so few
        return np.zeros(len(judged), bool)
    share = np.clip((agreed + 0.5) / (judged + 1), 0, 1)
    height = 2 * np.arcsin(np.sqrt(share))
    noise = 1 / (judged + 1)
    middle = np.median(height[known])
    scale = _SCALE * np.median(np.abs(height - middle)[known])
    variance = np.maximum(scale**2 - np.median(noise[known]), 0)
    # The scale is itself uncertain if there are few workers.
    uncertain = 1 + 4 / known.sum()
    behind = middle - height
    rare = behind > far * np.sqrt(variance * uncertain**2 + noise)
    typical = np.median(share[known])
    twice = rare & (1 - share > 2 * (1 - typical))
    below: Array = known & (twice | ((behind > far * np.sqrt(noise)) & (share < typical - _FAR)))
    return below


def _blocks(workers: pl.Series, dependent: Sequence[Block]) -> list[tuple[str, str] | None]:
    """Return for each worker with whom it agrees too often, and how often, in words; None if it is in no block."""
    found: dict[Any, tuple[str, str]] = {}
    for block in dependent:
        names = block.members["worker"].to_list()
        verb = "Says the same as" if block.are_copies else "Agrees too often with"
        for row in block.members.iter_rows(named=True):
            found[row["worker"]] = (
                f"{verb} {listed(name for name in names if name != row['worker'])}",
                f"{row['agreement']:.0%} of the labels on the same items are equal, and independent workers who are as "
                f"good would agree {row['expected']:.0%} of the time.",
            )
    return [found.get(name) for name in workers.to_list()]


class Reason(NamedTuple):
    """Why a worker is worth a look: in short, and the numbers; `str` gives both as one sentence."""

    short: str
    details: str

    def __str__(self) -> str:
        return f"{self.short}: {self.details}"


def reasons_in_words(row: dict[str, Any], name_of: Callable[[int], str]) -> list[Reason]:
    """Return the reasons why a worker is unusual.

    Args:
        row: A row of the table that `find_unusual` returns.
        name_of: Gives the name of a class, in words, for its code.
    """
    reasons = []
    if row["block"]:
        reasons.append(Reason(row["twins"], row["agrees"]))
    if row["always"]:
        details = (
            f"said {name_of(row['usual'])} {row['usual_times']:,} of {row['labels']:,} times, and on "
            f"{row['against_usual']:,} of the {row['against']:,} items on which most others say something else; other "
            f"workers do that {row['against_rate']:.0%} of the time."
        )
        reasons.append(Reason("Nearly always the same answer", details))
    if row["guessing"]:
        # The interval is that of the table of workers, so that nobody reads two about one worker. What decided is the
        # narrower one, from `least` to `most`.
        ends = "" if row["low"] is None else f" ({row['low']:.0%} to {row['high']:.0%})"
        details = (
            f"right about {row['quality']:.0%} of the time{ends}; guessing would give {row['guessed_answers']:.0%}."
        )
        reasons.append(Reason("No better than chance, as far as can be seen", details))
    if row["hasty"]:
        details = (
            f"takes {row['seconds']:.1f} seconds or less for half of its {row['timed']:,} labels with a time; the "
            f"median worker takes {row['typical_seconds']:.1f} seconds."
        )
        reasons.append(Reason("Answers at once", details))
    if row["below"]:
        details = (
            f"says the same as most others on {row['with_most']:,} of {row['judged']:,} items "
            f"({row['with_most'] / max(row['judged'], 1):.0%}); half of the workers reach {row['typical']:.0%}."
        )
        reasons.append(Reason("Far below the others", details))
    if row["takes"]:
        taken, instead = name_of(row["taken"]), name_of(row["taken_for"])
        details = (
            f"said {instead} on {row['taken_times']:,} of the {row['taken_of']:,} items that most others call {taken}; "
            f"other workers do that {row['taken_rate']:.0%} of the time."
        )
        reasons.append(Reason(f"Takes {taken} for {instead}", details))
    if row["alone"]:
        details = (
            f"others say the same about an item {row['others']:.0%} of the time; guessing would give "
            f"{row['guessed_others']:.0%}."
        )
        reasons.append(Reason("Disagrees with everyone", details))
    if row["few"]:
        reasons.append(Reason("Very few labels", f"{row['labels']:,}, too few to judge."))
    return reasons


def unusual_workers(result: Result, labels: Labels, dependent: Sequence[Block] | None = None) -> pl.DataFrame:
    """Return a table of the workers who are worth a look, with the reasons in sentences.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        dependent: The blocks of workers who are not independent; None to look for them, if workers can be compared.
    """
    labels = same_labels(result, labels)
    if dependent is None:
        cannot = labels.set_valued or pairs_refusal(labels.n_workers, labels.n_classes)
        dependent = () if cannot else blocks(labels).blocks
    return in_words(find_unusual(habits(result, labels), labels.n_classes, dependent), labels.names.classes)


def in_words(found: pl.DataFrame, classes: pl.Series, *, short: bool = False) -> pl.DataFrame:
    """Return what `unusual_workers` does, given the rows of `find_unusual` and the names of the classes.

    With `short`, the reasons have no numbers.
    """
    told = []
    for row in found.iter_rows(named=True):
        reasons = reasons_in_words(row, lambda code: repr(classes[code]))
        told.append("; ".join(one.short for one in reasons) if short else " ".join(map(str, reasons)))
    return found.select("worker").with_columns(pl.Series("reasons", told, dtype=pl.String))


def are_looked_at(labels: Crowd) -> bool:
    """Return whether workers are looked at unasked: those of labels in memory that name one class, and are not many."""
    return isinstance(labels, Labels) and not labels.set_valued and labels.n_labels <= _MOST_LABELS
