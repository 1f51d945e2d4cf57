"""Temporary folders to work in, and how much memory and disk space there is."""

import errno
import os
import re
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import polars as pl

from ...errors import CallError, DataError, is_utf_8, require_kind, shown
from ..addresses import require_no_address
from ..frames import first_line
from ..locks import lock

_PREFIX: Final = "crowdwise-"
# A file that marks a folder as created by crowdwise. The process that uses the folder keeps this file locked.
_MARKER: Final = ".crowdwise-workspace"
_MARKER_TEXT: Final = b"crowdwise works in this folder. When no crowdwise runs, the folder can be removed.\n"
# Which control groups this process is in, and where Linux shows them.
_OWN_GROUPS: Final = "/proc/self/cgroup"
_GROUPS: Final = "/sys/fs/cgroup"
# The free memory in bytes to assume if the system does not report it. Most machines have more.
_FALLBACK_MEMORY: Final = 1 << 30
# The structure that Windows fills in when it is asked for its memory: two numbers of 4 bytes (the length of the
# structure and the load), then seven numbers of 8 bytes (all memory, free memory, and five that are not used here).
_WINDOWS_MEMORY: Final = struct.Struct("=2L7Q")
_UNITS: Final = ("", "K", "M", "G", "T")
# A size is at most this many bytes, which no machine has.
_LARGEST_SIZE: Final = 1e18
# How much is copied at once.
_PIECE_BYTES: Final = 1 << 20


def parse_size(text: str | int) -> int:
    """Return the number of bytes that a number or text stands for. Raises `CallError` if it is not a size.

    >>> parse_size("4GB"), parse_size("1.5 gb"), parse_size("512MiB")
    (4000000000, 1500000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", str(text).upper(), re.ASCII)
    size = float(match[1]) * (1024 if match[3] else 1000) ** _UNITS.index(match[2]) if match else 0.0
    if not 1 <= size <= _LARGEST_SIZE:
        raise CallError(f"memory={shown(text)} is no size; write it as 4GB or 500MB.")
    return int(size)


def show_size(size: float) -> str:
    """Return a number of bytes as text for people.

    >>> show_size(1_234_567_890), show_size(20_000)
    ('1.2 GB', '0.02 MB')
    """
    return f"{size / 10**9:,.1f} GB" if size >= 10**8 else f"{size / 10**6:,.2g} MB"


def available_memory() -> int:
    """Return the number of bytes that this process may still use: the free memory, or what its container allows.

    Where the system does not say how much is free, such as on macOS, this is all memory of the machine.
    """
    free = _free_in_linux() or _total_by_sysconf() or _free_in_windows() or _FALLBACK_MEMORY
    for limit, used in _limits():
        allowed, taken = _text_of(limit).strip(), _text_of(used).strip()
        if allowed.isdigit() and taken.isdigit():
            free = min(free, max(int(allowed) - int(taken), 0))
    return free


def _limits() -> Iterator[tuple[Path, Path]]:
    """Yield the files with the limit and the use of memory, in bytes, of every control group that this process is in.

    A container sees its own group as the root. Elsewhere, as in a service of systemd or a job of a cluster, the group
    has a path, and the limits of the groups above it hold too.
    """
    for line in _text_of(Path(_OWN_GROUPS)).splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds == "":  # version 2
            root, limit, used = Path(_GROUPS), "memory.max", "memory.current"
        elif "memory" in kinds.split(","):
            root, limit, used = Path(_GROUPS, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.strip("/")
        for folder in (group, *group.parents):
            if folder.is_relative_to(root):
                yield folder / limit, folder / used


def _text_of(path: Path) -> str:
    """Return the text of a system file; empty if there is no such file."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _free_in_linux() -> int:
    """Return the free memory in bytes as reported by Linux; 0 on other systems."""
    match = re.search(r"MemAvailable:\s+(\d+) kB", _text_of(Path("/proc/meminfo")))
    return int(match[1]) * 1024 if match else 0


def _total_by_sysconf() -> int:
    """Return all memory of the machine in bytes; 0 if there is no sysconf or it does not know."""
    sysconf = getattr(os, "sysconf", None)
    if sysconf is None:
        return 0
    try:
        size, count = sysconf("SC_PAGE_SIZE"), sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
    return int(size * count) if size > 0 and count > 0 else 0


def _free_in_windows() -> int:
    """Return the free memory in bytes as reported by Windows; 0 on other systems."""
    import ctypes

    windows = getattr(ctypes, "windll", None)
    if windows is None:
        return 0
    empty = _WINDOWS_MEMORY.pack(_WINDOWS_MEMORY.size, *[0] * 8)
    answer = ctypes.create_string_buffer(empty, _WINDOWS_MEMORY.size)
    if not windows.kernel32.GlobalMemoryStatusEx(answer):
        return 0
    _, _, _, free, *_ = _WINDOWS_MEMORY.unpack(answer.raw)
    return int(free)


class Workspace:
    """A temporary folder, which is removed when it is closed, when it is no longer used, or when the program ends.

    Args:
        parent: The folder to create it in; None for the system's folder for large temporary files. `CallError` is
            raised if it does not exist or may not be written to.

    Attributes:
        path: The path of the folder.
        close: Removes the folder.
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
        """Return folders beside this one that were left by processes that were killed.

        These are folders with a marker file that no running process has locked, where files can be locked; and empty
        folders with a name like ours, which a process leaves that is killed before it marks its folder.
        """
        folders = [path for path in sorted(self._parent.glob(f"{_PREFIX}*")) if path != self.path]
        return [path for path in folders if _is_abandoned(path / _MARKER) or _is_unmarked(path)]

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
        """Return the error that says that the disk is too small."""
        free = show_size(shutil.disk_usage(self._parent).free)
        needed = f"about {show_size(self._needed)} are needed there for the labels, and " if self._needed else ""
        return DataError(
            f"The disk of {self._parent} is too small: {needed}{free} are free. Name a folder on a larger one with "
            "workdir (--workdir)."
        )


def _mark(folder: Path) -> int | None:
    """Put a marker file into a folder, lock it, and return its file descriptor, which stays open.

    Where files cannot be locked, no marker is left and None is returned.
    """
    marker = folder / _MARKER
    descriptor = None
    try:
        descriptor = os.open(marker, os.O_RDWR | os.O_CREAT, 0o600)
        # A marker without text is ignored by other processes, and the text is written only after the file is locked.
        # So no other process can take this folder for abandoned. Waiting is needed because another process may hold
        # the lock for a moment while it checks the marker.
        if lock(descriptor, wait=True):
            os.write(descriptor, _MARKER_TEXT)
            return descriptor
    except OSError:  # such as a full disk, which is reported when labels are written
        pass
    if descriptor is not None:
        os.close(descriptor)
        marker.unlink(missing_ok=True)
    return None


def _is_unmarked(folder: Path) -> bool:
    """Return whether a folder is empty and has a name as `tempfile` makes it for us."""
    try:
        return re.fullmatch(rf"{_PREFIX}[a-z0-9_]{{8}}", folder.name) is not None and not any(folder.iterdir())
    except OSError:  # it is no folder, or was just removed
        return False


def _is_abandoned(marker: Path) -> bool:
    """Return whether this is a marker file with its text, which we may open and no process has locked."""
    try:
        if not marker.is_file() or marker.stat().st_size == 0:
            return False
        descriptor = os.open(marker, os.O_RDWR)
    except OSError:
        return False
    try:
        return lock(descriptor, wait=False)
    finally:
        os.close(descriptor)


def _remove(folder: Path, marker_descriptor: int | None) -> None:
    """Remove a folder, and unlock its marker afterwards, so that no other process takes the folder for abandoned.

    The marker is removed last, so that the next run names what is left if this process is killed meanwhile.
    """
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != _MARKER:
            with suppress(OSError):
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    if marker_descriptor is not None:
        os.close(marker_descriptor)
    # Windows does not remove open files, and the marker was open until now. If other files are still open, the marker
    # is kept beside them, so that the next run reports the folder as abandoned.
    if folder.is_dir() and {path.name for path in folder.iterdir()} <= {_MARKER}:
        shutil.rmtree(folder, ignore_errors=True)


def _default_parent() -> Path:
    """Return the folder for large temporary files.

    /var/tmp is preferred to /tmp, because /tmp is often kept in memory, of which there is not enough here.
    """
    var_tmp = Path("/var/tmp")
    if "TMPDIR" not in os.environ and var_tmp.is_dir() and os.access(var_tmp, os.W_OK):
        return var_tmp
    return Path(tempfile.gettempdir())
