"""`KernelCache`: keeps the machine code of a kernel on disk wherever it can, and never stops a kernel from running.

Machine code is looked for in every folder that may have it, and saved to the first that can be written to: the one that
NUMBA_CACHE_DIR names, the one beside the source file, one in the user's home, and a private one among the temporary
files. So an installation that was warmed up and is read-only now is used as it is. Without any folder, and where a file
is damaged, a kernel is compiled anew.
"""

# Numba has no types here.
# mypy: disable-error-code="no-untyped-call"

import hashlib
import inspect
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from numba.core import config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.compiler import CompileResult
from numba.core.runtime.nrt import rtsys
from platformdirs import user_cache_path

_CHECKSUM_BYTES: Final = hashlib.sha256().digest_size
_RELATIVE_IMPORT: Final = re.compile(r"^from (\.+)([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def _named_by_user(source: Path, _: bool) -> Path | None:
    """Return the folder that NUMBA_CACHE_DIR names."""
    named = config.CACHE_DIR  # type: ignore[attr-defined]  # Numba sets it while it is imported
    return Path(named) / _name_of_folder(source) if named else None


def _beside_source(source: Path, _: bool) -> Path:
    return source.parent / "__pycache__"


def _in_home(source: Path, _: bool) -> Path | None:
    """Return a folder in the user's home, but never one named ~, which some versions make of a home that is unknown."""
    with suppress(RuntimeError):  # other versions refuse
        folder = user_cache_path("numba", appauthor=False)
        return folder / _name_of_folder(source) if folder.is_absolute() else None
    return None


def _in_temporary(source: Path, to_save: bool) -> Path | None:
    """Return a folder for temporary files that only this user can write to and read; it is made where code is saved.

    Reading machine code means running it: somebody else may have made this folder, or a link of this name.
    """
    try:
        private = Path(tempfile.gettempdir()) / f"crowdwise-kernels-{_user()}"
        if to_save:
            with suppress(FileExistsError):
                private.mkdir(mode=0o700)
        found = private.lstat()
    except OSError:  # there is none, and perhaps no folder for temporary files at all
        return None
    is_private = os.name != "posix" or (found.st_uid, found.st_mode & 0o77) == (_user(), 0)
    return private / _name_of_folder(source) if stat.S_ISDIR(found.st_mode) and is_private else None


# The places to look for machine code, the first one first.
_PLACES: Final[list[Callable[[Path, bool], Path | None]]] = [_named_by_user, _beside_source, _in_home, _in_temporary]


def folders_of(source: Path, to_save: bool = False) -> Iterator[Path]:
    """Yield the folders that may have the machine code of the kernels in a source file, or to which it may be saved."""
    for place in _PLACES:
        folder = place(source, to_save)
        if folder is not None:
            yield folder


class _CheckedFiles(IndexDataCacheFile):
    """The files of one kernel. Each ends in a checksum, because damaged machine code would crash the program.

    A file with machine code also says of which source and for which arguments it is: Numba gives these files numbers,
    and two processes that compile at the same time may take the same number for different arguments.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the machine code for the arguments that the key names. Raises `OSError` if it cannot be written."""
        Path(self._cache_path).mkdir(parents=True, exist_ok=True)
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

    Raises `OSError` if the sources cannot be read.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        # Numba's own would look for one folder that can be written to, and read from no other.
        self._py_func, self._name = function, repr(function)
        self._source = Path(inspect.getfile(function))
        self._cache_path = os.fspath(_beside_source(self._source, False))  # what Numba shows in its statistics
        version = f"{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        where = f"{self._source.stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._file_names = f"{where}-{function.__code__.co_firstlineno}.py{version}"
        # Code with indices checked and code without have the same arguments and sources.
        are_checked = config.BOUNDSCHECK  # type: ignore[attr-defined]
        self._stamp = _stamp(self._source), are_checked

    def _files(self, to_save: bool = False) -> Iterator[_CheckedFiles]:
        """Yield the files of this kernel in every folder."""
        for folder in folders_of(self._source, to_save):
            yield _CheckedFiles(os.fspath(folder), self._file_names, self._stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for arguments of these types; None if it has to be compiled.

        Machine code needs Numba's runtime and nothing else. Numba's own `load_overload` would import all that a
        compilation could need, a third of the time that a small file takes; the compiler does so when there is one.
        """
        with suppress(Exception):
            rtsys.initialize(target_context)
            key = self._index_key(sig, target_context.codegen())
            for files in self._files():
                with suppress(Exception):  # whatever is wrong with a file, another one or compiling helps
                    found = files.load(key)
                    if found is not None:
                        return CompileResult._rebuild(target_context, *found)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel in the first folder that takes it."""
        key, content = self._index_key(sig, data.codegen), data._reduce()
        for files in self._files(to_save=True):
            with suppress(OSError):  # a folder that is read-only, or a full disk
                return files.save(key, content)
        return None


def _stamp(source: Path) -> bytes:
    """Return a hash of a module and of all that it imports from its own package, for machine code has both in it.

    Numba looks at the file of the kernel itself only, and would go on with old code when another file has changed.
    Raises `OSError` if a source cannot be read.
    """
    modules = [source]
    for module in modules:  # which grows
        modules += [one for one in _read(module)[1] if one not in modules]
    return hashlib.sha256(b"".join(_read(module)[0] for module in modules)).digest()


@cache
def _read(module: Path) -> tuple[bytes, list[Path]]:
    """Return a hash of the source of a module, and the files that its relative imports at the top level name."""
    text, files = module.read_bytes(), set()
    for dots, name, names in _RELATIVE_IMPORT.findall(text.decode()):
        origin = module.parents[len(dots) - 1].joinpath(*name.split("."))
        if origin.is_dir():
            submodules = (origin / f"{name}.py" for name in re.findall(r"\w+", names))
            files |= {origin / "__init__.py", *filter(os.path.lexists, submodules)}
        else:
            files.add(origin.with_name(f"{origin.name}.py"))
    return hashlib.sha256(text).digest(), sorted(files)


def _is_whole(path: str) -> bool:
    """Return whether a file can be read and ends in the checksum of what is before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-_CHECKSUM_BYTES]).digest() == content[-_CHECKSUM_BYTES:]


def _name_of_folder(source: Path) -> str:
    """Return the name of the folder for the kernels in the folder of a source file, among those of other packages."""
    folder = source.absolute().parent
    return f"{folder.name}_{hashlib.sha1(os.fspath(folder).encode(errors='surrogateescape')).hexdigest()}"


def _user() -> int:
    """Return the number of the user; 0 on Windows, where every user has a folder of his own for temporary files."""
    return os.getuid() if hasattr(os, "getuid") else 0
