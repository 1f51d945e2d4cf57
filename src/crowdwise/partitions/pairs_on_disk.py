"""Several classes at once on disk: every item and class that somebody named become an item with yes and no as labels.

The questions are those of `ClassSets`, made part by part. What is made of them is an ordinary crowd of two classes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from ..crowd.class_sets import NO, YES, about_empty, answered, gathered, question_names
from ..crowd.classes import ClassReader
from ..crowd.encoding import encode_column
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import ReadingReport
from ..crowd.sorting import LabelArrays, SortCounts, SortedRows
from ..errors import DataError, quoted
from ..numerics import Array

ANSWERS: Final = pl.Series([NO, YES])
_BETWEEN: Final = ": "
_ABOUT_PAIRS: Final = (
    "On disk, every item and class that somebody named is an item with yes and no as labels, such as "
    "'7: cat'; workers are judged as in any crowd of two classes, and there are no sets."
)


class SetReader:
    """Gives codes to the classes that rows name, as `ClassReader` does; -1 to rows that name none."""

    def __init__(self, options: ReadOptions, column: str) -> None:
        self._classes, self._column = ClassReader(options, column), column
        self._named = False
        self.rows = 0

    def count(self, batch: pl.DataFrame) -> None:
        """Count the rows that the table had before each class got a row of its own."""
        self.rows += int(batch["first"].sum())

    def read(self, labelled: pl.DataFrame) -> Array:
        """Return the codes of the labels of rows that all have a label or are an empty set."""
        chosen = ~labelled["none"]
        codes = np.full(labelled.height, -1, np.int64)
        codes[chosen.to_numpy()] = self._classes.read(labelled.filter(chosen))
        self._named = self._named or bool(chosen.any())
        return codes

    def finish(self, integers_in_text: bool) -> tuple[pl.Series, Array]:
        """Return as `ClassReader.finish` does. Raises `DataError` if nobody named a class."""
        if not self._named:
            raise DataError(f"No answer names a class: column {self._column!r} has empty sets only.")
        return self._classes.finish(integers_in_text)


class PairSorter:
    """Makes the questions of parts and sorts their answers; counts what the report says.

    Args:
        classes: The classes that may be named.
        class_of_label: The class that each code of a label stands for.
        n_workers: How many workers there are.
        sort: Sorts the answers of a part; see `sort_part`.
    """

    def __init__(
        self, classes: pl.Series, class_of_label: Array, n_workers: int, sort: Callable[[pl.DataFrame], SortedRows]
    ) -> None:
        self._classes, self._class_of_label, self._n_workers = classes, class_of_label, n_workers
        self._sort = sort
        self._unclear = classes.cast(pl.String).str.contains(_BETWEEN, literal=True)
        # Of each part, how many answers there are and how many of them are empty. Threads may append.
        self._counted: list[tuple[int, int]] = []

    def __call__(self, table: pl.DataFrame) -> SortedRows:
        """Return the answers to the questions about the items of a part, sorted. Raises `DataError` as in memory."""
        kept = table.filter(pl.col("worker") >= 0)
        item, label = encode_column(kept["item"], False), kept["label"].to_numpy()
        chosen = label >= 0
        said = self._class_of_label[label[chosen]].astype(np.int64)
        sets, repeated = gathered(item, kept["worker"].to_numpy(), self._n_workers, self._classes, chosen, said)
        if self._unclear.any():
            self._refuse_unclear(item.names)
        self._counted.append((len(sets.workers), sets.empty_answers))
        unlabelled = table["item"].n_unique() - len(sets.items)
        starts, workers, labels = answered(sets)
        if not len(labels):
            nothing = LabelArrays(np.zeros(1, np.int64), workers, labels, None)
            counts = SortCounts(repeated=repeated, unlabelled=unlabelled)
            return SortedRows(nothing, question_names(sets.items.head(0), self._classes.head(0)), counts, None)
        questions = question_names(sets.items.gather(sets.item_of), self._classes.gather(sets.class_of))
        of = np.repeat(np.arange(len(questions)), np.diff(starts))
        found = self._sort(pl.DataFrame({"item": questions.gather(of), "worker": workers, "label": labels}))
        return found._replace(counts=replace(found.counts, repeated=repeated, unlabelled=unlabelled))

    def _refuse_unclear(self, items: pl.Series) -> None:
        """Raise `DataError` if two pairs may be written the same, of which one may be in another part."""
        unclear = items.filter(items.cast(pl.String).str.contains(_BETWEEN, literal=True))
        if len(unclear):
            first = self._classes.filter(self._unclear)[0]
            raise DataError(
                f"The item {quoted(unclear[0])} and the class {quoted(first)} both have {_BETWEEN!r} in them, so that "
                "two pairs may be written the same: rename the item or the class."
            )

    def reported(self, report: ReadingReport, rows: int) -> ReadingReport:
        """Return the report with what is said of sets; `rows` is how many rows were read."""
        answers, empty = (sum(counts) for counts in zip(*self._counted, strict=True))
        said = [about_empty(empty, answers)] if empty else []
        return replace(report, rows=rows, understood=(*report.understood, *said, _ABOUT_PAIRS))
