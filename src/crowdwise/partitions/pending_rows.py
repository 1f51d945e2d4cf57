"""`PendingRows`: rows on disk that are split by part, before a part is sorted."""

from pathlib import Path

import polars as pl

from ..numerics import Array
from .workspace import Workspace


class PendingRows:
    """Rows that are split by part: collected in memory, and written to disk when there are too many.

    Args:
        workspace: The folder to write to.
        parts: The number of parts.
        most_rows: The number of rows to keep in memory.
    """

    def __init__(self, workspace: Workspace, parts: int, most_rows: int) -> None:
        self.workspace = workspace
        self._tables: list[list[pl.DataFrame]] = [[] for _ in range(parts)]
        self._most_rows = most_rows
        self._rows = 0
        self._flushes = 0

    def add(self, table: pl.DataFrame, starts: Array) -> None:
        """Add rows that are sorted by part; part p has the rows from `starts[p]` up to `starts[p + 1]`."""
        for tables, first, last in zip(self._tables, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if last > first:
                tables.append(table[first:last])
        self._rows += table.height
        if self._rows > self._most_rows:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory to disk, in one file per part."""
        with self.workspace.writing():
            for number, tables in enumerate(self._tables):
                if tables:
                    pl.concat(tables).write_ipc(self.workspace.path / f"{number:04}-{self._flushes:05}.rows")
                    tables.clear()
        self._flushes += 1
        self._rows = 0

    def get(self, number: int) -> pl.DataFrame | None:
        """Return the rows of one part in the order they were read; None if there are none."""
        tables = [pl.read_ipc(path) for path in self._paths(number)]
        return pl.concat(tables, rechunk=True) if tables else None

    def pop(self, number: int) -> pl.DataFrame | None:
        """Return the rows of one part as `get` does, and remove their files."""
        table = self.get(number)
        for path in self._paths(number):
            path.unlink()
        return table

    def _paths(self, number: int) -> list[Path]:
        """Return the files of one part, in the order they were written."""
        return sorted(self.workspace.path.glob(f"{number:04}-*.rows"))
