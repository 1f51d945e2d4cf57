"""Lock open files, so that other processes can see whether the process that uses a file still runs.

Modules that only some operating systems have are imported when they are used, so that this file can be imported on
all systems.
"""

import importlib
import os
from typing import Any, Final

# Windows locks single bytes, which nobody can read then. So a byte far behind the content of the file is locked.
_LOCKED_BYTE: Final = 1 << 20


def lock(descriptor: int, wait: bool) -> bool:
    """Lock an open file. Returns False if another process has locked it, or if files cannot be locked here.

    The system removes the lock when the process ends, even if it is killed.

    Args:
        descriptor: The file descriptor.
        wait: Whether to wait until no other process has locked the file.
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
