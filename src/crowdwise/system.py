"""What the operating system says and does: how much memory is free, sizes in words, locks on files.

Modules that only some operating systems have are imported when they are used, so that this file can be imported on
all systems.
"""

import importlib
import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .errors import CallError, shown

# Windows locks single bytes, which nobody can read then. So a byte far behind the content of the file is locked.
_LOCKED_BYTE: Final = 1 << 30
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


def first_line(problem: BaseException) -> str:
    """Return the first line of another library's error message, without the full stop at the end."""
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0].rstrip(".:")


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
        allowed, taken = text_of(limit).strip(), text_of(used).strip()
        if allowed.isdigit() and taken.isdigit():
            free = min(free, max(int(allowed) - int(taken), 0))
    return free


def _limits() -> Iterator[tuple[Path, Path]]:
    """Yield the files with the limit and the use of memory, in bytes, of every control group that this process is in.

    A container sees its own group as the root. Elsewhere, as in a service of systemd or a job of a cluster, the group
    has a path, and the limits of the groups above it hold too.
    """
    for line in text_of(Path(_OWN_GROUPS)).splitlines():
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


def text_of(path: Path) -> str:
    """Return the text of a small file of the system; empty if there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _free_in_linux() -> int:
    """Return the free memory in bytes as reported by Linux; 0 on other systems."""
    match = re.search(r"MemAvailable:\s+(\d+) kB", text_of(Path("/proc/meminfo")))
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


def lock(descriptor: int, wait: bool) -> bool:
    """Lock an open file, and wait for other processes if `wait`; return False if it cannot be locked.

    The system removes the lock when the process ends, even if it is killed.
    """
    try:
        if (unix := _module("fcntl")) is not None:
            unix.flock(descriptor, unix.LOCK_EX | (0 if wait else unix.LOCK_NB))
            return True
        if (windows := _module("msvcrt")) is not None:
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            windows.locking(descriptor, windows.LK_LOCK if wait else windows.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
            return True
    except OSError:
        return False
    return False


def _module(name: str) -> Any:
    """Import a module that only some systems have; returns None on the others."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
