"""Memory and disk: how much there is, how much is asked for, and a folder that is gone when the work is.

What only some systems have is looked for when it is used, so that this imports on all of them.
"""

import errno
import importlib
import os
import re
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from ...errors import CallError, DataError

_PREFIX: Final = "crowdwise-"
# The file that says that a folder is ours. The process that works in the folder has it locked.
_MARKER: Final = ".crowdwise-workspace"
_NOTE: Final = b"crowdwise works in this folder. When no crowdwise runs, the folder can be removed.\n"
# Windows locks bytes, not files, and nobody can read them then: this one is far behind the note.
_LOCKED_BYTE: Final = 1 << 20
# The files that say how many bytes a container may take, and how many it has taken: of cgroups 2, and of cgroups 1.
_CONTAINER: Final = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
# Bytes of memory to count on where the system does not say how many there are: most machines have more.
_CAUTIOUS: Final = 1 << 30
# What Windows fills in when it is asked for its memory: two numbers of 4 bytes (the length of this structure and the
# load), then seven of 8 bytes (all memory, free memory, and five of no use here).
_WINDOWS_MEMORY: Final = struct.Struct("=2L7Q")
_UNITS: Final = ("", "K", "M", "G", "T")


def parse_size(text: str | int) -> int:
    """Bytes from a number or from text.

    >>> parse_size("4GB"), parse_size("1.5 gb"), parse_size("512MiB")
    (4000000000, 1500000000, 536870912)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", str(text).upper())
    if match is None or float(match[1]) == 0:
        raise CallError(f"memory={text!r} is no size; write it as 4GB or 500MB.")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS.index(match[2]))


def show_size(size: float) -> str:
    """Bytes for people.

    >>> show_size(1_234_567_890), show_size(20_000)
    ('1.2 GB', '0.02 MB')
    """
    return f"{size / 10**9:,.1f} GB" if size >= 10**8 else f"{size / 10**6:,.2g} MB"


def available_memory() -> int:
    """Bytes that this process may still take: what the machine has free, or what its container allows.

    A system that says only how much memory the machine has in all, such as macOS, is taken at that.
    """
    free = _free_in_linux() or _all_by_sysconf() or _free_in_windows() or _CAUTIOUS
    for limit, used in _CONTAINER:
        allowed, taken = _text_of(limit).strip(), _text_of(used).strip()
        if allowed.isdigit() and taken.isdigit():
            free = min(free, max(int(allowed) - int(taken), 0))
    return free


def _text_of(path: str) -> str:
    """What the system says in one of its files; nothing if there is no such file."""
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _free_in_linux() -> int:
    """Bytes that are free as Linux says it; 0 on other systems."""
    match = re.search(r"MemAvailable:\s+(\d+) kB", _text_of("/proc/meminfo"))
    return int(match[1]) * 1024 if match else 0


def _all_by_sysconf() -> int:
    """Bytes that the machine has in all; 0 where there is no sysconf, or it does not know."""
    ask = getattr(os, "sysconf", None)
    if ask is None:
        return 0
    try:
        size, count = ask("SC_PAGE_SIZE"), ask("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0
    return int(size * count) if size > 0 and count > 0 else 0


def _free_in_windows() -> int:
    """Bytes that are free as Windows says it; 0 on other systems."""
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
    """A folder of one's own to work in; removed when it is closed, forgotten, or the program ends.

    Args:
        parent: Where to make it; None for the system's place for large temporary files.
    """

    def __init__(self, parent: str | os.PathLike[str] | None) -> None:
        self._parent = Path(parent) if parent is not None else _usual_place()
        self._needed = 0
        if not self._parent.is_dir():
            raise CallError(f"There is no folder {self._parent} to work in.")
        if not os.access(self._parent, os.W_OK):
            raise CallError(f"The folder {self._parent} may not be written to; name another with workdir.")
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self._parent))
        held = _mark(self.path)
        self.close = weakref.finalize(self, _remove, self.path, held)

    def abandoned(self) -> list[Path]:
        """Folders beside this one that killed processes left behind.

        These hold the marker, and no living process has it locked. A system that cannot lock files names none.
        """
        return [path for path in sorted(self._parent.glob(f"{_PREFIX}*")) if _is_left_behind(path / _MARKER)]

    def require(self, needed: int) -> None:
        """Refuse to begin where there is no room for so many bytes."""
        self._needed = needed
        if needed > shutil.disk_usage(self._parent).free:
            raise self._too_small()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn a full disk into one sentence."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as problem:
            if getattr(problem, "errno", None) == errno.ENOSPC or "No space left" in str(problem):
                raise self._too_small() from problem
            raise

    def _too_small(self) -> DataError:
        free = shutil.disk_usage(self._parent).free
        return DataError(
            f"The disk of {self._parent} is too small: about {show_size(self._needed)} are needed there for the "
            f"labels, and {show_size(free)} are free. Name a folder on a larger one with workdir (--workdir)."
        )


def _mark(folder: Path) -> int | None:
    """Put the marker into a folder and keep it open and locked; None, and no marker, where files cannot be locked."""
    marker = folder / _MARKER
    opened = None
    try:
        opened = os.open(marker, os.O_RDWR | os.O_CREAT, 0o600)
        # The note is written after the lock is there, and a marker counts only with its note: so no other process
        # takes this folder for one that was left behind. Another may look at the marker just now: wait for that.
        if _lock(opened, wait=True):
            os.write(opened, _NOTE)
            return opened
    except OSError:  # such as a full disk, which is said where something is lost by it
        pass
    if opened is not None:
        os.close(opened)
        marker.unlink(missing_ok=True)
    return None


def _is_left_behind(marker: Path) -> bool:
    """Whether this is a marker with its note that no process has locked, and that we may open."""
    try:
        if not marker.is_file() or marker.stat().st_size == 0:
            return False
        opened = os.open(marker, os.O_RDWR)
    except OSError:
        return False
    try:
        return _lock(opened, wait=False)
    finally:
        os.close(opened)


def _lock(opened: int, wait: bool) -> bool:
    """Lock an open file; False if another process has it locked, or if it cannot be locked here.

    The system gives the lock up when the process ends, however it ends.
    """
    try:
        if (unix := _module("fcntl")) is not None:
            unix.flock(opened, unix.LOCK_EX | (0 if wait else unix.LOCK_NB))
            return True
        if (windows := _module("msvcrt")) is not None:
            os.lseek(opened, _LOCKED_BYTE, os.SEEK_SET)
            windows.locking(opened, windows.LK_LOCK if wait else windows.LK_NBLCK, 1)
            os.lseek(opened, 0, os.SEEK_SET)
            return True
    except OSError:
        return False
    return False


def _module(name: str) -> Any:
    """A module that only some systems have; None on the others."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _remove(folder: Path, held: int | None) -> None:
    """Remove the folder; while that lasts, the marker stays locked."""
    shutil.rmtree(folder, ignore_errors=True)
    if held is not None:
        os.close(held)
    # Windows does not remove a file that is open, which the marker was until now. If other files are still open, the
    # marker stays with them, so that the next run names the folder.
    if folder.is_dir() and {path.name for path in folder.iterdir()} <= {_MARKER}:
        shutil.rmtree(folder, ignore_errors=True)


def _usual_place() -> Path:
    """Where large temporary files go: /tmp is often memory, which is what we are short of."""
    large = Path("/var/tmp")
    if "TMPDIR" not in os.environ and large.is_dir() and os.access(large, os.W_OK):
        return large
    return Path(tempfile.gettempdir())
