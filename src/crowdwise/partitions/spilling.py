"""`Spill`: keep tables in memory as long as they fit, and write the others to a workspace."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

import polars as pl

from .workspace import Workspace

_FOLDER: Final = "kept"


class Spill:
    """Keeps tables, and makes a workspace when one is needed.

    Args:
        room: How many bytes of tables stay in memory.
        make: Makes the workspace.

    Attributes:
        workspace: The workspace; None as long as there is none.
    """

    def __init__(self, room: int, make: Callable[[], Workspace]) -> None:
        self._room = room
        self._make = make
        self._written = 0
        self.workspace: Workspace | None = None

    def open(self) -> Workspace:
        """Return the workspace, which is made if there is none yet."""
        self.workspace = self.workspace or self._make()
        return self.workspace

    def copy(self, stream: IO[bytes], name: str) -> Path:
        """Copy a stream to a file in the workspace."""
        return self.open().copy(stream, name)

    def keep(self, table: pl.DataFrame) -> pl.DataFrame | Path:
        """Return a table as it is if there is room for it, else the path of an Arrow file with it."""
        self._room -= int(table.estimated_size())
        if self._room >= 0:
            return table
        workspace = self.open()
        path = workspace.path / _FOLDER / f"{self._written}.arrow"
        self._written += 1
        with workspace.writing():
            path.parent.mkdir(exist_ok=True)
            table.write_ipc(path, compression="lz4")  # what is compressed is not mapped, so it can be removed
        return path

    def remove_kept(self) -> None:
        """Remove the tables from the disk, when what was made of them no longer needs them."""
        if self.workspace is not None:
            shutil.rmtree(self.workspace.path / _FOLDER, ignore_errors=True)

    def close(self) -> None:
        """Remove the workspace."""
        if self.workspace is not None:
            self.workspace.close()
