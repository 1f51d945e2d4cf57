"""`LabelsOnDisk`: labels that are too large for memory, in parts on disk that are loaded when needed."""

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import numpy as np
import polars as pl

from ...caution import Caution
from ...crowd.cleaning import Rules
from ...crowd.item_sketch import sketch, union
from ...crowd.knowledge import Known
from ...crowd.label_cautions import cautions_of
from ...crowd.labels import Labels
from ...crowd.names import Names
from ...crowd.protocol import describe
from ...crowd.reading_report import ReadingReport
from ...errors import CallError
from ...numerics import Array
from ...parallel import Sum, Threads
from ...sources.scans import Scan
from ...system import available_memory, parse_size, show_size
from ..workspace import Workspace
from .part_files import Parts
from .partitioning import Phases, partition

Done = TypeVar("Done")

# Disk space in bytes per row: the row as it was read, the sorted row, and scores of ten classes for every fifth row.
_DISK_PER_ROW: Final = 60
# The least memory in bytes per row. With this little, two threads need about 1000 parts, and rows are written to disk
# about 500 times, each time to all parts.
_LEAST_MEMORY_PER_ROW: Final = 1
# Memory in bytes per row while all labels are read into memory, in addition to the size of the file.
_MEMORY_PER_ROW: Final = 110


def _require_enough_memory(memory: int, rows: int) -> None:
    """Raise `CallError` if `memory` is so small that the parts would be thousands of tiny files."""
    least = rows * _LEAST_MEMORY_PER_ROW
    if memory < least:
        raise CallError(
            f"{show_size(memory)} of memory are too little for about {rows:,} rows, which would fall into thousands of "
            f"tiny files: give at least {show_size(least)} (--memory), a byte a row."
        )


def fits(scans: Sequence[Scan], memory: str | int | None) -> bool:
    """Return whether the rows fit into `memory`, or into the free memory if it is None."""
    needed = sum(rows * _MEMORY_PER_ROW + stored for rows, stored in (one.size() for one in scans))
    return needed <= (available_memory() if memory is None else parse_size(memory))


class LabelsOnDisk:
    """The labels that workers gave to items, in parts on disk, for crowds that are too large for memory.

    Methods that go over the items in passes can be fitted to it in the same way as to `Labels`; others refuse it. Its
    folder is removed when it is closed (it is a context manager), when it is no longer used, or when the program ends.

    Args:
        parts: The parts.
        report: What was read, and which rows were dropped or changed.
        phases: Called with the name of a phase of the work and the share of it that is done.

    Attributes:
        names: The names of workers and classes. The names of items are stored in their part.
        numbering: The numbers that workers have while a method works.
        n_items: The number of items that have a label.
        n_labels: The number of labels.
        n_workers: The number of workers.
        n_classes: The number of classes.
        set_valued: Whether some vote names several classes.
        numeric: Whether labels are numbers instead of classes.
        known: What is known beforehand, besides the classes of items.
    """

    place: Final = "disk"

    def __init__(self, parts: Parts, report: ReadingReport, phases: Phases) -> None:
        self.parts = parts
        self.names: Names = parts.names
        self.numbering = parts.numbering
        self.report = report
        self.phases = phases
        self.n_items = sum(part.items for part in parts.parts)
        self.n_labels = parts.n_labels
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = any(part.continued for part in parts.parts)
        self.numeric = parts.dtype == np.float64
        self.known = parts.known
        self._fit_numbers = itertools.count()

    @classmethod
    def read(
        cls,
        scans: Sequence[Scan],
        found: dict[str, str],
        rules: Rules,
        memory: str | int | None,
        place: Workspace,
        phases: Phases,
    ) -> "LabelsOnDisk":
        """Read files into parts on disk.

        Args:
            scans: The files.
            found: The name of the column for each role, for messages.
            rules: What to do with rows that cannot be used as they are.
            memory: How much memory may be used while working; None for half of what is free.
            place: The folder for the parts. It is removed if reading fails.
            phases: Called with the name of a phase of the work and the share of it that is done.

        Raises:
            CallError: `memory` is too small.
            DataError: The disk is too small, or the files cannot be used.
        """
        try:
            limit = available_memory() // 2 if memory is None else parse_size(memory)
            rows = sum(one.size()[0] for one in scans)
            _require_enough_memory(limit, rows)
            place.require(rows * _DISK_PER_ROW)
            return cls(*partition(scans, found, rules, place, limit, rows, phases), phases)
        except BaseException:
            place.close()
            raise

    def with_report(self, report: ReadingReport) -> "LabelsOnDisk":
        """Return the same labels with another report of what was read."""
        return self._with(self.parts, report)

    def with_classes(self, classes: pl.Series) -> "LabelsOnDisk":
        """Return the same labels with these classes, which are all that the labels name and perhaps more."""
        return self._with(self.parts.with_classes(classes))

    def with_known(self, gold: pl.DataFrame | None, known: Known) -> "LabelsOnDisk":
        """Return the same labels with what is known beforehand; see `Crowd.with_known`."""
        return self._with(self.parts.with_known(gold, known))

    def first_item(self) -> Any:
        """Return the name of the first item."""
        return next(name for part in range(self.n_parts) for name in self.parts.item_names(part).head(1))

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items, which are read part by part."""
        return union(sketch(self.parts.item_names(number)) for number in range(self.n_parts))

    def _with(self, parts: Parts, report: ReadingReport | None = None) -> "LabelsOnDisk":
        """Return labels that share their files, and the counter of fits, with these."""
        other = LabelsOnDisk(parts, self.report if report is None else report, self.phases)
        other._fit_numbers = self._fit_numbers
        return other

    @property
    def folder(self) -> str:
        """The path of the folder with the parts."""
        return os.fspath(self.parts.place.path)

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user: where the parts are, and which folders killed runs left there."""
        abandoned = [f"A run that was killed left {path} behind; remove it." for path in self.parts.place.abandoned()]
        return [f"Working on disk: {self.n_parts:,} parts in {self.folder}.", *abandoned]

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self.parts.parts)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about these labels; names that look alike are looked for in memory only."""
        return cautions_of(self)

    def close(self) -> None:
        """Remove the parts from the disk."""
        self.parts.place.close()

    def __enter__(self) -> "LabelsOnDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next_fit(self) -> int:
        """Return a new number each time, to name the files of one fit."""
        return next(self._fit_numbers)

    def add(self, count: Callable[[int, Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` for every part, in threads, and return the sum of what it returns.

        Args:
            count: Takes the number of a part and its labels. Returns a tuple of arrays.
            phase: The name of this phase of the work, for `phases`.
        """
        total = Sum()
        self.each(count, total.add, phase)
        return total.value

    def each(self, step: Callable[[int, Labels], Done], use: Callable[[Done], None], phase: str | None = None) -> None:
        """Call `step` for every part, in threads, and `use` with each outcome, in the order of the parts.

        Args:
            step: Takes the number of a part and its labels.
            use: Takes what `step` returns.
            phase: The name of this phase of the work, for `phases`; None to report nothing.
        """
        with Threads(self.n_parts) as threads:
            outcomes = threads.map(lambda number: step(number, self.parts.load(number)))
            for done, outcome in enumerate(outcomes, 1):
                use(outcome)
                if phase is not None:
                    self.phases(phase, done / self.n_parts)

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts in {self.folder}")
