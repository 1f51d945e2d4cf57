"""`unusual_workers`: workers who are worth a look, and why, in words and numbers.

A reason does not mean that a worker is bad: there may be a harmless explanation. Every reason is about what the other
workers say, never about the worker's own votes; and all limits are such that fewer than one in twenty crowds of honest
workers has somebody with a reason, however many workers there are.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from .. import kernels
from ..data.crowd import Crowd
from ..data.labels import Labels
from ..kernels import Array
from ..results.intervals import wilson
from ..results.result import Result
from .blocks import Block
from .haste import hasty, with_pace
from .pairing import same_labels

# In crowds of more labels than this, workers are looked at only if that is asked for: it takes a second or more.
_MOST_LABELS: Final = 2_000_000
# A worker with fewer labels than this cannot be judged.
_FEW: Final = 5
# With fewer labels than this, guessing cannot be distinguished from bad luck.
_ENOUGH: Final = 10
# The share of honest crowds in which anybody may have one of these reasons, by chance.
_UNLIKELY: Final = 0.02
# A worker says nearly always the same if it says it so often, also where most others say something else.
_NEARLY_ALWAYS: Final = 0.9
_ALSO_AGAINST_OTHERS: Final = 0.8
# A worker is far below the others if it errs twice as often, or if this much is between them.
_FAR: Final = 0.25
# The standard deviation of a normal distribution, divided by the median of the distances from the median.
_SCALE: Final = 1.4826
# The ends of a 95 % interval are so many standard deviations apart.
_ENDS: Final = 3.92
# The columns of `find_unusual` that are reasons, the most telling first.
REASONS: Final = ("copies", "always", "guessing", "hasty", "below", "alone")


def habits(result: Result, labels: Labels) -> pl.DataFrame:
    """Measure every worker who has labels.

    Guessing means to say each class as often as the worker does, but without looking at the items.

    Returns:
        One row per worker with these columns. code, worker: its position among the names, and its name. labels: the
        number of its votes. quality, low, high: its quality and the ends of the interval; null if the method has no
        interval. least, most: the ends of the interval by which workers are compared with each other, or, if the method
        has none, of an interval of the agreement.
        agreement: the share of its votes that name the answer. compared: the number of its labels on items that others
        labelled too. others: on these items, the mean share of other labels that say the same. usual: the code of the
        class that it says most often, and usual_times how often. guessed_answers, guessed_others: the agreement with
        the answers, and with other workers, that guessing would give. judged, with_most: on how many items most others
        name one class, and on how many of these the worker says the same. against, against_usual: on how many items
        most others name another class than the usual one, and on how many of these the worker says the usual one.
        against_rate: how often other workers say that class on such items. seconds, timed, noise: see `with_pace`.
    """
    compared, agreed = kernels.agreements_with_others(
        labels.item_starts, labels.workers, labels.labels, labels.n_workers, labels.n_classes
    )
    counts = pl.DataFrame({"code": labels.workers, "class": labels.labels}).group_by("code", "class").len()
    named = counts["class"].to_numpy()
    answers = np.bincount(result.answers, minlength=labels.n_classes) / labels.n_items
    said = np.bincount(labels.labels, minlength=labels.n_classes) / labels.n_labels
    part = pl.col("len") / pl.col("len").sum()
    spoken = counts.with_columns(answers=pl.Series(answers[named]), said=pl.Series(said[named])).group_by("code")
    guesses = spoken.agg(
        usual=pl.col("class").sort_by("len", "class", descending=[True, False]).first(),
        usual_times=pl.col("len").max(),
        guessed_answers=(part * pl.col("answers")).sum(),
        guessed_others=(part * pl.col("said")).sum(),
    )
    quality = result.quality
    given = result.worker_votes
    if quality.each_alone is None:
        least, most = wilson(result.agreement * given, given)[1:]
    else:
        least, most = quality.each_alone
    absent = pl.Series([None] * labels.n_workers, dtype=pl.Float64)
    table = pl.DataFrame(
        {
            "code": np.arange(labels.n_workers, dtype=np.int32),
            "worker": labels.names.workers,
            "labels": given,
            "quality": quality.value,
            "low": absent if quality.low is None else quality.low,
            "high": absent if quality.high is None else quality.high,
            "least": least,
            "most": most,
            "agreement": result.agreement,
            "compared": compared,
            "others": agreed / np.maximum(compared, 1),
        }
    )
    table = table.join(guesses, on="code", how="inner", maintain_order="left")
    table = table.join(_against_others(labels, table), on="code", how="left", maintain_order="left")
    return with_pace(table, labels)


def _against_others(labels: Labels, table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `habits` about what most others say, and the code of each worker."""
    others = kernels.said_by_others(labels.item_starts, labels.labels, labels.n_classes)
    usual = np.zeros(labels.n_workers, np.int64)
    usual[table["code"].to_numpy()] = table["usual"].to_numpy()
    judged = others >= 0
    # How often each class is said where most others name another one, by all workers together.
    cases = np.bincount(others[judged], minlength=labels.n_classes)
    wrongly = np.bincount(labels.labels[judged & (others != labels.labels)], minlength=labels.n_classes)
    against = judged & (others != usual[labels.workers])
    counted = [
        np.bincount(labels.workers[case], minlength=labels.n_workers)
        for case in (judged, others == labels.labels, against, against & (labels.labels == usual[labels.workers]))
    ]
    rest = np.maximum(cases.sum() - cases[usual] - counted[2], 1)
    rate = np.clip((wrongly[usual] - counted[3]) / rest, 0, 1)
    names = ("judged", "with_most", "against", "against_usual")
    return pl.DataFrame(
        {
            "code": np.arange(labels.n_workers, dtype=np.int32),
            **dict(zip(names, counted, strict=True)),
            "against_rate": rate,
        }
    )


def find_unusual(table: pl.DataFrame, n_classes: int, dependent: Sequence[Block] = ()) -> pl.DataFrame:
    """Select the unusual workers; those with the most reasons are first, and of those the ones with the most labels.

    Args:
        table: The table that `habits` returns.
        n_classes: The number of classes; if there is only one, no worker is unusual.
        dependent: The blocks of workers who are not independent, if they were looked for.

    Returns:
        The rows of these workers, with a column of booleans for each reason. copies: it says the same as others.
        always: it says nearly always the same class. guessing: it is not better than guessing. hasty: it answers much
        faster than the others. below: it is far below the others. alone: it disagrees with the others more often than
        by chance. few: it has very few labels. The column twins names those whom it copies.
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
    guessing = (labels >= _ENOUGH) & (columns["least"] <= columns["guessed_answers"]) & behind
    below = _far_below(columns["with_most"], columns["judged"], far) & ~guessing
    chance, compared = columns["guessed_others"], columns["compared"]
    alone = (compared >= _ENOUGH) & (
        columns["others"] < chance - far * np.sqrt(chance * (1 - chance) / np.maximum(compared, 1))
    )
    twins = _twins(table["worker"], dependent)
    flagged = table.with_columns(
        pl.Series("copies", [bool(one) for one in twins]),
        pl.Series("always", always),
        pl.Series("guessing", guessing),
        pl.Series("hasty", hasty(columns["seconds"], columns["timed"], columns["noise"])),
        pl.Series("below", below),
        pl.Series("alone", alone),
        pl.Series("few", labels < _FEW),
        pl.Series("twins", twins, dtype=pl.String),
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

    Shares are compared on the scale of 2 arcsin(sqrt(p)), on which the variance of n cases is about 1 / n. How much
    honest workers differ is estimated by the median of the distances, which a few bad ones do not move.
    """
    known = judged >= _ENOUGH
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
    unlikely = (middle - height) / np.sqrt(variance * uncertain**2 + noise) > far
    typical = np.median(share[known])
    below: Array = known & unlikely & ((1 - share > 2 * (1 - typical)) | (share < typical - _FAR))
    return below


def _twins(workers: pl.Series, dependent: Sequence[Block]) -> list[str]:
    """Return for each worker whom it copies, in words; empty for nobody."""
    found: dict[Any, str] = {}
    for block in dependent:
        if block.are_copies:
            names = block.members["worker"].to_list()
            for row in block.members.iter_rows(named=True):
                others = [str(name) for name in names if name != row["worker"]]
                listed = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
                found[row["worker"]] = (
                    f"Says the same as {listed}: {row['agreement']:.0%} of the labels on the same items are equal, and "
                    f"independent workers who are as good would agree {row['expected']:.0%} of the time."
                )
    return [found.get(name, "") for name in workers.to_list()]


def reasons_in_words(row: dict[str, Any], usual: str) -> list[str]:
    """Return the reasons why a worker is unusual, one sentence for each.

    Args:
        row: A row of the table that `find_unusual` returns.
        usual: The name of the class that the worker says most often.
    """
    reasons = []
    if row["copies"]:
        reasons.append(row["twins"])
    if row["always"]:
        reasons.append(
            f"Nearly always the same answer: said {usual} {row['usual_times']:,} of {row['labels']:,} times, and on "
            f"{row['against_usual']:,} of the {row['against']:,} items on which most others say something else; other "
            f"workers do that {row['against_rate']:.0%} of the time."
        )
    if row["guessing"]:
        # The interval is that of the table of workers, so that nobody reads two about one worker. What decided is the
        # narrower one, from `least` to `most`.
        ends = "" if row["low"] is None else f" ({row['low']:.0%} to {row['high']:.0%})"
        reasons.append(
            f"No better than chance, as far as can be seen: right about {row['quality']:.0%} of the time{ends}; "
            f"guessing would give {row['guessed_answers']:.0%}."
        )
    if row["hasty"]:
        reasons.append(
            f"Answers at once: takes {row['seconds']:.1f} seconds or less for half of its {row['timed']:,} labels with "
            f"a time; the median worker takes {row['typical_seconds']:.1f} seconds."
        )
    if row["below"]:
        reasons.append(
            f"Far below the others: says the same as most others on {row['with_most']:,} of {row['judged']:,} items "
            f"({row['with_most'] / max(row['judged'], 1):.0%}); half of the workers reach {row['typical']:.0%}."
        )
    if row["alone"]:
        reasons.append(
            f"Disagrees with everyone: others say the same about an item {row['others']:.0%} of the time; guessing "
            f"would give {row['guessed_others']:.0%}."
        )
    if row["few"]:
        reasons.append(f"Very few labels: {row['labels']:,}, too few to judge.")
    return reasons


def unusual_workers(result: Result, labels: Labels, dependent: Sequence[Block] = ()) -> pl.DataFrame:
    """Return the workers who are worth a look, and why: worker and reasons, a text of sentences.

    Args:
        result: The result of a method.
        labels: The labels that the method was fitted to.
        dependent: The blocks of workers who are not independent, if they were looked for.
    """
    labels = same_labels(result, labels)
    return in_words(find_unusual(habits(result, labels), labels.n_classes, dependent), labels.names.classes)


def in_words(found: pl.DataFrame, classes: pl.Series) -> pl.DataFrame:
    """Return what `unusual_workers` does, given the rows of `find_unusual` and the names of the classes."""
    told = [" ".join(reasons_in_words(row, repr(classes[row["usual"]]))) for row in found.iter_rows(named=True)]
    return found.select("worker").with_columns(pl.Series("reasons", told, dtype=pl.String))


def are_looked_at(labels: Crowd) -> bool:
    """Return whether workers are looked at unasked: those of labels in memory that name one class, and are not many."""
    return isinstance(labels, Labels) and not labels.set_valued and labels.n_labels <= _MOST_LABELS
