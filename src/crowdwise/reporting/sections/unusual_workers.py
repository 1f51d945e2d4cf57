"""Finds unusual workers and says in words why they are unusual, for the section "Workers".

`habits` measures the workers, `unusual_workers` selects some of them, and `reasons_in_words` gives the reasons. A
reason does not mean that a worker is bad: there may be a harmless explanation.
"""

from typing import Any, Final

import numpy as np
import polars as pl

from ... import kernels
from ...analysis.evaluation import wilson
from ...data.labels import Labels
from ...results.result import Result
from ..cells import names_as_text

# A worker with fewer labels than this cannot be judged.
_FEW: Final = 5
# With fewer labels than this, guessing cannot be distinguished from bad luck.
_ENOUGH: Final = 10
# A worker who always says the same class is unusual if the probability of that would be less than this for an honest
# worker.
_UNLIKELY: Final = 0.01


def habits(labels: Labels, result: Result) -> pl.DataFrame:
    """Measure every worker who has labels: its quality, its agreement, and the agreement that guessing would give.

    Guessing means to say each class as often as the worker does, but without looking at the items.

    Returns:
        One row per worker with these columns. code, worker: its position among the names, and its name. labels: the
        number of its votes. quality, low, high: its quality and the ends of the interval; null if the method has no
        interval. least, most: the ends of that interval, or, if the method has none, of an interval of the agreement.
        agreement: the share of its votes that name the answer. compared: the number of its labels on items that others
        labelled too. others: on these items, the mean share of other labels that say the same. distinct: the number of
        classes that it ever said. usual: the code of the class that it says most often. guessed_answers,
        guessed_others: the agreement with the answers, and with other workers, that guessing would give.
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
    usual = pl.col("class").sort_by("len", "class", descending=[True, False]).first()
    guesses = spoken.agg(
        distinct=pl.len(),
        usual=usual,
        guessed_answers=(part * pl.col("answers")).sum(),
        guessed_others=(part * pl.col("said")).sum(),
    )
    quality = result.quality
    given = result.worker_votes
    if quality.low is None or quality.high is None:
        least, most = wilson(result.agreement * given, given)[1:]
    else:
        least, most = quality.low, quality.high
    absent = pl.Series([None] * labels.n_workers, dtype=pl.Float64)
    table = pl.DataFrame(
        {
            "code": np.arange(labels.n_workers, dtype=np.int32),
            "worker": names_as_text(labels.names.workers),
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
    return table.join(guesses, on="code", how="inner", maintain_order="left")


def unusual_workers(table: pl.DataFrame, classes: pl.Series) -> pl.DataFrame:
    """Select the unusual workers; those with the most reasons are first, and of those the ones with the most labels.

    Args:
        table: The table that `habits` returns.
        classes: The names of the classes; if there is only one class, no worker is unusual.

    Returns:
        The rows of these workers, with a column of booleans for each reason. always: it always says the same class.
        guessing: it is not better than guessing. alone: it disagrees with the others. few: it has very few labels.
    """
    labels, guessed = pl.col("labels"), pl.col("guessed_answers")
    compared, by_chance = pl.col("compared"), pl.col("guessed_others")
    flagged = table.with_columns(
        always=(labels >= _FEW) & (pl.col("distinct") == 1) & (pl.col("agreement") ** labels < _UNLIKELY),
        guessing=(labels >= _ENOUGH) & (pl.col("least") <= guessed) & (pl.col("most") < pl.col("quality").median()),
        alone=(compared >= _ENOUGH)
        & (pl.col("others") < by_chance - 2 * (by_chance * (1 - by_chance) / compared).sqrt()),
        few=labels < _FEW,
    )
    reasons = pl.sum_horizontal("always", "guessing", "alone")
    unusual = flagged.filter(pl.any_horizontal("always", "guessing", "alone", "few") & (len(classes) > 1))
    return unusual.sort(reasons, labels, "code", descending=[True, True, False])


def reasons_in_words(row: dict[str, Any], usual: str) -> list[str]:
    """Return the reasons why a worker is unusual, one sentence for each.

    Args:
        row: A row of the table that `unusual_workers` returns.
        usual: The name of the class that the worker says most often.
    """
    reasons = []
    if row["always"]:
        reasons.append(
            f"Always the same answer: said {usual} all {row['labels']:,} times; it is the answer to "
            f"{row['agreement']:.0%} of these items."
        )
    if row["guessing"]:
        reasons.append(
            f"No better than chance: right about {row['quality']:.0%} of the time ({row['least']:.0%} to "
            f"{row['most']:.0%}); guessing would give {row['guessed_answers']:.0%}."
        )
    if row["alone"]:
        reasons.append(
            f"Disagrees with everyone: others say the same about an item {row['others']:.0%} of the time; guessing "
            f"would give {row['guessed_others']:.0%}."
        )
    if row["few"]:
        reasons.append(f"Very few labels: {row['labels']:,}, too few to judge.")
    return reasons
