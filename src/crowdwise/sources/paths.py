"""The inputs that a source stands for: files of a folder or a pattern, streams, addresses, tables in memory."""

import glob
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Final, TypeAlias, cast

from ..addresses import scheme_of, shown_address
from ..crowd.ids import is_frame
from ..crowd.read_options import ReadOptions
from ..errors import CallError, DataError, is_utf_8
from ..system import available_memory, show_size
from . import cloud
from .formats import FORMATS, split_extension
from .input import Input
from .unpacking import Content, pieces_within, stored_size

# What labels can be read from: a path, a folder, a pattern, "-" for standard input, or an open binary file.
Source: TypeAlias = str | os.PathLike[str] | IO[bytes]

# Copies input without a path, such as standard input, to a file with this name, and returns its path.
Copy: TypeAlias = Callable[[IO[bytes], str], Path]

# Other names of standard input. Opened by one of these, it would be a file of its own, read from the beginning.
_STANDARD_INPUT: Final = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
# The extensions of exports of platforms, besides those of tables.
_EXPORTS: Final = (".json", ".jsonl", ".zip", ".eval")
# How many folders deep an export is looked for; Ground Truth's answers are four below the folder that it writes to.
_DEEPEST: Final = 5
# A longer name is cut in messages.
_LONGEST_NAME: Final = 200


def inputs_of(source: Any, options: ReadOptions, copy: Copy | None = None) -> list[Input]:
    """Return what a source stands for: files, addresses, or a table in memory; see `read_labels`.

    Input without a path is copied to a file by `copy`, or read into memory if that is None.
    """
    if is_frame(source):
        return [Input("The table", frame=source)]
    inputs: list[Input] = []
    for file in (file for expanded in expand(source) for file in _fetched(expanded, options)):
        if scheme_of(file):
            inputs.append(Input(name_of(file), address=str(file)))
        else:
            path = PurePath(file) if isinstance(file, str | os.PathLike) else PurePath()
            inputs.append(Input(name_of(file), _content_of(file, copy, f"input-{len(inputs)}"), path))
    return inputs


def _fetched(source: Source, options: ReadOptions) -> Iterable[Source]:
    """Return a source, or the files at an address in a cloud storage whose text has to be fetched."""
    scheme = scheme_of(source)
    if not scheme or any(scheme in known.schemes for known in FORMATS):  # a database
        return [source]
    address = str(source)
    cloud.require_cloud(address)
    return [source] if cloud.is_scanned(address) else cloud.fetch(address, options.storage)


def _content_of(source: Source, copy: Copy | None, name: str) -> Content:
    """Return the path of a file, or the bytes of input without one. Raises `DataError` if it is empty."""
    content = _take(source, copy, name) if is_stream(source) else os.fspath(cast(str, source))
    with readable(source):
        if stored_size(content) == 0:
            raise DataError(f"{name_of(source)} is empty.")
    return content


def expand(source: Source | Sequence[Source]) -> list[Source]:
    """Return the files that a source stands for: all files of a folder or pattern, or of each source in a sequence.

    Raises:
        CallError: The sequence is empty, or this is no source.
        DataError: There is no such file, or it may not be read.
    """
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "read"):
            return [cast(IO[bytes], source)]
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            raise CallError(
                f"A {type(source).__name__} is no input: pass a path, an open binary file, or a list of them."
            )
        files = [file for part in source for file in expand(part)]
        if not files:
            raise CallError("No file was given.")
        return files
    path = os.fsdecode(source)
    if path in _STANDARD_INPUT:
        return ["-"]
    if scheme_of(path):
        return [path]
    mode = _mode(path)
    if stat.S_ISDIR(mode):
        tables = _tables_in(path)
        if not tables:
            raise DataError(f"The folder {name_of(path)} has no file whose extension says a format that we read.")
        return list(tables)
    return [_readable(path, mode)] if mode else _matching(path)


def _matching(pattern: str) -> list[Source]:
    """Return the files that match a pattern, and the tables in the folders that do; none of them twice."""
    files: dict[str, Source] = {}
    # `Path.glob` needs a folder to start from, which would first have to be split off the pattern.
    for match in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207
        mode = _mode(match)
        for path in _tables_in(match) if stat.S_ISDIR(mode) else [_readable(match, mode)]:
            files.setdefault(os.path.abspath(path), path)  # noqa: PTH100  # keeps the links that `resolve` follows
    if not files:
        raise DataError(f"There is no file {name_of(pattern)}.")
    return list(files.values())


def _tables_in(folder: str) -> list[str]:
    """Return the files of a folder that have a known extension.

    Files that start with a dot or an underscore are left out: programs such as Spark put their own notes there.
    """
    with readable(folder):
        paths = [path for path in sorted(Path(folder).iterdir()) if path.name[0] not in "._"]
        known = [path for path in paths if split_extension(path)[0] is not None]
        if not known:  # then it may be an export, which some platforms write as a folder of folders
            known = list(_exports_below(Path(folder), _DEEPEST))
    modes = {os.fspath(path): _mode(os.fspath(path)) for path in known}
    return [_readable(path, mode) for path, mode in modes.items() if not stat.S_ISDIR(mode)]


def _exports_below(folder: Path, deepest: int) -> Iterator[Path]:
    """Yield the files of a folder, and of those below it, that have the extension of an export, in order."""
    for path in sorted(folder.iterdir()):
        if path.name[0] in "._":
            continue
        if path.is_dir():
            if deepest and not path.is_symlink() and os.access(path, os.R_OK | os.X_OK):
                yield from _exports_below(path, deepest - 1)
        elif path.suffix.lower() in _EXPORTS and path.is_file():
            yield path


def _mode(path: str) -> int:
    """Return the mode of a file, which says what kind of file it is; 0 if there is none."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116  # a `Path` forgets the slash at the end
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):  # noqa: PTH114  # never raises
            target = name_of(os.readlink(path))  # noqa: PTH115
            raise DataError(f"{name_of(path)} is a link to {target}, which does not exist.") from None
        return 0
    except (OSError, ValueError) as problem:
        if glob.has_magic(path):
            return 0
        raise _cannot_be_read(path, problem) from problem


def _readable(path: str, mode: int) -> str:
    """Return the path of a file or a pipe. Raises `DataError` if it is something else, or may not be read."""
    if not mode:
        raise DataError(f"There is no file {name_of(path)}.")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise DataError(f"{name_of(path)} is a device or a socket, and no file: name a file, or - for standard input.")
    if not os.access(path, os.R_OK):
        raise DataError(f"{name_of(path)} may not be read: permission denied.")
    return path


def is_stream(source: Source) -> bool:
    """Return whether a source is read once, from beginning to end, because polars cannot open it by a path.

    These are standard input, open files, pipes, and files whose name is not UTF-8.
    """
    if not isinstance(source, str | os.PathLike) or source == "-":
        return True
    path = os.fsdecode(source)
    return not is_utf_8(path) or stat.S_ISFIFO(_mode(path))


def _take(source: Source, copy: Copy | None, name: str) -> Content:
    """Return the bytes of a stream; or the path of its copy, unless `copy` is None."""
    with readable(source), _opened(source) as stream:
        _require_bytes_with_an_end(stream, name_of(source))
        if copy is not None:
            return os.fspath(copy(stream, name))
        # What is read is needed a second time, in the columns that polars makes of it.
        room = available_memory() // 2
        refusal = DataError(
            f"{name_of(source)} has more than {show_size(room)}, half of the free memory: write it to a file, "
            'or use engine="disk" (--engine disk).'
        )
        return b"".join(pieces_within(stream, room, refusal))


@contextmanager
def _opened(source: Source) -> Iterator[IO[bytes]]:
    """Open a stream for reading. Standard input and open files stay open afterwards."""
    if not isinstance(source, str | os.PathLike):
        yield source
    elif source != "-":
        with Path(source).open("rb") as file:
            yield file
    elif sys.stdin is None:
        raise DataError("Standard input is closed: name a file, or pipe one in.")
    else:
        yield sys.stdin.buffer


def _require_bytes_with_an_end(stream: Any, name: str) -> None:
    """Raise `CallError` if an open file gives text, and `DataError` if it is a device such as /dev/zero."""
    if isinstance(stream, io.TextIOBase):
        raise CallError("The open file gives text: open it in binary mode, as in open(path, 'rb').")
    try:
        number = stream.fileno()
    except (AttributeError, OSError, ValueError):  # no file of the system
        return
    if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number):
        raise DataError(f"{name} is a device, and no file: name a file, or pipe one in.")


def stamp(content: Content) -> tuple[int, ...]:
    """Return the size of a file and, if it is one on disk, which file it is and when it was last written to."""
    if isinstance(content, bytes):
        return (len(content),)
    status = Path(content).stat()
    return status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino


@contextmanager
def readable(source: Any) -> Iterator[None]:
    """Turn errors of the file system while a file is found or opened into `DataError`."""
    try:
        yield
    except OSError as problem:
        raise _cannot_be_read(source, problem) from problem


def _cannot_be_read(source: Any, problem: Exception) -> DataError:
    return DataError(f"{name_of(source)} cannot be read: {getattr(problem, 'strerror', None) or problem}.")


def name_of(source: Any) -> str:
    r"""Return the name of a source in error messages.

    >>> name_of("-"), name_of("caf\udce9.csv"), len(name_of("a" * 9999))
    ('Standard input', 'caf\\xe9.csv', 203)
    """
    if not isinstance(source, str | os.PathLike):
        return str(getattr(source, "source_name", "The input"))
    if source == "-":
        return "Standard input"
    name = shown_address(os.fsencode(source).decode("utf-8", "backslashreplace"))
    half = _LONGEST_NAME // 2
    return (name or "''") if len(name) <= _LONGEST_NAME else f"{name[:half]}...{name[-half:]}"
