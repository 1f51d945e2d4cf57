"""Gather the answers of an export by question, so that none is lost: each is a vote, a truth, or counted."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from ..errors import DataError, shortened
from ..sources.typed_columns import column_or_text
from .platform import CHOICE, Answer, Finding, Platform, Tally

# How many rows are kept as objects of Python before they become a table, which takes a fraction of the memory.
_BATCH: Final = 10_000
# The columns of a question's table besides the class, with their types.
_FIXED: Final = {
    "answer": pl.Int64,
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
        several: Whether several classes may be chosen, or were.
        first_several: The first answer that chose several, in words; empty if none did.
        answers: The number of answers of every kind.
    """

    name: str
    type: str
    several: bool = False
    first_several: str = ""
    answers: int = 0
    _rows: list[tuple[Any, ...]] = field(default_factory=list)
    _tables: list[pl.DataFrame] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Add an answer: a row for each class that it chose, and one without a class if it chose none."""
        item, worker, _, choices, status, model, gold, several, _, seconds, time = answer
        if several:
            self.several = True
        if len(choices) > 1:
            self.several = True
            if not self.first_several:
                self.first_several = shortened(f"{worker!r} on item {item!r}: {choices!r}", 200)
        for choice in choices or (None,):
            self._rows.append((self.answers, item, worker, status, model, gold, choice, seconds, time))
        self.answers += 1
        if len(self._rows) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        """Make a table of the rows so far."""
        names = ("answer", "item", "worker", "status", "model", "gold", "label", "seconds", "time")
        columns = dict(zip(names, map(list, zip(*self._rows, strict=True)), strict=True))
        self._rows.clear()
        self._tables.append(
            pl.DataFrame([column_or_text(name, values, _FIXED.get(name)) for name, values in columns.items()])
        )

    def table(self) -> pl.DataFrame:
        """Return a row for each class that an answer chose, and one without a label for an answer that chose none."""
        if self._rows:
            self._flush()
        for name in ("item", "label"):
            types = {table[name].dtype for table in self._tables} - {pl.Null}
            if len(types) > 1:  # text holds any value
                self._tables = [table.with_columns(pl.col(name).cast(pl.String)) for table in self._tables]
        self._tables = [pl.concat(self._tables, how="vertical_relaxed")]
        return self._tables[0]


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


def gather(platform: Platform, found: Iterable[Finding], name: str) -> Gathered:
    """Gather what a platform yields.

    Args:
        platform: The platform.
        found: What is in the export.
        name: The name of the export in messages.

    Raises:
        DataError: There is no answer, an item, a worker or a class that cannot be one, or an answer without a worker.
    """
    questions: dict[str, Question] = {}
    left_out: Counter[str] = Counter()
    also: Counter[str] = Counter()
    remarks: dict[str, None] = {}
    for one in found:
        if isinstance(one, Answer):
            if one.worker is None:
                raise DataError(
                    f"{name} looks like {platform.name}, but does not say who answered about item {one.item!r}. If "
                    "each worker has a file or a folder, --worker-from file or --worker-from folder takes its name."
                )
            question = questions.get(one.question)
            if question is None:
                column_or_text("question", [one.question])
                question = questions[one.question] = Question(one.question, one.type)
            elif question.type != one.type:
                question.type = question.type if question.type != CHOICE else one.type
            question.add(one)
        elif isinstance(one, Tally):
            (left_out if one.is_answer else also)[one.what] += one.count
        else:
            remarks.setdefault(one.sentence)
    if not questions:
        said = "; ".join(f"{count:,} {what}" for what, count in (left_out + also).items())
        raise DataError(f"{name} looks like {platform.name}, but has no answer in it{f' ({said})' if said else ''}.")
    sentences = (*remarks, *(f"{count:,} {what}." for what, count in also.items()))
    return Gathered(platform, questions, dict(left_out), sentences)
