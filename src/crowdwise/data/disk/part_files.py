"""Parts on disk: the three arrays of `Labels`, mapped into memory when they are used, and the names of the items."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from ...kernels import Array
from ..encoding import Grouped
from ..labels import Labels
from ..names import Names
from ..reading_report import ReadingReport
from .workspace import Workspace

_NO_REPORT: Final = ReadingReport(0)


@dataclass(frozen=True)
class Part:
    """The labels of some items.

    Attributes:
        folder: Where its files are.
        number: Which one it is.
        items: How many items it has.
        labels: How many labels they have.
        continued: Whether the crowd has votes that name several classes.
    """

    folder: Path
    number: int
    items: int
    labels: int
    continued: bool

    def path(self, what: str) -> Path:
        """The file of one of its arrays."""
        return self.folder / f"{self.number:04}.{what}"

    def write(self, grouped: Grouped, names: pl.Series) -> None:
        """Write everything; an empty part has no files."""
        if not self.items:
            return
        arrays = {"starts": grouped.item_starts, "workers": grouped.workers, "labels": grouped.labels}
        if grouped.continued is not None:
            arrays["continued"] = grouped.continued
        for what, array in arrays.items():
            save(self.path(what), array)
        names.alias("item").to_frame().write_ipc(self.path("items"))

    def load(self, names: Names, dtype: Any) -> Labels:
        """Its labels, mapped into memory."""
        continued = None
        if self.continued:
            there = self.path("continued").is_file()
            continued = load(self.path("continued"), np.bool_) if there else np.zeros(self.labels, np.bool_)
        starts, workers = load(self.path("starts"), np.int64), load(self.path("workers"), np.int32)
        return Labels(starts, workers, load(self.path("labels"), dtype), names, _NO_REPORT, continued)

    def item_names(self, integers: bool) -> pl.Series:
        """What its items are called; `integers` if text stands for those."""
        names = pl.read_ipc(self.path("items")).to_series()
        return names.cast(pl.Int64) if integers else names


@dataclass(frozen=True)
class Parts:
    """All parts of a crowd.

    Attributes:
        place: The folder they are in.
        parts: Those that have items.
        names: What workers and classes are called; items have their names in their part.
        dtype: Of labels.
        integers: Whether the items' names are integers in text.
        memory: What may be taken while working on them.
    """

    place: Workspace
    parts: list[Part]
    names: Names
    dtype: Any
    integers: bool
    memory: int
    _mapped: dict[int, Labels] = field(default_factory=dict)

    def load(self, number: int) -> Labels:
        """The labels of one part, without the names of its items."""
        if number in self._mapped:
            return self._mapped[number]
        labels = self.parts[number].load(self.names, self.dtype)
        if self.stay_mapped:
            self._mapped[number] = labels
        return labels

    @cached_property
    def stay_mapped(self) -> bool:
        """Whether all labels and scores together may stay in memory between passes: mapping them anew takes time."""
        items, labels = sum(part.items for part in self.parts), sum(part.labels for part in self.parts)
        size = labels * (5 + self.dtype.itemsize) + items * (8 + 8 * len(self.names.classes))
        return bool(size < self.memory / 3)

    def item_names(self, number: int) -> pl.Series:
        """The names of its items."""
        return self.parts[number].item_names(self.integers)


def save(path: Path, array: Array) -> None:
    """Write an array's bytes; a full disk is an OSError here, where a mapped page would end the program."""
    with path.open("wb") as file:
        file.write(np.ascontiguousarray(array).data)


def load(path: Path, dtype: Any) -> Array:
    """Map a file as an array; writable, because kernels are compiled for writable arrays."""
    return np.memmap(path, dtype, "r+").view(np.ndarray)
