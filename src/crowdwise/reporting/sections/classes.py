"""Classes: how common each is, and which are taken for which."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ...analysis import charts
from ...data.labels import Labels
from ...kernels import Array
from ...results.result import Result
from ..widgets import Figure, Table, left_out, most, names, number, text

_BARS: Final = 20
_CELLS: Final = 20
_ROWS: Final = 200


@dataclass(frozen=True)
class Classes:
    """The second section."""

    table: Table
    figures: list[Figure]
    left_out: str


def classes(labels: Labels, result: Result) -> Classes:
    """Gather it."""
    answers = np.bincount(result.answers, minlength=labels.n_classes)
    said = np.bincount(labels.labels, minlength=labels.n_classes)
    prior = class_prior(result.workers, labels.n_classes)
    called = names(labels.names.classes)
    rows = [
        [
            text(called[k]),
            number(int(said[k])),
            number(int(answers[k])),
            number(answers[k] / labels.n_items, ".1%"),
            *([] if prior is None else [number(float(prior[k]), ".1%")]),
        ]
        for k in most(answers, _ROWS).tolist()
    ]
    shown = most(answers, _BARS)
    shares = {"answers": answers / answers.sum(), "labels": said / said.sum()}
    counts = {"answers": answers, "labels": said}
    if prior is not None:
        shares["prior"], counts["prior"] = prior, prior * labels.n_items
    bars = pl.concat(
        pl.DataFrame(
            {
                "class": called.gather(shown),
                "source": [source] * len(shown),
                "share": share[shown].astype(float),
                "count": counts[source][shown].astype(float),
            }
        )
        for source, share in shares.items()
    )
    expected = " and of what the method expects before any vote (prior)" if prior is not None else ""
    figures = [
        Figure(
            "How common each class is",
            charts.class_shares(bars, charts.PAGE),
            f"Bars: share of the answers. Marks: share of the labels{expected}.",
        ),
        Figure(
            "Which classes are taken for which",
            charts.heat_map(_confusion(labels, result, most(answers, _CELLS), called), charts.PAGE),
            "Of all labels on items with this answer (row), the share that said each class (column). A strong "
            "cell beside the diagonal is a common confusion. Measured against the inferred answers.",
        ),
    ]
    columns = ["Class", "#Labels", "#Answers", "#Share of answers"] + (["#Prior"] if prior is not None else [])
    note = left_out(len(shown), labels.n_classes, "The charts show the classes with the most answers:")
    table_note = left_out(len(rows), labels.n_classes, "The classes with the most answers:")
    return Classes(Table("classes", columns, rows, table_note), figures, note)


def class_prior(workers: Any, n_classes: int) -> Array | None:
    """The share of each class that a method expects before any vote; None where it expects nothing in particular."""
    for name in ("log_prior", "mean"):
        values = getattr(workers, name, None)
        if values is not None and values.shape == (n_classes,):  # some priors are of finer things than classes
            chance = np.exp(values - values.max()) if name == "log_prior" else values
            return np.asarray(chance / chance.sum())
    return None


def confusion_counts(said: Array, answers: Array, shown: Array, n_classes: int) -> Array:
    """(answer, said class) over the classes shown: how many labels."""
    place = np.full(n_classes, -1)
    place[shown] = np.arange(len(shown))
    row, column = place[answers], place[said]
    both = (row >= 0) & (column >= 0)
    cells = np.bincount(row[both] * len(shown) + column[both], minlength=len(shown) ** 2)
    return cells.reshape(len(shown), len(shown))


def _confusion(labels: Labels, result: Result, shown: Array, called: pl.Series) -> pl.DataFrame:
    answer_of = np.repeat(result.answers, np.diff(labels.item_starts))
    counts = confusion_counts(labels.labels, answer_of, shown, labels.n_classes)
    given = np.bincount(answer_of, minlength=labels.n_classes)[shown]
    share = counts / np.maximum(given, 1)[:, None]
    row, column = np.indices(counts.shape)
    return pl.DataFrame(
        {
            "truth": called.gather(shown[row.ravel()]),
            "said": called.gather(shown[column.ravel()]),
            "share": share.ravel(),
            "count": counts.ravel(),
        }
    )
