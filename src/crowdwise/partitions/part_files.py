"""The files of a part: its arrays, and the names of its items."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..crowd.sorting import LabelArrays
from ..numerics import Array


@dataclass(frozen=True)
class PartFiles:
    """The labels of some of the items, stored in files; a part without items has no files.

    Attributes:
        folder: The folder with the files.
        number: The number of the part, which its file names start with.
        items: The number of items.
        integers: Whether the names of items are integers that are stored as text.
    """

    folder: Path
    number: int
    items: int = 0
    integers: bool = False

    def path(self, what: str) -> Path:
        """Return the path of the file with one of the arrays."""
        return self.folder / f"{self.number:04}.{what}"

    def write(self, arrays: LabelArrays, items: pl.Series) -> None:
        """Write all files."""
        for what, array in arrays._asdict().items():
            if array is not None:
                save(self.path(what), array)
        items.alias("item").to_frame().write_ipc(self.path("items"))

    def load(self, dtype: Any) -> LabelArrays:
        """Map the arrays into memory; labels are of this data type."""
        continued = self.path("continued")
        return LabelArrays(
            load(self.path("item_starts"), np.int64),
            load(self.path("workers"), np.int32),
            load(self.path("labels"), dtype),
            load(continued, np.bool_) if continued.is_file() else None,
            load(self.path("soft"), np.float64) if self.path("soft").is_file() else None,
        )

    def item_names(self) -> pl.Series:
        """Read the names of the items."""
        names = pl.read_ipc(self.path("items")).to_series()
        return names.cast(pl.Int64) if self.integers else names


def save(path: Path, array: Array) -> None:
    """Write the bytes of an array to a file.

    On a full disk this raises OSError, whereas writing to a file that is mapped into memory would end the program.
    """
    with path.open("wb") as file:
        file.write(np.ascontiguousarray(array).data)


def load(path: Path, dtype: Any) -> Array:
    """Map a file into memory as an array. It is writable, because kernels are compiled for writable arrays."""
    return np.memmap(path, dtype, "r+").view(np.ndarray)
