"""`Answers`: what workers said, from a pandas table into the arrays that our kernels take."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl

from crowdwise.crowd.labels import Labels
from crowdwise.crowd.names import Names
from crowdwise.crowd.reading_report import ReadingReport
from crowdwise.errors import DataError, require_kind
from crowdwise.numerics import Array

COLUMNS: Final = ("task", "worker", "label")


class MissingColumnError(DataError, KeyError):
    """A column is missing; a `KeyError` too, because that is what pandas raises."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show it in quotes


def require_columns(data: Any, names: Sequence[str]) -> Any:
    """Return columns of a table. Raises `MissingColumnError` if one is missing."""
    require_kind("data", data, pd.DataFrame, "a pandas DataFrame")
    missing = [name for name in names if name not in data.columns]
    if missing:
        has = ", ".join(map(str, data.columns)) or "none"
        raise MissingColumnError(
            f"The table has no column {' and no column '.join(missing)}; it has {has}. Rename the columns."
        )
    return data[list(names)]


def three_columns(data: Any) -> Any:
    """Return the columns task, worker and label of a table. Raises `MissingColumnError` if one is missing."""
    return require_columns(data, COLUMNS)


def complete_rows(data: Any) -> Any:
    """Return the columns task, worker and label, without rows that lack one of them."""
    table = three_columns(data)
    complete = table.notna().all(axis=1)
    return table if complete.all() else table[complete]


@dataclass(frozen=True, eq=False)
class Answers:
    """What workers said, in codes.

    Codes are in the order of the sorted names, so that the order of the rows changes nothing but the order of the
    results. crowd-kit has some results in the order in which names first appear; the last fields are that order.

    Attributes:
        tasks: The tasks, sorted.
        workers: The workers, sorted.
        classes: The labels that were given, sorted; then others that are possible.
        labels: The rows, with these codes. Rows that repeat an earlier one stay, because crowd-kit counts them.
        first_tasks: The codes of the tasks in the order of their first rows.
        first_workers: The codes of the workers in this order.
        first_classes: The codes of the classes in this order.
        first_pairs: (2, pairs), the codes of worker and class for every two that are in one row, in this order.
    """

    tasks: Any
    workers: Any
    classes: Any
    labels: Labels
    first_tasks: Array
    first_workers: Array
    first_classes: Array
    first_pairs: Array

    @classmethod
    def of(cls, data: Any, possible: Any = ()) -> "Answers":
        """Encode a table with the columns task, worker and label; rows that lack one of them are left out.

        Args:
            data: A pandas DataFrame.
            possible: Further labels that may be true, though nobody gave them.
        """
        table = complete_rows(data)
        task, tasks, first_tasks = _encode(table["task"])
        worker, workers, first_workers = _encode(table["worker"])
        label, classes, first_classes = _encode(table["label"])
        pairs = pd.unique(worker * np.int64(len(classes)) + label)
        others = pd.Index(possible)
        others = others[~others.isin(classes)].unique()
        if len(others):
            classes = classes.append(others)
        order = _sorted_rows((task, worker, label), (len(tasks), len(workers), len(classes)))
        sizes = np.bincount(task, minlength=len(tasks))
        labels = Labels(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            worker[order].astype(np.int32),
            label[order].astype(np.min_scalar_type(max(len(classes) - 1, 0))),
            Names(_numbered("item", len(tasks)), _numbered("worker", len(workers)), _numbered("label", len(classes))),
            ReadingReport(len(data)),
            is_numbered=True,  # the order of the names is that of no rows
        )
        pairs = np.stack(np.divmod(pairs, max(len(first_classes), 1)))
        first_classes = np.concatenate([first_classes, np.arange(len(first_classes), len(classes))])
        return cls(tasks, workers, classes, labels, first_tasks, first_workers, first_classes, pairs)

    @property
    def empty(self) -> bool:
        """Whether there are no rows."""
        return self.labels.n_labels == 0

    @cached_property
    def distinct(self) -> tuple[Array, Array, Array]:
        """Where the rows of each task start, their workers and their classes, without rows that repeat another."""
        labels = self.labels
        rows = np.stack([labels.item_of, labels.workers, labels.labels])
        new = np.ones(labels.n_labels, bool)
        new[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
        if new.all():
            return labels.item_starts, labels.workers, labels.labels
        starts = np.concatenate([[0], np.cumsum(new)])[labels.item_starts]
        return starts, labels.workers[new], labels.labels[new]

    def labels_series(self, best: Array, order: Array | None = None) -> Any:
        """Return the class of every task as crowd-kit's labels_.

        Args:
            best: (tasks), the code of the class.
            order: The codes of the tasks in the order of the result; None for sorted tasks.
        """
        order = np.arange(len(self.tasks)) if order is None else order
        return pd.Series(self.classes.take(best[order]), index=self.tasks.take(order), name="agg_label")

    def table(self, scores: Array, columns: str | None = "label", order: Array | None = None) -> Any:
        """Return scores (tasks, classes) as a DataFrame; `columns` is the name of the columns."""
        order = np.arange(len(self.tasks)) if order is None else order
        return pd.DataFrame(scores[order], index=self.tasks.take(order), columns=self.classes.rename(columns))

    def per_worker(self, values: Array, name: str, order: Array | None = None) -> Any:
        """Return a number for every worker as a Series of this name."""
        order = np.arange(len(self.workers)) if order is None else order
        return pd.Series(values[order], index=self.workers.take(order), name=name)


def _encode(values: Any) -> tuple[Array, Any, Array]:
    """Return the codes of values, the values in the order of their codes, and the codes as they first appear."""
    codes, names = pd.factorize(values)
    try:
        places, sorted_names = pd.factorize(names, sort=True)
    except TypeError:  # values of different types may have no order
        places, sorted_names = np.arange(len(names)), names
    return places[codes], sorted_names.rename(values.name), places


def _sorted_rows(codes: tuple[Array, Array, Array], sizes: tuple[int, int, int]) -> Array:
    """Return the places of the rows, sorted by their codes; `sizes` says how many codes there are of each kind."""
    task, worker, label = codes
    if sizes[0] * sizes[1] * sizes[2] < 2**62:  # one number for each row is sorted faster than three
        return np.argsort((task * sizes[1] + worker) * sizes[2] + label, kind="stable")
    return np.lexsort((label, worker, task))


def _numbered(role: str, count: int) -> pl.Series:
    return pl.Series(role, np.arange(count))
