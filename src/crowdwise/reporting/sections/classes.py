"""The section "Classes": how common each class is, and which classes workers confuse."""

from typing import Final

import numpy as np
import polars as pl

from ...analysis import charts, figures
from ...analysis.condensing import left_out, most_common, names_as_text
from ...crowd.labels import Labels
from ...numerics import Array
from ...results.result import Result
from ..blocks import Block, Figure, Paragraph, SideBySide, Table
from ..cells import number, text
from ..report_data import ReportData

# The largest number of classes in the table.
_MAX_ROWS: Final = 200


def gather(data: ReportData) -> list[Block]:
    """Make two charts, how common each class is and which classes are confused, and a table of the classes."""
    labels, prior = data.labels, data.learned.class_prior
    answers = np.bincount(data.result.answers, minlength=labels.n_classes)
    said = np.bincount(labels.labels, minlength=labels.n_classes)
    charted = most_common(answers, figures.MOST_CLASSES)
    note = left_out(len(charted), labels.n_classes, "The charts show the classes with the most answers:")
    return [
        SideBySide([_shares(labels, answers, said, prior, charted), _confusions(data.result, labels, charted)]),
        *([Paragraph(note, "note")] if note else []),
        _table(labels, answers, said, prior),
    ]


def _shares(labels: Labels, answers: Array, said: Array, prior: Array | None, charted: Array) -> Figure:
    """Make the chart of each class's share of the answers, of the labels and of the method's prior, if it has one."""
    shares = {"answers": answers / answers.sum(), "labels": said / said.sum()}
    counts = {"answers": answers, "labels": said}
    if prior is not None:
        shares["prior"], counts["prior"] = prior, prior * labels.n_items
    bars = pl.concat(
        pl.DataFrame(
            {
                "class": names_as_text(labels.names.classes).gather(charted),
                "source": [source] * len(charted),
                "share": share[charted].astype(float),
                "count": counts[source][charted].astype(float),
            }
        )
        for source, share in shares.items()
    )
    expected = " and of what the method expects before any vote (prior)" if prior is not None else ""
    return Figure(
        "How common each class is",
        charts.class_shares(bars, charts.PAGE),
        f"Bars: share of the answers. Marks: share of the labels{expected}.",
    )


def _confusions(result: Result, labels: Labels, charted: Array) -> Figure:
    """Make the chart of which classes are said for each answer, over all workers."""
    cases = result.answers[labels.item_of], labels.labels
    axes = charts.Axes("Answer", "Said", "labels")
    chart = figures.confusion(names_as_text(labels.names.classes), cases, charted, axes, charts.PAGE)
    return Figure(
        "Which classes are taken for which",
        chart,
        "Of all labels on items with this answer (row), the share that said each class (column). A strong "
        "cell beside the diagonal is a common confusion. Measured against the inferred answers.",
    )


def _table(labels: Labels, answers: Array, said: Array, prior: Array | None) -> Table:
    class_names = names_as_text(labels.names.classes)
    rows = [
        [
            text(class_names[k]),
            number(int(said[k])),
            number(int(answers[k])),
            number(answers[k] / labels.n_items, ".1%"),
            *([] if prior is None else [number(float(prior[k]), ".1%")]),
        ]
        for k in most_common(answers, _MAX_ROWS).tolist()
    ]
    columns = ["Class", "#Labels", "#Answers", "#Share of answers"] + (["#Prior"] if prior is not None else [])
    return Table("classes", columns, rows, left_out(len(rows), labels.n_classes, "The classes with the most answers:"))
