"""`KernelCache`: keeps compiled kernels on disk, wherever files can be kept, and never stops a kernel from running.

Numba puts the machine code beside the source files or into the user's home. Where neither may be written to, as in many
containers, a private folder among the temporary files is used. A kernel whose file is damaged or cannot be written is
compiled anew each time.
"""

# Numba has no types here.
# mypy: disable-error-code="no-untyped-call"

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.runtime.nrt import rtsys

_CHECKSUM_BYTES: Final = hashlib.sha256().digest_size


class _HomeLocator(UserWideCacheLocator):
    """Puts machine code into the user's home, but never into a folder named ~ if the system knows no home."""

    def ensure_cache_path(self) -> None:
        """Create the folder. Raises `OSError` if it cannot be used, so that Numba does not use it."""
        if not Path(self._cache_path).is_absolute():
            raise FileNotFoundError("this user has no home")
        super().ensure_cache_path()


class _TemporaryLocator(UserWideCacheLocator):
    """Puts machine code into a folder for temporary files that only this user can write to and read."""

    def __init__(self, function: Callable[..., Any], source: str) -> None:
        super().__init__(function, source)
        self._private = Path(tempfile.gettempdir()) / f"crowdwise-kernels-{_user()}"
        self._cache_path = os.fspath(self._private / self.get_suitable_cache_subpath(source))

    def ensure_cache_path(self) -> None:
        """Create the folder. Raises `OSError` if it cannot be used, so that Numba does not use it."""
        with suppress(FileExistsError):
            self._private.mkdir(mode=0o700)
        found = self._private.lstat()
        # Reading machine code means running it. Somebody else may have made this folder, or a link of this name.
        if not stat.S_ISDIR(found.st_mode) or (
            os.name == "posix" and (found.st_uid, found.st_mode & 0o77) != (_user(), 0)
        ):
            raise PermissionError(f"{self._private} is not a private folder of this user")
        super().ensure_cache_path()


class _Kernels(CompileResultCacheImpl):
    """Finds a folder for the machine code."""

    _locator_classes = [UserProvidedCacheLocator, InTreeCacheLocator, _HomeLocator, _TemporaryLocator]  # noqa: RUF012


class _CheckedFiles(IndexDataCacheFile):
    """The files of one kernel. Each ends in a checksum, because damaged machine code would crash the program.

    A file with machine code also says of which source and for which arguments it is: Numba gives these files numbers,
    and two processes that compile at the same time may take the same number for different arguments.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the machine code for the arguments that the key names."""
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        """Return the machine code for the arguments that the key names; None if there is none."""
        found = super().load(key)
        if found is None or found[:2] != (self._source_stamp, key):
            return None
        return found[2]

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue())
            file.write(hashlib.sha256(content.getbuffer()).digest())

    def _load_index(self) -> Any:
        if _is_whole(self._index_path):
            with suppress(Exception):  # it may name types that another version of crowdwise had
                return super()._load_index()
        return {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _is_whole(self._data_path(name)) else None


class KernelCache(FunctionCache):
    """The machine code of one kernel on disk, for every kind of arguments. Problems with the files are passed over.

    Args:
        function: The kernel, not compiled yet.

    Raises:
        RuntimeError: There is no folder for the files, or the sources cannot be read.
    """

    _impl_class = _Kernels

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Code with indices checked and code without have the same arguments and sources.
        are_checked = config.BOUNDSCHECK  # type: ignore[attr-defined]  # Numba sets it while it is imported
        stamp = self._impl.locator.get_source_stamp(), _all_kernels(), are_checked
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for arguments of these types; None if it has to be compiled.

        Machine code needs Numba's runtime and nothing else. Numba's own `load_overload` would import all that a
        compilation could need, a third of the time that a small file takes; the compiler does so when there is one.
        """
        with suppress(Exception):  # whatever is wrong with a file, compiling helps
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel, if its files can be written."""
        with suppress(OSError):  # such as a full disk
            super().save_overload(sig, data)


@cache
def _all_kernels() -> bytes:
    """Return a hash of the sources of all kernels: machine code has that of the kernels it calls in it.

    Numba looks at the file of the kernel itself only, and would go on with old code when another file has changed.
    Raises `RuntimeError` if a source cannot be read.
    """
    sources = sorted(path for path in Path(__file__).parent.rglob("*.py") if not path.name.startswith("."))
    try:
        return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).digest()
    except OSError as problem:
        raise RuntimeError("the sources of the kernels cannot be read") from problem


def _is_whole(path: str) -> bool:
    """Return whether a file can be read and ends in the checksum of what is before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_CHECKSUM_BYTES]).digest() == content[-_CHECKSUM_BYTES:]


def _user() -> int:
    """Return the number of the user; 0 on Windows, where every user has a folder of his own for temporary files."""
    return os.getuid() if hasattr(os, "getuid") else 0
