"""Memory and disk: how much there is, how much is asked for, and a folder that is gone when the work is."""

import errno
import fcntl
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import polars as pl

from ...errors import CallError, DataError

_PREFIX: Final = "crowdwise-"
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
    """Bytes that this process may still take: what the machine has free, or what its container allows."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    about = Path("/proc/meminfo")
    if about.is_file():
        match = re.search(r"MemAvailable:\s+(\d+) kB", about.read_text())
        free = int(match[1]) * 1024 if match else free
    limit = Path("/sys/fs/cgroup/memory.max")
    if limit.is_file() and (text := limit.read_text().strip()).isdigit():
        used = int((limit.parent / "memory.current").read_text())
        free = min(free, max(int(text) - used, 0))
    return free


class Workplace:
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
        # The system lets go of it when the process ends, however it ends: what nobody holds is left behind.
        held = _hold(self.path)
        self.close = weakref.finalize(self, _remove, self.path, held)

    def abandoned(self) -> list[Path]:
        """Folders beside this one that killed processes left behind."""
        found = []
        for path in sorted(self._parent.glob(f"{_PREFIX}*")):
            held = _hold(path)
            if held is not None:
                os.close(held)
                found.append(path)
        return found

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


def _hold(folder: Path) -> int | None:
    """Lock a folder as one's own; None if another has it, or it is not ours to open."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def _remove(folder: Path, held: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if held is not None:
        os.close(held)


def _usual_place() -> Path:
    """Where large temporary files go: /tmp is often memory, which is what we are short of."""
    large = Path("/var/tmp")
    if "TMPDIR" not in os.environ and large.is_dir() and os.access(large, os.W_OK):
        return large
    return Path(tempfile.gettempdir())
