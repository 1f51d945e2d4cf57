"""`Gathered`: the answers of an export by question, so that none is lost: each is a vote, a truth, or counted."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import polars as pl

from ..errors import DataError, shortened
from ..sources.typed_columns import column_or_text
from .platform import CHOICE, Answer, Finding, Platform, Tally

# Takes a table, and keeps it: returns it as it is, or the path of an Arrow file that it was written to.
Keep: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame | Path]

# How many answers are kept as objects of Python before they become a table, which takes a fraction of the memory.
_BATCH: Final = 10_000
# The columns of a question's table besides item and labels, with their types.
_FIXED: Final = {
    "worker": pl.String,
    "status": pl.String,
    "model": pl.Boolean,
    "gold": pl.Boolean,
    "seconds": pl.Float64,
    "time": pl.String,
}


@dataclass
class Question:
    """The answers to one question.

    Attributes:
        name: The question.
        type: `CHOICE`, or what else is asked for, in words.
        keep: Keeps batches of answers, in memory or on disk.
        several: Whether several classes may be chosen, or were.
        first_several: The first answer that chose several, in words; empty if none did.
        answers: The number of answers of every kind.
        size: How many bytes their table has in memory.
        states: Whether some answer states probabilities.
    """

    name: str
    type: str
    keep: Keep
    several: bool = False
    first_several: str = ""
    answers: int = 0
    size: int = 0
    states: bool = False
    _rows: list[Answer] = field(default_factory=list)
    _types: dict[str, Any] = field(default_factory=lambda: {"item": pl.Null(), "label": pl.Null()})
    _batches: list[tuple[dict[str, Any], pl.DataFrame | Path]] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Add an answer, in the order of the export."""
        if answer.several or len(answer.choices) > 1:
            self.several = True
        if len(answer.choices) > 1 and not self.first_several:
            self.first_several = shortened(f"{answer.worker!r} on item {answer.item!r}: {answer.choices!r}", 200)
        self._rows.append(answer)
        self.answers += 1
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        columns = map(list, zip(*self._rows, strict=True))
        item, worker, _, choices, status, model, gold, _, _, seconds, time, stated = columns
        self._rows.clear()
        self.states |= any(stated)
        labels = [label or (None,) for label in choices]
        numbers = [number for number, label in enumerate(labels) for _ in label]
        given = pl.DataFrame(
            {"number": numbers, "label": self._typed("label", [one for label in labels for one in label])}
        )
        fixed = zip(_FIXED.items(), (worker, status, model, gold, seconds, time), strict=True)
        table = pl.DataFrame(
            [
                self._typed("item", item),
                *(column_or_text(name, values, dtype) for (name, dtype), values in fixed),
                given.group_by("number", maintain_order=True).agg("label")["label"].alias("labels"),
                *self._stated(stated),
            ]
        )
        self.size += int(table.estimated_size())
        self._batches.append((dict(self._types), self.keep(table)))

    def _stated(self, stated: list[Any]) -> list[pl.Series]:
        """Return the columns of the classes that answers state a probability of, and of these probabilities."""
        lengths = [len(one) for one in stated]
        ends = np.cumsum([0, *lengths])
        classes = self._typed("label", [name for one in stated for name, _ in one])
        chances = pl.Series([chance for one in stated for _, chance in one], dtype=pl.Float64)
        return [
            pl.Series(name, [values[low:high] for low, high in pairwise(ends.tolist())], dtype=pl.List(values.dtype))
            for name, values in (("stated_classes", classes), ("stated", chances))
        ]

    def _typed(self, name: str, values: list[Any]) -> pl.Series:
        """Return a column of the type that it has so far: text, if types are mixed. It changes at most twice."""
        column = column_or_text(name, values)
        if self._types[name] == pl.Null:
            self._types[name] = column.dtype
        elif column.dtype not in (pl.Null, self._types[name]):
            self._types[name] = pl.String()  # holds any value
        return column.cast(self._types[name])

    def table(self) -> pl.LazyFrame:
        """Return a row for each answer, with the list of its classes: [null] if it chose none."""
        if self._rows:
            self._flush()
        of_labels = pl.List(self._types["label"])
        types: dict[str, Any] = {"item": self._types["item"], "labels": of_labels, "stated_classes": of_labels}
        runs = groupby(self._batches, lambda one: (one[0], isinstance(one[1], Path)))
        return pl.concat([_scanned([batch for _, batch in run]).cast(pl.Schema(types)) for _, run in runs])


def _scanned(batches: list[pl.DataFrame | Path]) -> pl.LazyFrame:
    """Return batches of the same types, which are all in memory or all on disk, as one table."""
    paths = [one for one in batches if isinstance(one, Path)]
    if paths:
        return pl.scan_ipc(paths, glob=False)
    return pl.concat([one for one in batches if isinstance(one, pl.DataFrame)]).lazy()


@dataclass(frozen=True)
class Gathered:
    """What is in an export.

    Attributes:
        platform: The platform that wrote it.
        questions: The questions by name, in the order of first appearance.
        left_out: Answers that are not used, whatever the question, in words, and how many of each.
        remarks: Sentences about the export.
    """

    platform: Platform
    questions: dict[str, Question]
    left_out: dict[str, int]
    remarks: tuple[str, ...]


def gather(platform: Platform, findings: Iterable[Finding], name: str, keep: Keep = lambda table: table) -> Gathered:
    """Gather what a platform yields.

    Args:
        platform: The platform.
        findings: What is in the export.
        name: The name of the export in messages.
        keep: Keeps batches of answers, in memory or on disk.

    Raises:
        DataError: There is no answer, an item, a worker or a class that cannot be one, or an answer without a worker.
    """
    questions: dict[str, Question] = {}
    left_out: Counter[str] = Counter()
    noted: Counter[str] = Counter()  # what is counted and is no answer
    remarks: dict[str, None] = {}
    for one in findings:
        if isinstance(one, Answer):
            if one.worker is None:
                raise DataError(
                    f"{name} looks like {platform.name}, but does not say who answered about item {one.item!r}. If "
                    "each worker has a file or a folder, --worker-from file or --worker-from folder takes its name."
                )
            question = questions.get(one.question)
            if question is None:
                column_or_text("question", [one.question], pl.String)
                question = questions[one.question] = Question(one.question, one.type, keep)
            elif question.type == CHOICE:
                question.type = one.type
            question.add(one)
        elif isinstance(one, Tally):
            (left_out if one.is_answer else noted)[one.what] += one.number
        else:
            remarks.setdefault(one.sentence)
    if not questions:
        said = "; ".join(f"{count:,} {what}" for what, count in (left_out + noted).items())
        raise DataError(f"{name} looks like {platform.name}, but has no answer in it{f' ({said})' if said else ''}.")
    sentences = (*remarks, *(f"{count:,} {what}." for what, count in noted.items()))
    return Gathered(platform, questions, dict(left_out), sentences)
