"""`LabelsOnDisk`: labels that are too large for memory, in parts on disk that are loaded when needed."""

import itertools
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Self, TypeVar

import numpy as np
import polars as pl

from ..crowd.item_sketch import sketch, union
from ..crowd.knowledge import gold_classes
from ..crowd.labels import Labels
from ..crowd.protocol import describe
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import ReadingReport
from ..errors import CallError
from ..numerics import Array
from ..parallel import Sum, Threads
from ..sources.rows import Rows
from ..system import available_memory, parse_size, show_size
from .crowd_meta import CrowdMeta, LabelsInParts
from .disk_partitioning import Phases, partition
from .part_files import PartFiles
from .workspace import Workspace

Done = TypeVar("Done")

# Disk space in bytes per row: the row as it was read, the sorted row, and scores of ten classes for every fifth row.
_DISK_PER_ROW: Final = 60
# The least memory in bytes per row. With this little, two threads need about 1000 parts, and rows are written to disk
# about 500 times, each time to all parts.
_LEAST_MEMORY_PER_ROW: Final = 1
# Memory in bytes per row while all labels are read into memory, in addition to the size of the file.
_MEMORY_PER_ROW: Final = 110


def fits(entries: Sequence[Rows], memory: str | int | None) -> bool:
    """Return whether the rows fit into `memory`, or into the free memory if it is None."""
    needed = sum(rows * _MEMORY_PER_ROW + stored for rows, stored in (one.size() for one in entries))
    return needed <= (available_memory() if memory is None else parse_size(memory))


class LabelsOnDisk(LabelsInParts):
    """The labels that workers gave to items, in parts on disk, for crowds that are too large for memory.

    Methods that go over the items in passes can be fitted to it in the same way as to `Labels`; others refuse it. Its
    folder is removed when it is closed (it is a context manager), when it is no longer used, or when the program ends.

    Args:
        meta: What all parts know of the crowd.
        report: What was read, and which rows were dropped or changed.
        parts: The files of the parts that have items.
        workspace: The folder with the files.
        memory: How many bytes of memory may be used while working.
        phases: Called with the name of a phase of the work and the share of it that is done.
    """

    place: Final = "disk"

    def __init__(
        self,
        meta: CrowdMeta,
        report: ReadingReport,
        parts: Sequence[PartFiles],
        workspace: Workspace,
        memory: int,
        phases: Phases,
    ) -> None:
        super().__init__(meta, report)
        self._parts = parts
        self.workspace = workspace
        self._memory = memory
        self.phases = phases
        self._fit_numbers = itertools.count()
        self._loaded: dict[int, Labels] = {}
        # For every part that was loaded: where its items of known class are, and these classes.
        self._gold: dict[int, tuple[Array, Array]] = {}

    @classmethod
    def read(
        cls,
        inputs: Sequence[Rows],
        found: dict[str, str],
        options: ReadOptions,
        workspace: Workspace,
        phases: Phases,
    ) -> "LabelsOnDisk":
        """Read rows into parts on disk.

        Args:
            inputs: The rows of each input.
            found: The name of the column for each role, for messages.
            options: How labels are read; half of the free memory may be used if they do not say how much.
            workspace: The folder for the parts. It is removed if reading fails.
            phases: Called with the name of a phase of the work and the share of it that is done.

        Raises:
            CallError: `memory` is too small.
            DataError: The disk is too small, or the rows cannot be used.
        """
        try:
            limit = available_memory() // 2 if options.memory is None else parse_size(options.memory)
            rows = sum(one.size()[0] for one in inputs)
            least = rows * _LEAST_MEMORY_PER_ROW
            if limit < least:
                raise CallError(
                    f"{show_size(limit)} of memory are too little for about {rows:,} rows, which would fall into "
                    f"thousands of tiny files: give at least {show_size(least)} (--memory), a byte a row."
                )
            workspace.require(rows * _DISK_PER_ROW)
            read = partition(inputs, found, options, workspace, limit, rows, phases)
            return cls(*read, workspace, limit, phases)
        except BaseException:
            workspace.close()
            raise

    def _with(self, meta: CrowdMeta) -> Self:
        """Return labels that share files and fit counter with these."""
        other = super()._with(meta)
        other._loaded, other._gold = {}, {}
        return other

    def load(self, number: int) -> Labels:
        """Return the labels of one part, without the names of its items."""
        if number in self._loaded:
            return self._loaded[number]
        labels = self.meta.part(self._parts[number].load(self.meta.dtype), self._gold_of(number))
        if self.stay_mapped:
            self._loaded[number] = labels
        return labels

    def _gold_of(self, number: int) -> Array | None:
        """Return (items), the known class of every item of a part, -1 where it is not known; None if none is known.

        Few items are known, so these are remembered: reading the names of all items takes longer than most sweeps.
        """
        if self.meta.gold is None:
            return None
        if number not in self._gold:
            codes = gold_classes(self.item_names(number), self.meta.gold)
            known = np.flatnonzero(codes >= 0)
            self._gold[number] = known, codes[known]
        known, classes = self._gold[number]
        gold = np.full(self._parts[number].items, -1)
        gold[known] = classes
        return gold

    @cached_property
    def stay_mapped(self) -> bool:
        """Whether all parts stay mapped into memory between passes, which saves the time to map them again.

        They do if all labels and scores together take less than a third of the memory that may be used.
        """
        size = self.n_labels * (5 + self.meta.dtype.itemsize) + self.n_items * (8 + 8 * self.n_classes)
        return bool(size < self._memory / 3)

    def item_names(self, number: int) -> pl.Series:
        """Return the names of the items of one part."""
        return self._parts[number].item_names()

    def first_item(self) -> Any:
        """Return the name of the first item."""
        return self.item_names(0)[0]

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items, which are read part by part."""
        return union(sketch(self.item_names(number)) for number in range(self.n_parts))

    @property
    def folder(self) -> str:
        """The path of the folder with the parts."""
        return os.fspath(self.workspace.path)

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user: where the parts are, and which folders killed runs left there."""
        abandoned = [f"A run that was killed left {path} behind; remove it." for path in self.workspace.abandoned()]
        return [f"Working on disk: {self.n_parts:,} parts in {self.folder}.", *abandoned]

    @property
    def n_parts(self) -> int:
        """The number of parts."""
        return len(self._parts)

    def close(self) -> None:
        """Remove the parts from the disk."""
        self.workspace.close()

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
            outcomes = threads.map(lambda number: step(number, self.load(number)))
            for done, outcome in enumerate(outcomes, 1):
                use(outcome)
                if phase is not None:
                    self.phases(phase, done / self.n_parts)

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts in {self.folder}")
