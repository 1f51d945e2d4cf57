"""Labels on disk, where they are too many for memory: parts in a folder, each mapped into memory when it is used."""

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ...errors import CallError
from ...parallel import Sum, Threads
from ..cleaning import Rules
from ..crowd import describe
from ..labels import Labels
from ..names import Names
from ..reading_report import ReadingReport
from ..sources import Scan
from .part_files import Parts
from .partitioning import Phases, partition
from .workspace import Workspace, available_memory, parse_size, show_size

Done = TypeVar("Done")

# Bytes on disk for a row: as it was read, and sorted with scores of ten classes for every fifth.
_ROW: Final = 60
# The least bytes of memory for a row: rows are written 500 times then, to a thousand parts by two threads.
_LEAST: Final = 1
# Bytes in memory for a row while all labels are read into it, besides what they are on disk.
_ROW_IN_MEMORY: Final = 110


def _require_useful(memory: int, rows: int) -> None:
    """Refuse so little memory that parts are a few rows each, and opening their files is all that is done."""
    least = rows * _LEAST
    if memory < least:
        raise CallError(
            f"{show_size(memory)} of memory are too little for about {rows:,} rows, which would fall into thousands of "
            f"tiny files: give at least {show_size(least)} (--memory), a byte a row."
        )


def fits(scans: Sequence[Scan], memory: str | int | None) -> bool:
    """Whether the rows can be read into `memory`, or into what is free if it is None."""
    needed = sum(rows * _ROW_IN_MEMORY + stored for rows, stored in (one.size() for one in scans))
    return needed <= (available_memory() if memory is None else parse_size(memory))


class LabelsOnDisk:
    """Who said what about which item, where that is too much for memory: what `Labels` is, in parts on disk.

    Methods that sweep over the items fit it as they fit `Labels`; others say that they cannot. Its folder is removed
    when it is closed (it is a context manager), forgotten, or the program ends.

    Attributes:
        names: What workers and classes are called; items have their names in their part.
        report: What was read and repaired.
        phases: Told how far each phase of the work is.
    """

    place: Final = "disk"

    def __init__(self, parts: Parts, report: ReadingReport, phases: Phases) -> None:
        self.parts = parts
        self.names: Names = parts.names
        self.report = report
        self.phases = phases
        self.n_items = sum(part.items for part in parts.parts)
        self.n_labels = sum(part.labels for part in parts.parts)
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = any(part.continued for part in parts.parts)
        self._fits = itertools.count()

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
        """Read files into parts; `memory` is what may be taken while working, half of what is free if it is None."""
        try:
            limit = available_memory() // 2 if memory is None else parse_size(memory)
            rows = sum(one.size()[0] for one in scans)
            _require_useful(limit, rows)
            place.require(rows * _ROW)
            return cls(*partition(scans, found, rules, place, limit, rows, phases), phases)
        except BaseException:
            place.close()
            raise

    @property
    def folder(self) -> str:
        """Where the parts are."""
        return os.fspath(self.parts.place.path)

    @property
    def remarks(self) -> list[str]:
        """Where the parts are, and which folders beside theirs killed runs left behind."""
        abandoned = [f"A run that was killed left {path} behind; remove it." for path in self.parts.place.abandoned()]
        return [f"Working on disk: {self.n_parts:,} parts in {self.folder}.", *abandoned]

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.parts.parts)

    def close(self) -> None:
        """Remove the parts."""
        self.parts.place.close()

    def __enter__(self) -> "LabelsOnDisk":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next_fit(self) -> int:
        """A number for the files of one more fit."""
        return next(self._fits)

    def add(self, count: Callable[[int, Labels], tuple[Any, ...]], phase: str) -> Any:
        """The sum of `count` over the parts, given the number of each and its labels."""
        total = Sum()
        self.each(count, total.add, phase)
        return total.value

    def each(self, step: Callable[[int, Labels], Done], use: Callable[[Done], None], phase: str | None = None) -> None:
        """Do `step` for every part on threads, and `use` the outcomes in order."""
        done = itertools.count(1)

        def use_one(outcome: Done) -> None:
            use(outcome)
            if phase is not None:
                self.phases(phase, next(done) / self.n_parts)

        with Threads(self.n_parts) as threads:
            threads.run(lambda number: step(number, self.parts.load(number)), use_one)

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts in {self.folder}")
