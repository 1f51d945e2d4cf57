"""The section "Against the truth": accuracy, precision and recall, calibration, and wrong answers."""

from collections.abc import Iterator
from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts
from ...analysis.calibration_measures import measures
from ...analysis.condensing import left_out, most_common, names_as_text
from ...analysis.evaluation import Matched, hits
from ...analysis.set_accuracy import set_accuracy
from ...analysis.set_result import sets_of
from ...crowd.labels import Labels
from ...numerics import Array
from ...results.result import Result
from ..blocks import Block, Cell, Figure, Heading, Paragraph, SideBySide, Stack, Table
from ..cells import item_cells, item_columns, number, text, without_repeated
from ..report_data import ReportData
from .accuracy import accuracies, share_right
from .votes_in_words import votes_in_words

# The largest number of rows in a table.
_MAX_ROWS: Final = 300
# The columns of the table of sets, by what `SetAccuracy` calls them.
_OF_SETS: Final = {
    "micro_f1": "Micro F1",
    "precision": "Precision",
    "recall": "Recall",
    "macro_f1": "Macro F1",
    "jaccard": "Jaccard",
    "exact": "Exact sets",
}
# The number of groups of answers in the chart of calibration.
_GROUPS: Final = 10


def gather(data: ReportData) -> list[Block] | None:
    """Make the accuracy, overall and of each class, and a table of wrong answers; None if no truth is known."""
    if data.known is None:
        return None
    labels, result, known = data.labels, data.result, data.known
    answers = result.answers[known.items]
    wrong = np.flatnonzero(answers != known.truths)
    figures = [_accuracy(data), _reliability(result, known)]
    wrong_answers = [Heading("Answers that differ from the truth"), _wrong_answers(data, known, wrong)]
    return [
        Paragraph(_what_is_known(known, len(wrong)), "intro"),
        *_of_sets(data),
        SideBySide([*figures, _class_by_class(labels, answers, known.truths)]),
        *(wrong_answers if len(wrong) else []),
    ]


def _of_sets(data: ReportData) -> list[Block]:
    """Make the table of how close sets are to the true ones; [] where workers name one class."""
    if data.true_sets is None:
        return []
    rows = []
    for name, result in {data.method_name: data.result, "majority vote": data.majority}.items():
        found = set_accuracy(sets_of(result, data.labels), data.true_sets).to_dict()
        rows.append([text(name), *(number(found[key], ".3f") for key in _OF_SETS)])
    items = f"{found['items']:,} items with a known set. "
    return [
        Heading("Sets of classes"),
        Table("sets of classes", ["Method", *(f"#{column}" for column in _OF_SETS.values())], rows),
        Paragraph(f"{items}True classes that nobody named count as missed here, but not below.", "note"),
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
        charts.intervals(pl.DataFrame(accuracies(data)), "Accuracy", charts.PAGE),
        "Lines are 95% intervals (Wilson). A two-way tie counts half.",
    )


def _reliability(result: Result, known: Matched) -> Figure:
    """Make the chart of how often answers are right against how sure they are, by confidence and by score.

    Margins can be any number, so for them it is confidence alone, and so it is where scores are confidence.
    """
    sources = {"confidence": result.confidence}
    if result.scale != "margin" and not np.allclose(result.best_scores, result.confidence):
        sources["score"] = result.best_scores
    right = hits(result, known)
    rows = [(source, *group) for source, values in sources.items() for group in _groups(values[known.items], right)]
    table = pl.DataFrame(rows, schema=["source", "sure", "accuracy", "low", "high", "items"], orient="row")
    found = measures(result, known)
    side = "above" if found.overconfidence > 0 else "below"
    return Figure(
        "Is confidence right?",
        charts.reliability(table, charts.PAGE),
        "Answers in ten groups by how sure they are. On the dashed line, 80% sure means right 80% of the time; below "
        f"it, answers are called surer than they are. Mean confidence is {100 * abs(found.overconfidence):.1f} points "
        f"{side} the share of right answers; log loss {found.log_loss:.3f}, Brier score {found.brier:.3f}.",
        tall=True,
    )


def _groups(sure: Array, right: Array) -> Iterator[tuple[float, float, float, float, int]]:
    """Yield, for each group: how sure its answers are, the share that is right with its interval, and their number."""
    group_of = np.minimum((sure * _GROUPS).astype(int), _GROUPS - 1)
    for group in np.unique(group_of):
        members = group_of == group
        yield float(sure[members].mean()), *share_right(right[members]), int(members.sum())


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


def _wrong_answers(data: ReportData, known: Matched, wrong: Array) -> Table:
    """Make the table of wrong answers, the surest first; `wrong` holds their positions in `known`."""
    result, labels = data.result, data.labels
    surest = wrong[np.argsort(-result.confidence[known.items[wrong]], kind="stable")][:_MAX_ROWS]
    columns, rows = without_repeated(
        [*item_columns(data.texts), "Answer", "#Confidence", "#Score", "Truth", "#Votes", "What was said"],
        [
            [*item_cells(labels.names.items[i], data.texts), *_row(result, labels, i, true)]
            for i, true in zip(known.items[surest].tolist(), known.truths[surest].tolist(), strict=True)
        ],
        [("#Score", "#Confidence")],
    )
    return Table(
        "wrong answers",
        columns,
        rows,
        left_out(len(surest), len(wrong), "Those that were surest:"),
    )


def _row(result: Result, labels: Labels, i: int, true: int) -> list[Cell]:
    class_names = labels.names.classes
    return [
        text(class_names[int(result.answers[i])]),
        number(float(result.probabilities[i, result.answers[i]]), ".3f"),
        number(float(result.scores[i, result.answers[i]]), ".3f"),
        text(class_names[true] if true >= 0 else "a class that nobody said"),
        number(int(result.votes[i])),
        text(votes_in_words(labels, i)),
    ]
