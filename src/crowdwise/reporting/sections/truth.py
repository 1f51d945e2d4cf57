"""With truth: how many answers are right, for which classes, whether probabilities keep their word, what went wrong."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ...analysis import charts
from ...analysis.evaluation import hits, match, wilson
from ...data.labels import Labels
from ...kernels import Array
from ...results.result import Result
from ..widgets import Cell, Figure, Table, left_out, most, names, number, text
from .items import said_on

_ROWS: Final = 300
_BINS: Final = 10


@dataclass(frozen=True)
class Truth:
    """The fifth section."""

    known: int
    unanswered: int
    accuracies: list[tuple[str, float, float, float]]
    figures: list[Figure]
    classes: Table
    wrong: Table
    wrong_count: int


def truth(labels: Labels, result: Result, majority: Result, known: Any) -> Truth:
    """Gather it."""
    matched = match(result, known)
    right = hits(result, matched)
    name = type(result.method).__name__
    rows = [(name, *_share(right))]
    if type(majority.method) is not type(result.method):
        rows.append(("majority vote", *_share(hits(majority, matched))))
    table = pl.DataFrame(rows, schema=["method", "accuracy", "low", "high"], orient="row")
    figures = [
        Figure(
            "Accuracy",
            charts.accuracies(table, charts.PAGE),
            "Lines are 95% intervals (Wilson). Of tied classes, each counts its part.",
        )
    ]
    if result.scale == "probability":
        figures.append(_reliability(result.confidence[matched.items], right))
    answers = result.answers[matched.items]
    wrong = np.flatnonzero(answers != matched.truths)
    order = wrong[np.argsort(-result.confidence[matched.items[wrong]], kind="stable")][:_ROWS]
    return Truth(
        known=len(right),
        unanswered=matched.unanswered,
        accuracies=rows,
        figures=figures,
        classes=_by_class(labels, answers, matched.truths),
        wrong=Table(
            "wrong answers",
            ["Item", "Answer", "#Score", "Truth", "#Votes", "What was said"],
            [_row(labels, result, int(matched.items[at]), int(matched.truths[at])) for at in order],
            left_out(len(order), len(wrong), "Those with the highest scores:"),
        ),
        wrong_count=len(wrong),
    )


def _share(right: Array) -> tuple[float, float, float]:
    share, low, high = wilson(right.sum(), len(right))
    return float(share), float(low), float(high)


def _reliability(scores: Array, right: Array) -> Figure:
    place = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    rows = []
    for one in np.unique(place):
        there = place == one
        rows.append((float(scores[there].mean()), *_share(right[there]), int(there.sum())))
    table = pl.DataFrame(rows, schema=["score", "accuracy", "low", "high", "items"], orient="row")
    return Figure(
        "Do probabilities keep their word?",
        charts.reliability(table, charts.PAGE),
        "Answers in ten groups by how probable the method calls them. On the dashed line, 80% probable means right 80% "
        "of the time; below it, the method is too sure of itself.",
    )


def _by_class(labels: Labels, answers: Array, truths: Array) -> Table:
    n_classes = labels.n_classes
    given = np.bincount(answers, minlength=n_classes)
    true = np.bincount(truths[truths >= 0], minlength=n_classes)
    right = np.bincount(answers[answers == truths], minlength=n_classes)
    called = names(labels.names.classes)
    shown = most(true + given, _ROWS)
    rows = [
        [
            text(called[int(k)]),
            number(int(true[k])),
            number(int(given[k])),
            number(right[k] / given[k] if given[k] else None, ".1%"),
            number(right[k] / true[k] if true[k] else None, ".1%"),
        ]
        for k in shown
    ]
    columns = ["Class", "#True", "#Answered", "#Precision", "#Recall"]
    return Table("classes", columns, rows, left_out(len(rows), n_classes, "The most common classes:"))


def _row(labels: Labels, result: Result, i: int, true: int) -> list[Cell]:
    called = labels.names.classes
    return [
        text(labels.names.items[i]),
        text(called[int(result.answers[i])]),
        number(float(result.scores[i, result.answers[i]]), ".3f"),
        text(called[true]) if true >= 0 else Cell("a class that nobody said"),
        number(int(result.votes[i])),
        Cell(said_on(labels, i)),
    ]
