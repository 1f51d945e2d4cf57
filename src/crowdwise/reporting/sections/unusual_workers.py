"""Workers worth a look, with the reasons in words. A reason is never a verdict: it may well be an innocent one.

The report's section about workers is the only one to use this: `habits` measures, `unusual_workers` picks, and
`reasons_in_words` says why.
"""

from typing import Any, Final

import numpy as np
import polars as pl

from ... import kernels
from ...analysis.evaluation import wilson
from ...data.labels import Labels
from ...results.result import Result
from ..cells import names_as_text

# Fewer labels than this say nothing about a worker.
_FEW: Final = 5
# Fewer than this do not tell guessing from bad luck.
_ENOUGH: Final = 10
# One class only is worth a word if that would be less likely than this for somebody who looks at the items.
_UNLIKELY: Final = 0.01


def habits(labels: Labels, result: Result) -> pl.DataFrame:
    """One row per worker with labels: how good, how far in line with the others, and what guessing would give.

    Guessing means naming each class as often as the worker does, without a look at the item.

    Returns:
        A table with these columns. code, worker: the worker's number and name. labels: how many it gave. quality, low,
        high: how good it is, with the method's interval, null where the method has none. least, most: the ends of that
        interval, and where there is none, of the interval of its agreement with the answers. agreement: how often it
        says the answer. compared, others: how many comparisons with other workers there are, and how often those say
        the same. distinct, usual: how many classes it ever said, and the number of the one it says most often.
        guessed_answers, guessed_others: what agreement with the answers, and with others, guessing would give.
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
    """The workers worth a look: those with most reasons and then most labels first.

    Args:
        table: What `habits` gives.
        classes: The names of the classes; with a single one, nobody can be unusual.

    Returns:
        The rows of these workers, with a column of booleans for each reason: always, guessing, alone, few.
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
    worth = flagged.filter(pl.any_horizontal("always", "guessing", "alone", "few") & (len(classes) > 1))
    return worth.sort(reasons, labels, "code", descending=[True, True, False])


def reasons_in_words(row: dict[str, Any], usual: str) -> list[str]:
    """The reasons why a worker is worth a look, a sentence each.

    Args:
        row: A row of what `unusual_workers` gives.
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
