"""The section "Against the truth": accuracy, precision and recall, calibration, and wrong answers."""

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

# The largest number of rows in a table.
_MAX_ROWS: Final = 300
# The number of groups of answers in the chart of calibration.
_GROUPS: Final = 10


def gather(data: ReportData) -> list[Block] | None:
    """Make the accuracy, overall and of each class, and a table of wrong answers; None if no truth is known."""
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
    """Make the chart of the accuracy of the method and of majority vote."""
    return Figure(
        "Accuracy",
        charts.accuracies(pl.DataFrame(accuracies(data)), charts.PAGE),
        "Lines are 95% intervals (Wilson). Of tied classes, each counts its part.",
    )


def _reliability(scores: Array, right: Array) -> Figure:
    """Make the chart of how often answers are right against how probable the method says they are."""
    group_of = np.minimum((scores * _GROUPS).astype(int), _GROUPS - 1)
    rows = []
    for group in np.unique(group_of):
        members = group_of == group
        rows.append((float(scores[members].mean()), *share_right(right[members]), int(members.sum())))
    table = pl.DataFrame(rows, schema=["score", "accuracy", "low", "high", "items"], orient="row")
    return Figure(
        "Do probabilities keep their word?",
        charts.reliability(table, charts.PAGE),
        "Answers in ten groups by how probable the method calls them. On the dashed line, 80% probable means right 80% "
        "of the time; below it, the method is too sure of itself.",
        tall=True,
    )


def _class_by_class(labels: Labels, answers: Array, truths: Array) -> Stack:
    """Make the table of precision and recall of every class."""
    n_classes = labels.n_classes
    given = np.bincount(answers, minlength=n_classes)
    true = np.bincount(truths[truths >= 0], minlength=n_classes)
    right = np.bincount(answers[answers == truths], minlength=n_classes)
    class_names = names_as_text(labels.names.classes)
    rows = [
        [
            text(class_names[k]),
            number(int(true[k])),
            number(int(given[k])),
            number(right[k] / given[k] if given[k] else None, ".1%"),
            number(right[k] / true[k] if true[k] else None, ".1%"),
        ]
        for k in most_common(true + given, _MAX_ROWS).tolist()
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
    """Make the table of wrong answers, the highest score first; `wrong` holds their positions in `known`."""
    highest = wrong[np.argsort(-result.confidence[known.items[wrong]], kind="stable")][:_MAX_ROWS]
    return Table(
        "wrong answers",
        ["Item", "Answer", "#Score", "Truth", "#Votes", "What was said"],
        [_row(labels, result, int(known.items[at]), int(known.truths[at])) for at in highest],
        left_out(len(highest), len(wrong), "Those with the highest scores:"),
    )


def _row(labels: Labels, result: Result, i: int, true: int) -> list[Cell]:
    class_names = labels.names.classes
    return [
        text(labels.names.items[i]),
        text(class_names[int(result.answers[i])]),
        number(float(result.scores[i, result.answers[i]]), ".3f"),
        text(class_names[true] if true >= 0 else "a class that nobody said"),
        number(int(result.votes[i])),
        text(votes_in_words(labels, i)),
    ]
