"""`Workspace`: a temporary folder for large files, and whether there is room for them."""

import errno
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import polars as pl

from ..errors import CallError, DataError, is_utf_8, require_kind, require_no_address
from ..system import first_line, lock, show_size

_PREFIX: Final = "crowdwise-"
# A file that marks a folder as created by crowdwise. The process that uses the folder keeps this file locked.
_MARKER: Final = ".crowdwise-workspace"
_MARKER_TEXT: Final = b"crowdwise works in this folder. When no crowdwise runs, the folder can be removed.\n"
# How much is copied at once.
_PIECE_BYTES: Final = 1 << 20


class Workspace:
    """A temporary folder, which is removed when it is closed, when it is no longer used, or when the program ends.

    It is created in `parent`, None for the system's folder for large temporary files. Raises `CallError` if that does
    not exist or may not be written to.
    """

    def __init__(self, parent: str | os.PathLike[str] | None) -> None:
        require_kind("workdir", parent, str | os.PathLike | None, "the path of a folder, or None")
        require_no_address(parent, "The folder of workdir (--workdir)")
        self._parent = Path(parent) if parent is not None else _default_parent()
        self._needed = 0
        if not os.path.isdir(self._parent):  # noqa: PTH112  # a `Path` raises if the name is too long
            raise CallError(f"There is no folder {self._parent} to work in.")
        if not os.access(self._parent, os.W_OK):
            raise CallError(f"The folder {self._parent} may not be written to; name another to work in.")
        if not is_utf_8(os.fspath(self._parent)):
            # polars opens the files in it by their paths, and takes no others
            raise CallError(f"The path {self._parent} is not text in UTF-8; name another folder to work in.")
        with self.writing():
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._parent))
        marker_descriptor = _mark(self.path)
        self.close = weakref.finalize(self, _remove, self.path, marker_descriptor)

    def abandoned(self) -> list[Path]:
        """Return the folders beside this one that processes left behind which were killed."""
        folders = sorted(self._parent.glob(f"{_PREFIX}*"))
        return [path for path in folders if path != self.path and _is_abandoned(path)]

    def require(self, needed: int) -> None:
        """Raise `DataError` if the disk has less than `needed` bytes free."""
        self._needed = needed
        if needed > shutil.disk_usage(self._parent).free:
            raise self._too_small()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn the errors of a full disk, and all others of writing to the folder, into a `DataError` that says so."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as problem:
            # polars has errors of its own kinds, and says in them what the system said.
            if getattr(problem, "errno", None) == errno.ENOSPC or "No space left" in str(problem):
                raise self._too_small() from problem
            raise DataError(
                f"A temporary file in {self._parent} could not be written: {first_line(problem)}. Name another folder "
                "with workdir (--workdir)."
            ) from problem

    def copy(self, stream: IO[bytes], name: str) -> Path:
        """Copy a stream to a file of this name in the folder, and return the path of the file."""
        path = self.path / name
        with path.open("wb", buffering=0) as file:
            while piece := stream.read(_PIECE_BYTES):
                with self.writing():
                    while piece:
                        piece = piece[file.write(piece) :]
        return path

    def _too_small(self) -> DataError:
        free = show_size(shutil.disk_usage(self._parent).free)
        needed = f"about {show_size(self._needed)} are needed there for the labels, and " if self._needed else ""
        return DataError(
            f"The disk of {self._parent} is too small: {needed}{free} are free. Name a folder on a larger one with "
            "workdir (--workdir)."
        )


def _mark(folder: Path) -> int | None:
    """Put a marker file into a folder, lock it, and return its file descriptor, which stays open.

    Where files cannot be locked, no marker is left and None is returned. The text is written only after the file is
    locked, and a marker without text is ignored, so no other process can take this folder for abandoned.
    """
    marker = folder / _MARKER
    descriptor = None
    with suppress(OSError):  # such as a full disk, which is reported when labels are written
        descriptor = os.open(marker, os.O_RDWR | os.O_CREAT, 0o600)
        if lock(descriptor, wait=True):  # another process may hold the lock for a moment while it checks the marker
            os.write(descriptor, _MARKER_TEXT)
            return descriptor
    if descriptor is not None:
        os.close(descriptor)
        marker.unlink(missing_ok=True)
    return None


def _is_abandoned(folder: Path) -> bool:
    """Return whether a folder has a marker file with its text, which we may open and no process has locked.

    Or whether it is empty and has a name as `tempfile` makes it for us: a process leaves it so that is killed before
    it marks its folder.
    """
    marker = folder / _MARKER
    with suppress(OSError):  # it is no folder, was just removed, or may not be read
        if not any(folder.iterdir()):
            return re.fullmatch(rf"{_PREFIX}[a-z0-9_]{{8}}", folder.name) is not None
        if marker.is_file() and marker.stat().st_size:
            with marker.open("r+b") as file:
                return lock(file.fileno(), wait=False)
    return False


def _remove(folder: Path, marker_descriptor: int | None) -> None:
    """Remove a folder: its marker last, so that the next run names what is left if this process is killed meanwhile.

    The marker stays locked until then, so that no other process takes the folder for abandoned. Windows removes no open
    file: the marker is removed there after it is closed; and stays, if another file does.
    """
    for path in folder.glob("[!.]*"):
        with suppress(OSError):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    if marker_descriptor is not None:
        os.close(marker_descriptor)
    if {path.name for path in folder.glob("*")} <= {_MARKER}:
        shutil.rmtree(folder, ignore_errors=True)


def _default_parent() -> Path:
    # /tmp is often kept in memory, of which there is not enough here.
    var_tmp = Path("/var/tmp")
    if "TMPDIR" not in os.environ and var_tmp.is_dir() and os.access(var_tmp, os.W_OK):
        return var_tmp
    return Path(tempfile.gettempdir())
