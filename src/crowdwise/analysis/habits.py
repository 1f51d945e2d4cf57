"""`habits`: what can be measured of every worker: quality, agreement with others, the classes that it prefers."""

from typing import Final

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..crowd.votes import said_by_others
from ..numerics import Array
from ..results.intervals import wilson
from ..results.result import Result
from .agreement import said_alike
from .haste import with_pace

# With fewer labels than this, guessing cannot be distinguished from bad luck.
ENOUGH: Final = 10


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
        against_rate: how often other workers say that class on such items. taken, taken_for, taken_times, taken_of,
        taken_rate: a class that it calls another one in most cases, this other class, how often it does, of how many
        items that most others name so, and how often other workers do; null if there is none, or too few such items.
        seconds, timed, noise: see `with_pace`.
    """
    compared, agreed = _agreement_with_others(labels)
    counts = pl.DataFrame({"code": labels.workers, "class": labels.labels}).group_by("code", "class").len()
    counts = counts.sort("code", "class")  # sums do not depend on the order in which groups are found
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
    others = said_by_others(labels, labels.n_classes)
    for more in (_against_others(labels, others, table), _taken(labels, others)):
        table = table.join(more, on="code", how="left", maintain_order="left")
    return with_pace(table, labels)


def _agreement_with_others(labels: Labels) -> tuple[Array, Array]:
    """(workers), the labels on items that others labelled too, and the sum of the shares of others who say the same."""
    others = np.repeat(np.diff(labels.item_starts), np.diff(labels.item_starts)) - 1
    share = (said_alike(labels) - 1) / np.maximum(others, 1)
    compared, agreed = (np.bincount(labels.workers, of, labels.n_workers) for of in (others > 0, share))
    return compared, agreed


def _taken(labels: Labels, others: Array) -> pl.DataFrame:
    """Return, for workers who call a class another one in most cases, the columns of `habits` about the commonest case.

    Args:
        labels: The labels.
        others: (labels), the class that most others name; -1 if there is none.
    """
    schema = {"code": pl.Int32, "taken": pl.Int64, "taken_for": pl.Int64}
    said = pl.LazyFrame({"code": labels.workers, "taken": others, "taken_for": labels.labels}, schema_overrides=schema)
    cells = said.filter(pl.col("taken") >= 0).group_by("code", "taken", "taken_for").agg(taken_times=pl.len())
    cells = cells.with_columns(
        taken_of=pl.col("taken_times").sum().over("code", "taken"),
        of_all=pl.col("taken_times").sum().over("taken"),
        times_of_all=pl.col("taken_times").sum().over("taken", "taken_for"),
    )
    mostly = (pl.col("taken") != pl.col("taken_for")) & (2 * pl.col("taken_times") > pl.col("taken_of"))
    # How often the others do that; in a class of whose items nobody else has labels, never.
    elsewhere = pl.col("of_all") - pl.col("taken_of")
    rate = (pl.col("times_of_all") - pl.col("taken_times")) / pl.max_horizontal(elsewhere, 1)
    found = cells.filter(mostly & (pl.col("taken_of") >= ENOUGH)).with_columns(taken_rate=rate)
    first = found.sort("taken_times", "taken", descending=[True, False]).unique("code", keep="first")
    return first.drop("of_all", "times_of_all").collect()


def _against_others(labels: Labels, others: Array, table: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of `habits` about what most others say, and the code of each worker."""
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
