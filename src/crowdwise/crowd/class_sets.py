"""`ClassSets`: answers that each name several classes at once, and the yes/no questions that they become.

A worker who looked at an item names a set of classes, which may be empty. Every item and class that somebody named
together is a question, whose answer of each worker who looked at the item is yes or no. `Labels` has these questions as
its items. Where nobody named a class for an item, all answers are no: such pairs are counted and not stored.
"""

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from ..errors import DataError, quoted
from ..numerics import Array
from .classes import classes_of
from .cleaning import Cleaning, finish
from .encoding import Encoded, encode_column, require_codes
from .labels import Labels
from .names import Names
from .numbering import Numbering, inverse
from .read_options import ReadOptions
from .sorting import SortCounts

# How far apart two sets are; see `analysis.set_agreement`.
SetDistance = Literal["jaccard", "masi"]
# The answers to every question, in the order of the classes of `Labels`.
NO: Final = "no"
YES: Final = "yes"


@dataclass(frozen=True, eq=False)
class ClassSets:
    """Which classes each worker named for each item, beside the `Labels` of the questions that follow.

    Attributes:
        items: The names of the items, in the order of first appearance.
        classes: The names of the classes, in the order of their values.
        starts: (items + 1), where the answers to each item start.
        workers: (answers), the worker of every answer, ascending within an item.
        set_starts: (answers + 1), where the classes of each answer start.
        named: (classes named), the codes of the classes, ascending within an answer.
        item_of: (questions), the code of the item of every question.
        class_of: (questions), the code of its class.
    """

    items: pl.Series
    classes: pl.Series
    starts: Array
    workers: Array
    set_starts: Array
    named: Array
    item_of: Array
    class_of: Array

    @property
    def answers_per_item(self) -> Array:
        """(items), how many workers looked at every item."""
        return np.diff(self.starts)

    @property
    def empty_answers(self) -> int:
        """How many answers name no class."""
        return int((np.diff(self.set_starts) == 0).sum())

    def question_of_named(self) -> Array:
        """(classes named), the question that each class of an answer says yes to."""
        size = np.int64(len(self.classes))
        questions = self.item_of * size + self.class_of
        item = np.repeat(np.repeat(np.arange(len(self.items)), self.answers_per_item), np.diff(self.set_starts))
        order = np.argsort(questions, kind="stable")
        return np.asarray(order[np.searchsorted(questions[order], item * size + self.named)])

    def named_by_question(self) -> Array:
        """(questions), how many workers say yes."""
        return np.bincount(self.question_of_named(), minlength=len(self.item_of))

    def numbered(self, numbering: Numbering) -> "ClassSets":
        """Return the same with questions and workers in the order of their numbers; items stay as they are."""
        order = inverse(numbering.item_numbers)
        workers = numbering.worker_numbers[self.workers]
        return replace(self, workers=workers, item_of=self.item_of[order], class_of=self.class_of[order])

    def part(self, questions: Array | slice) -> "ClassSets":
        """Return the same about some of the questions."""
        return replace(self, item_of=self.item_of[questions], class_of=self.class_of[questions])

    def without(self, worker: int, questions: Array) -> "ClassSets":
        """Return what the other workers said, about some of the questions; items that only this one saw are gone."""
        kept = self.workers != worker
        item = np.repeat(np.arange(len(self.items)), self.answers_per_item)[kept]
        answers, sizes = np.bincount(item, minlength=len(self.items)), np.diff(self.set_starts)
        seen = answers > 0
        return replace(
            self,
            items=self.items.filter(pl.Series(seen)),
            starts=np.concatenate([[0], np.cumsum(answers[seen])]),
            workers=(self.workers - (self.workers > worker))[kept].astype(self.workers.dtype),
            set_starts=np.concatenate([[0], np.cumsum(sizes[kept])]),
            named=self.named[np.repeat(kept, sizes)],
            item_of=(np.cumsum(seen) - 1)[self.item_of[questions]],
            class_of=self.class_of[questions],
        )


def question_names(items: pl.Series, classes: pl.Series) -> pl.Series:
    """Return how questions are written: as "item: class"."""
    return pl.select(pl.format("{}: {}", pl.lit(items), pl.lit(classes))).to_series().alias("item")


def labels_of_sets(table: pl.DataFrame, found: dict[str, str], options: ReadOptions, integers_in_text: bool) -> Labels:
    """Return the questions of a table with one class a row.

    Its columns are item, worker and label; none, whether the row says that the worker named no class; and first,
    whether it is the first row of its cell. Raises `DataError` as `Labels.from_columns` does, or if nobody named a
    class.
    """
    require_codes(table.height, "rows")
    cleaning = Cleaning(found, options)
    named = table["label"].drop_nulls()
    if table["none"].any() and named.is_empty():
        raise DataError(f"No answer names a class: column {found['label']!r} has empty sets only.")
    has_label = cleaning.labelled(table)
    cleaning.check()
    kept = table if has_label is None else table.filter(has_label)
    item, worker = (encode_column(kept[role], integers_in_text) for role in ("item", "worker"))
    chosen = (~kept["none"]).to_numpy()
    label = encode_column(kept["label"].filter(pl.Series(chosen)), False)
    classes, class_of_label = classes_of(
        label.names, options, found["label"], len(label.codes), np.bincount(label.codes), integers_in_text
    )
    said = class_of_label[label.codes].astype(np.int64)
    sets, repeated = gathered(item, worker.codes, len(worker.names), classes, chosen, said)
    starts, workers, labels = answered(sets)
    require_codes(len(workers), "yes or no labels")
    questions = question_names(sets.items.gather(sets.item_of), classes.gather(sets.class_of))
    twice = questions.filter(questions.is_duplicated())
    if len(twice):
        raise DataError(
            f"Two pairs of an item and a class are both written {quoted(twice[0])}: rename the item or the class."
        )
    names = Names.read(worker.names, pl.Series([NO, YES]), None, False, items=questions)
    counts = SortCounts(
        items=len(questions),
        labels=len(labels),
        repeated=repeated,
        unlabelled=0 if has_label is None else table["item"].n_unique() - len(item.names),
    )
    report = replace(finish(cleaning, counts, None, names), rows=int(table["first"].sum()))
    if sets.empty_answers:
        report = replace(report, understood=(*report.understood, about_empty(sets.empty_answers, len(sets.workers))))
    return Labels(starts, workers, labels, names, report, sets=sets)


def about_empty(empty: int, answers: int) -> str:
    """Return a sentence about the answers that name no class."""
    return f"{empty:,} of {answers:,} answers name{'s' if empty == 1 else ''} no class, which is a no to every class."


def gathered(
    item: Encoded, worker: Array, n_workers: int, classes: pl.Series, chosen: Array, said: Array
) -> tuple[ClassSets, int]:
    """Return the sets, and how many rows repeat an earlier one; `chosen` says which rows name a class, `said` which."""
    n_classes = len(classes)
    key = item.codes.astype(np.int64) * n_workers + worker
    answers, answer_of = np.unique(key, return_inverse=True)
    cells = answer_of[chosen] * np.int64(n_classes) + said
    named = np.unique(cells)
    sizes = np.bincount(named // n_classes, minlength=len(answers))
    pairs = np.unique(item.codes[chosen].astype(np.int64) * n_classes + said)
    sets = ClassSets(
        items=item.names,
        classes=classes,
        starts=np.searchsorted(answers, np.arange(len(item.names) + 1) * np.int64(n_workers)),
        workers=(answers % n_workers).astype(np.int32),
        set_starts=np.concatenate([[0], np.cumsum(sizes)]),
        named=named % n_classes,
        item_of=pairs // n_classes,
        class_of=pairs % n_classes,
    )
    return sets, len(cells) - len(named)


def answered(sets: ClassSets) -> tuple[Array, Array, Array]:
    """Return the arrays of `Labels`: every worker who looked at the item of a question says yes or no."""
    sizes = sets.answers_per_item[sets.item_of]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    answer = np.arange(starts[-1]) + np.repeat(sets.starts[:-1][sets.item_of] - starts[:-1], sizes)
    n_classes = len(sets.classes)
    yes = np.repeat(np.arange(len(sets.workers)), np.diff(sets.set_starts)) * np.int64(n_classes) + sets.named
    asked = answer * np.int64(n_classes) + np.repeat(sets.class_of, sizes)
    found = np.minimum(np.searchsorted(yes, asked), len(yes) - 1)
    return starts, sets.workers[answer], (yes[found] == asked).astype(np.uint8)
