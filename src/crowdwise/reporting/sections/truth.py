"""Against the truth: how many answers are right, for which classes, whether probabilities keep their word."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts
from ...analysis.evaluation import Matched, hits
from ...data.labels import Labels
from ...kernels import Array
from ...results.result import Result
from ..blocks import Block, Cell, Figure, Heading, Paragraph, SideBySide, Stack, Table
from ..cells import names_as_text, number, text
from ..condensing import left_out, most_common
from ..report_data import ReportData
from .accuracy import accuracies, share_right
from .votes_in_words import votes_in_words

_ROWS: Final = 300
_GROUPS: Final = 10


def gather(data: ReportData) -> list[Block] | None:
    """How right the answers are, overall and class by class, and a table of the wrong ones; None without any truth."""
    if data.known is None:
        return None
    labels, result, known = data.labels, data.result, data.known
    answers = result.answers[known.items]
    wrong = np.flatnonzero(answers != known.truths)
    figures = [_accuracy(data)]
    if result.scale == "probability":
        figures.append(_reliability(result.confidence[known.items], hits(result, known)))
    wrong_answers = [Heading("Answers that differ from the truth"), _wrong_answers(labels, result, known, wrong)]
    return [
        Paragraph(_what_is_known(known, len(wrong)), "intro"),
        SideBySide([*figures, _class_by_class(labels, answers, known.truths)]),
        *(wrong_answers if len(wrong) else []),
    ]


def _what_is_known(known: Matched, wrong: int) -> str:
    sentences = [f"The true label of {len(known.items):,} items is known."]
    if known.unanswered:
        sentences.append(f"{known.unanswered:,} more have a known truth but no label, and do not count.")
    return " ".join([*sentences, f"{wrong:,} answers differ from it."])


def _accuracy(data: ReportData) -> Figure:
    """How many answers are right, of the method and of majority vote."""
    return Figure(
        "Accuracy",
        charts.accuracies(pl.DataFrame(accuracies(data)), charts.PAGE),
        "Lines are 95% intervals (Wilson). Of tied classes, each counts its part.",
    )


def _reliability(scores: Array, right: Array) -> Figure:
    """How many answers are right among those that the method calls about equally probable."""
    place = np.minimum((scores * _GROUPS).astype(int), _GROUPS - 1)
    rows = []
    for one in np.unique(place):
        there = place == one
        rows.append((float(scores[there].mean()), *share_right(right[there]), int(there.sum())))
    table = pl.DataFrame(rows, schema=["score", "accuracy", "low", "high", "items"], orient="row")
    return Figure(
        "Do probabilities keep their word?",
        charts.reliability(table, charts.PAGE),
        "Answers in ten groups by how probable the method calls them. On the dashed line, 80% probable means right 80% "
        "of the time; below it, the method is too sure of itself.",
        tall=True,
    )


def _class_by_class(labels: Labels, answers: Array, truths: Array) -> Stack:
    """Precision and recall of every class."""
    n_classes = labels.n_classes
    given = np.bincount(answers, minlength=n_classes)
    true = np.bincount(truths[truths >= 0], minlength=n_classes)
    right = np.bincount(answers[answers == truths], minlength=n_classes)
    called = names_as_text(labels.names.classes)
    rows = [
        [
            text(called[k]),
            number(int(true[k])),
            number(int(given[k])),
            number(right[k] / given[k] if given[k] else None, ".1%"),
            number(right[k] / true[k] if true[k] else None, ".1%"),
        ]
        for k in most_common(true + given, _ROWS).tolist()
    ]
    columns = ["Class", "#True", "#Answered", "#Precision", "#Recall"]
    how_to_read = (
        "Precision: of the answers that name the class, how many are right. Recall: of the items that are in the "
        "class, how many are found."
    )
    return Stack(
        [
            Heading("Class by class"),
            Table("classes", columns, rows, left_out(len(rows), n_classes, "The most common classes:")),
            Paragraph(how_to_read, "note"),
        ]
    )


def _wrong_answers(labels: Labels, result: Result, known: Matched, wrong: Array) -> Table:
    """The answers that are wrong, the surest first; `wrong` says which of the known items those are."""
    surest = wrong[np.argsort(-result.confidence[known.items[wrong]], kind="stable")][:_ROWS]
    return Table(
        "wrong answers",
        ["Item", "Answer", "#Score", "Truth", "#Votes", "What was said"],
        [_row(labels, result, int(known.items[at]), int(known.truths[at])) for at in surest],
        left_out(len(surest), len(wrong), "Those with the highest scores:"),
    )


def _row(labels: Labels, result: Result, i: int, true: int) -> list[Cell]:
    called = labels.names.classes
    return [
        text(labels.names.items[i]),
        text(called[int(result.answers[i])]),
        number(float(result.scores[i, result.answers[i]]), ".3f"),
        text(called[true] if true >= 0 else "a class that nobody said"),
        number(int(result.votes[i])),
        text(votes_in_words(labels, i)),
    ]
