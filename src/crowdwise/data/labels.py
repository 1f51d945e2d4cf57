"""`Labels`: what the workers said, as three arrays. Everything downstream works on these or on a slice of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeVar, cast

import numpy as np
import polars as pl

from .. import kernels, parallel
from ..errors import DataError
from ..kernels import Array
from ..parallel import Sum, Threads
from . import columns, encoding
from .cleaning import Cleaning, Rules
from .crowd import Place, describe
from .encoding import Duplicates
from .frames import as_series, as_table
from .names import Names
from .reading_report import ReadingReport

Added = TypeVar("Added", bound=tuple[Any, ...])

NOTHING_LEFT: Final = 'duplicates="drop" leaves no label at all: every (item, worker) pair conflicts.'


@dataclass(frozen=True, eq=False)
class Labels:
    """Who said what about which item.

    Build one with `Labels.from_frame`, `Labels.from_arrays` or `read_labels`. Items are numbered in order of
    first appearance, so are workers; classes in the order of their values.

    Attributes:
        item_starts: Where the labels of item i start (int64, one longer than the items).
        workers: The worker of every label (int32), ascending within an item.
        labels: The class of every label (the smallest unsigned integer that fits).
        names: What the codes mean.
        report: What was read and repaired.
        continued: With `duplicates="set"`, the rows that continue the vote of the row before them, where one
            worker named several classes for one item; None where every row is a vote of its own.

    >>> labels = Labels.from_arrays([1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> labels
    Labels(3 labels of 2 items by 2 workers in 2 classes)
    >>> labels.names.classes.to_list(), labels.labels.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """

    item_starts: Array
    workers: Array
    labels: Array
    names: Names
    report: ReadingReport
    continued: Array | None = None

    place: ClassVar[Place] = "memory"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str | None = None,
        worker: str | None = None,
        label: str | None = None,
        duplicates: Duplicates = "error",
        missing: Sequence[Any] = (),
        strict: bool = False,
    ) -> "Labels":
        """Read a table with one label a row.

        Args:
            frame: Anything with the Arrow C stream interface: a polars, pandas or pyarrow table, a duckdb
                relation; or a polars LazyFrame.
            item: The column of items; None to recognise it (item, task, question, object, example).
            worker: The column of workers (worker, annotator, rater, user, performer).
            label: The column of labels (label, answer, response, value, vote).
            duplicates: What to do where one worker gave one item several different labels: "error", keep the
                "first" or the "last", count "all" as votes, make them one "set"-valued vote, or "drop" them.
                Rows that repeat exactly are always dropped.
            missing: Values that mean "no label" besides null, NaN and empty text: -1, "NA".
            strict: Refuse what is repaired silently otherwise: rows that repeat exactly, and rows without a label. What
                `duplicates` and `missing` choose is not silent.

        >>> Labels.from_frame(pl.DataFrame({"task": [1, 1], "rater": ["a", "b"], "vote": [True, None]})).report
        ReadingReport(rows=2, missing=1, repeated=0, conflicts=0, duplicates='error', unlabelled=0,
                      columns={'item': 'task', 'worker': 'rater', 'label': 'vote'})
        """
        there = frame.collect_schema().names() if isinstance(frame, pl.LazyFrame) else None
        table = frame if there is not None else as_table(frame)
        given = {"item": item, "worker": worker, "label": label}
        found = columns.recognise(there or table.columns, given, "The table")
        picked = table.select(pl.col(found[role]).alias(role) for role in given)
        picked = picked.collect() if isinstance(picked, pl.LazyFrame) else picked
        return cls.from_columns(picked, found, Rules(duplicates, missing, strict))

    @classmethod
    def from_arrays(
        cls,
        item: Any,
        worker: Any,
        label: Any,
        *,
        duplicates: Duplicates = "error",
        missing: Sequence[Any] = (),
        strict: bool = False,
    ) -> "Labels":
        """Read three sequences of equal length: lists, NumPy arrays, polars or pandas series.

        >>> Labels.from_arrays(np.array([7, 7]), ["a", "b"], [0, 1]).names.items.to_list()
        [7]
        """
        given = {"item": item, "worker": worker, "label": label}
        series = {role: as_series(role, values) for role, values in given.items()}
        lengths = {role: len(values) for role, values in series.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"item, worker and label differ in length: {lengths}.")
        found = {role: role for role in given}
        return cls.from_columns(pl.DataFrame(series), found, Rules(duplicates, missing, strict))

    @classmethod
    def from_columns(
        cls, table: pl.DataFrame, found: dict[str, str], rules: Rules, *, integers_in_text: bool = False
    ) -> "Labels":
        """The one way in: columns `item`, `worker` and `label`, cleaned, encoded and sorted.

        Args:
            table: The columns.
            found: What each was called where it comes from.
            rules: What to do with rows that cannot be used as they are.
            integers_in_text: Whether a column of text that holds nothing but integers becomes integers, as for formats
                that have only text, such as CSV.
        """
        encoding.check_policy(rules.duplicates)
        cleaning = Cleaning(found, rules.missing)
        there = cleaning.labelled(table)
        cleaning.check(rules.strict)
        given = table if there is None else table.filter(there)
        item, worker, label = encoding.encode_columns([given[role] for role in found], integers_in_text)
        label = encoding.order_classes(label)
        codes = item.codes, worker.codes, label.codes
        grouped = encoding.group(*codes, len(item.names), len(worker.names), rules.duplicates)
        if grouped.conflict is not None and rules.duplicates == "error":
            first = grouped.conflict
            said = label.names.gather(list(first.labels))
            encoding.refuse_conflicts(grouped.conflicts, item.names[first.item], worker.names[first.worker], said)
        if rules.strict:
            encoding.refuse_repeats(grouped.repeated)
        unlabelled = len(item.names) - len(grouped.items)
        if there is not None:
            unlabelled += table["item"].n_unique() - len(item.names)
        names = item.names if len(grouped.items) == len(item.names) else item.names.gather(grouped.items)
        if len(names) == 0:
            raise DataError(NOTHING_LEFT)
        return cls(
            grouped.item_starts,
            grouped.workers,
            grouped.labels,
            Names(names.alias("item"), worker.names.alias("worker"), label.names.alias("label")),
            ReadingReport(
                cleaning.rows,
                cleaning.unlabelled,
                grouped.repeated,
                grouped.conflicts,
                rules.duplicates,
                unlabelled,
                found,
            ),
            grouped.continued,
        )

    @property
    def n_items(self) -> int:
        """How many items have a label."""
        return len(self.item_starts) - 1

    @property
    def n_workers(self) -> int:
        """How many workers there are, in this slice or not."""
        return len(self.names.workers)

    @property
    def n_classes(self) -> int:
        """How many classes there are, in this slice or not."""
        return len(self.names.classes)

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes."""
        return self.continued is not None

    def slice(self, first: int, last: int) -> "Labels":
        """The items from `first` up to, not including, `last`: the same workers and classes, no copy of labels.

        >>> Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["x", "y", "x"]).slice(1, 2)
        Labels(1 labels of 1 items by 2 workers in 2 classes)
        """
        low, high = int(self.item_starts[first]), int(self.item_starts[last])
        return replace(
            self,
            item_starts=self.item_starts[first : last + 1] - low,
            workers=self.workers[low:high],
            labels=self.labels[low:high],
            continued=None if self.continued is None else self.continued[low:high],
            names=replace(self.names, items=self.names.items.slice(first, last - first)),
        )

    def slices(self, parameters: int) -> list[tuple[int, int]]:
        """First and last item of every slice, where what is counted into has so many `parameters`."""
        return parallel.slices(self.item_starts, parameters)

    def add_slices(self, parameters: int, count: "Callable[[int, int, Labels], Added]") -> "Added":
        """The sum of `count` of each slice, given its first and last item; on threads; see `slices`."""
        total = Sum()
        self._each_slice(parameters, count, total.add)
        return cast(Added, total.value)

    def each_slice(self, step: "Callable[[int, int, Labels], None]") -> None:
        """Run `step` on each slice, given its first and last item; on threads."""
        self._each_slice(0, step, lambda _: None)

    def _each_slice(
        self, parameters: int, step: "Callable[[int, int, Labels], Any]", use: Callable[[Any], object]
    ) -> None:
        places = self.slices(parameters)
        with Threads(len(places)) as threads:
            threads.run(lambda part: step(*places[part], self.slice(*places[part])), use)

    @property
    def remarks(self) -> list[str]:
        """Nothing: they are in memory."""
        return []

    def close(self) -> None:
        """Nothing: memory is let go of when nobody uses it."""

    def __repr__(self) -> str:
        return describe(self)


def shares(labels: Labels) -> Array:
    """The share of the votes on every item that name each class."""
    votes = kernels.votes_per_item(labels.item_starts, labels.continued)
    out = np.empty((labels.n_items, labels.n_classes))
    kernels.vote_shares(labels.item_starts, labels.labels, votes, out)
    return out
