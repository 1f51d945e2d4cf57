"""The files of `LabelsOnDisk`: for each part, its arrays and the names of its items."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from ...crowd.encoding import Grouped
from ...crowd.knowledge import NOTHING_KNOWN, Known, gold_codes
from ...crowd.labels import Labels
from ...crowd.names import Names
from ...crowd.numbering import Numbering
from ...crowd.reading_report import ReadingReport
from ...numerics import Array
from ..workspace import Workspace

# A part has no report of its own: the report is about the whole crowd.
_NO_REPORT: Final = ReadingReport(0)


@dataclass(frozen=True)
class Part:
    """The labels of some of the items, stored in files.

    Attributes:
        folder: The folder with the files.
        number: The number of the part, which its file names start with.
        items: The number of items.
        labels: The number of labels.
        continued: Whether votes of the crowd can name several classes.
    """

    folder: Path
    number: int
    items: int
    labels: int
    continued: bool

    def path(self, what: str) -> Path:
        """Return the path of the file with one of the arrays."""
        return self.folder / f"{self.number:04}.{what}"

    def write(self, grouped: Grouped | Labels, names: pl.Series) -> None:
        """Write all files of the part; a part without items has none."""
        if not self.items:
            return
        arrays = {"starts": grouped.item_starts, "workers": grouped.workers, "labels": grouped.labels}
        if grouped.continued is not None:
            arrays["continued"] = grouped.continued
        for what, array in arrays.items():
            save(self.path(what), array)
        names.alias("item").to_frame().write_ipc(self.path("items"))

    def load(self, names: Names, dtype: Any) -> Labels:
        """Map the files into memory as `Labels`. `names` are those of the crowd, `dtype` is the type of labels."""
        continued = None
        if self.continued:
            has_file = self.path("continued").is_file()
            continued = load(self.path("continued"), np.bool_) if has_file else np.zeros(self.labels, np.bool_)
        starts, workers = load(self.path("starts"), np.int64), load(self.path("workers"), np.int32)
        return Labels(starts, workers, load(self.path("labels"), dtype), names, _NO_REPORT, continued)

    def item_names(self, integers: bool) -> pl.Series:
        """Read the names of the items. `integers` says whether they are integers that are stored as text."""
        names = pl.read_ipc(self.path("items")).to_series()
        return names.cast(pl.Int64) if integers else names


@dataclass(frozen=True)
class Parts:
    """All parts of a crowd on disk.

    Attributes:
        place: The folder with the parts.
        parts: The parts that have items.
        names: The names of workers and classes, in order of first appearance. The names of items are stored in their
            part.
        worker_places: The number of every worker; the parts have workers by their numbers.
        dtype: The data type of labels.
        integers: Whether the names of items are integers that are stored as text.
        memory: How many bytes of memory may be used while working.
        recoded: The class that each stored label stands for; None if labels are stored as what they stand for.
        gold: The columns item, and code for the number of the known class of this item; None if no class is known.
        known: What else is known beforehand.
    """

    place: Workspace
    parts: list[Part]
    names: Names
    worker_places: Array
    dtype: Any
    integers: bool
    memory: int
    recoded: Array | None = None
    gold: pl.DataFrame | None = None
    known: Known = NOTHING_KNOWN
    _mapped: dict[int, Labels] = field(default_factory=dict)
    # For every part that was loaded: where its items of known class are, and these classes.
    _known_items: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    @cached_property
    def n_labels(self) -> int:
        """The number of labels of all parts."""
        return sum(part.labels for part in self.parts)

    def load(self, number: int) -> Labels:
        """Return the labels of one part, without the names of its items."""
        if number in self._mapped:
            return self._mapped[number]
        labels = self.parts[number].load(self._numbered_names, self.dtype)
        labels = complete(labels, self.recoded, self._gold_of(number), self.known, self.n_labels)
        if self.stay_mapped:
            self._mapped[number] = labels
        return labels

    def _gold_of(self, number: int) -> Array | None:
        """Return (items), the known class of every item of a part, -1 where it is not known; None if none is known.

        Few items are known, so these are remembered: reading the names of all items takes longer than most sweeps.
        """
        if self.gold is None:
            return None
        if number not in self._known_items:
            codes = gold_codes(self.item_names(number), self.gold)
            places = np.flatnonzero(codes >= 0)
            self._known_items[number] = places, codes[places]
        places, classes = self._known_items[number]
        gold = np.full(self.parts[number].items, -1)
        gold[places] = classes
        return gold

    @property
    def numbering(self) -> Numbering:
        """The numbers of the workers. Items need none: the parts have them in the order of their numbers."""
        return Numbering.of_workers(self.worker_places)

    @cached_property
    def _numbered_names(self) -> Names:
        return self.names.numbered(self.numbering)

    @cached_property
    def stay_mapped(self) -> bool:
        """Whether all parts stay mapped into memory between passes, which saves the time to map them again.

        They do if all labels and scores together take less than a third of the memory that may be used.
        """
        items, labels = sum(part.items for part in self.parts), sum(part.labels for part in self.parts)
        size = labels * (5 + self.dtype.itemsize) + items * (8 + 8 * len(self.names.classes))
        return bool(size < self.memory / 3)

    def with_classes(self, classes: pl.Series) -> "Parts":
        """Return the same parts with these classes, which are all that the labels name and perhaps more."""
        codes = self.names.codes_in(classes).astype(np.min_scalar_type(len(classes) - 1))
        names = replace(self.names, classes=classes)
        return replace(self, names=names, recoded=codes if self.recoded is None else codes[self.recoded], _mapped={})

    def with_known(self, gold: pl.DataFrame | None, known: Known) -> "Parts":
        """Return the same parts with what is known beforehand; see `Crowd.with_known`."""
        return replace(self, gold=gold, known=known, _mapped={}, _known_items={})

    def item_names(self, number: int) -> pl.Series:
        """Return the names of the items of one part."""
        return self.parts[number].item_names(self.integers)


def complete(labels: Labels, recoded: Array | None, gold: Array | None, known: Known, crowd_labels: int) -> Labels:
    """Add to the stored labels of a part what became known after they were stored.

    Args:
        labels: The labels of the part, as they are stored.
        recoded: The class that each stored label stands for; None if labels are stored as what they stand for.
        gold: (items), the known class of every item, -1 where it is not known; None if no class is known.
        known: What else is known beforehand.
        crowd_labels: How many labels all parts have.
    """
    classes = labels.labels if recoded is None else recoded[labels.labels]
    return replace(labels, labels=classes, gold=gold, known=known, crowd_labels=crowd_labels)


def save(path: Path, array: Array) -> None:
    """Write the bytes of an array to a file.

    On a full disk this raises OSError, whereas writing to a file that is mapped into memory would end the program.
    """
    with path.open("wb") as file:
        file.write(np.ascontiguousarray(array).data)


def load(path: Path, dtype: Any) -> Array:
    """Map a file into memory as an array. It is writable, because kernels are compiled for writable arrays."""
    return np.memmap(path, dtype, "r+").view(np.ndarray)
