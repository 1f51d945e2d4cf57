"""Checks that results can be written to the places that the user names, before any work is done."""

import os
import stat
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NoReturn

from ..addresses import CLOUD, scheme_of
from ..errors import CallError, DataError, require_no_address
from ..sources.formats import PARQUET, Format, spark_format_of
from ..sources.paths import expand
from .writers import WRITERS, format_to_write, require_writable

# Spark writes this file into a folder when all other files of the folder are complete.
SUCCESS_FILE: Final = "_SUCCESS"


def check_targets(
    targets: Sequence[str],
    inputs: Sequence[str | None],
    *,
    folders: bool = False,
    page: bool = False,
    bom: bool = False,
) -> None:
    """Raise `CallError` if a target is also an input, if two targets are the same, or if one cannot be written.

    Inputs are files, folders, patterns, addresses, or "-" for standard input. A Spark cluster writes `folders`, each
    target as one; a `page` is HTML; `write` describes `bom`.
    """
    if folders and bom:
        raise CallError("--bom does not go with --engine spark: a cluster writes folders, which Excel does not open.")
    read = [place for path in inputs if path is not None for place in _places(path)]
    identities = {_identity(place) for place in read}
    for target in targets:
        place = _resolved(target)
        inside = folders and any(_inside(source, place) or _inside(place, source) for source in read)
        matched = scheme_of(place) and any(fnmatchcase(place, pattern) for pattern in read)
        if inside or matched or _identity(place) in identities:
            raise CallError(f"{target} is an input; write to another {'folder' if folders else 'file'}.")
        if folders:
            _check_folder(target)
        elif page:
            check_page(target)
    if folders:
        check_distinct(targets)
    elif not page:
        check_outputs(targets, bom=bom)


def check_state(path: str, others: Sequence[str | None], what: str = "a state", *, cloud: bool = False) -> None:
    """Raise `CallError` if a state, or `what` else, cannot be written to a path: it is among `others`, or no file.

    `others` are the inputs and outputs, without an earlier state, which may be replaced; `cloud` allows an address.
    """
    if path == "-":
        raise CallError(f"{what.capitalize()} is written to a file, not to standard output.")
    if not cloud or scheme_of(path) not in CLOUD:
        require_no_address(path, f"The file of {what}")
    if _identity(path) in {_identity(place) for other in others if other is not None for place in _places(other)}:
        raise CallError(f"{path} is given twice: {what} needs a file of its own.")
    check_file(path)


def check_other_file(option: str, path: str, files: Sequence[str]) -> None:
    """Raise `CallError` if what an option names, such as a file of costs, is also read as a file of labels."""
    labels = {_identity(place) for file in files for place in _places(file)}
    if any(_identity(place) in labels for place in _places(path)):
        raise CallError(f"{option} {path} is also read as labels; name another file.")


def check_outputs(
    tables: Sequence[str | os.PathLike[str]], files: Sequence[str | os.PathLike[str]] = (), *, bom: bool = False
) -> None:
    """Raise `CallError` if tables, and files that are none, cannot be written to all of these paths and addresses."""
    formats = {path: format_to_write(_target_path(path))[0] for path in tables}
    if bom and not any(WRITERS[one].takes_bom and not scheme_of(path) for path, one in formats.items()):
        raise CallError("bom (--bom) does nothing here: it is for a file to write that ends in .csv or .tsv.")
    for path in (*files, *tables):
        check_file(path, formats.get(path, PARQUET))
    check_distinct([*tables, *files])


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise `CallError` if an HTML page cannot be written to this path."""
    require_no_address(path, "The file of a page")
    if _target_path(path).suffix.lower() not in (".html", ".htm"):
        raise CallError(f"{path} is no name for an HTML page: end it in .html.")
    check_file(path)


def check_distinct(targets: Sequence[str | os.PathLike[str]]) -> None:
    """Raise `CallError` if two of the targets are the same file."""
    known: dict[Any, str] = {}
    for path in targets:
        _target_path(path)
        target, place = os.fspath(path), _identity(path)
        if place in known:
            names = " and ".join(dict.fromkeys([known[place], target]))
            raise CallError(f"{names}: one file cannot hold both tables; name two files.")
        known[place] = target


def check_file(path: str | os.PathLike[str], file_format: Format = PARQUET) -> None:
    """Raise `CallError` if no file can be written to a path or an address, or if the file there cannot be replaced."""
    if scheme_of(path):
        require_writable(str(path), file_format)
        return
    target = _target_path(path)
    try:
        file = Path(os.path.realpath(target))  # unlike `Path.resolve`, leaves links that go in a circle to `stat`
        folder = file.parent if target.is_symlink() else target.parent
        there, around = _status(file), _status(file.parent)
    except (OSError, ValueError) as problem:  # such as a name that is too long, or links that go in a circle
        raise CallError(f"{target} cannot be written to: {getattr(problem, 'strerror', problem)}.") from problem
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise CallError(f"{target} is a folder; name a file in it.")
    if around is None or not stat.S_ISDIR(around.st_mode):
        raise CallError(f"There is no folder {folder} to write {file.name} to.")
    if not os.access(file.parent, os.W_OK | os.X_OK):
        raise CallError(f"The folder {folder} may not be written to.")
    if there is None:
        return
    if not stat.S_ISREG(there.st_mode):
        raise CallError(f"{target} is a device, a pipe or a socket, which no file can replace; name a file.")
    if not os.access(file, os.W_OK):
        raise CallError(f"{target} is protected against writing; name another file, or allow to write to it.")
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    if around.st_mode & stat.S_ISVTX and user not in (0, around.st_uid, there.st_uid):
        raise CallError(f"{target} is another user's, and {folder} lets only owners replace a file; name another.")


def refuse_to_replace(target: str) -> NoReturn:
    """Raise `CallError` because something exists that is not a complete folder written by Spark."""
    raise CallError(f"{target} exists and is not a complete folder written by Spark; name another, or remove it first.")


def _check_folder(target: str) -> None:
    """Raise `CallError` if a folder on this machine exists already, unless it is a complete one that Spark wrote."""
    spark_format_of(target)
    if not scheme_of(target) and Path(target).exists() and not (Path(target) / SUCCESS_FILE).exists():
        refuse_to_replace(target)


def _target_path(path: str | os.PathLike[str]) -> Path:
    if isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str):
        return Path(path)
    raise CallError(f"A {type(path).__name__} is no path to write to.")


def _status(path: Path) -> os.stat_result | None:
    """Return what the system knows of a file or folder; None if there is none. Raises OSError if it cannot be asked."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _places(path: str) -> list[str]:
    """Return the path of an input, and the paths of all files that it stands for."""
    if path == "-":
        return ["/dev/stdin"]  # which is the file that the shell opened, if it did
    place = _resolved(path)
    if scheme_of(place):
        return [place]
    try:
        files = expand(place if path.startswith("file://") else path)
    except (DataError, OSError):  # said when the input is read
        files = []
    return [place, *(_resolved(os.fspath(file)) for file in files if isinstance(file, str | os.PathLike))]


def _resolved(path: str) -> str:
    """Return one spelling of a path or an address, so that the same place is recognised however it is written."""
    scheme, separator, rest = path.partition("://")
    if separator and scheme == "file":
        path = f"/{rest.lstrip('/')}"
    elif scheme_of(path):
        # Hadoop has several names for the same kind of store.
        return f"{'s3' if scheme in ('s3a', 's3n') else scheme}://{rest.rstrip('/')}"
    # No file has a name with a null character in it, which is said when the file is looked for.
    return path if "\0" in path else os.path.realpath(path)


def _identity(path: str | os.PathLike[str]) -> Any:
    """Return a value that is the same for all names of one file: other spellings of its path, and links to it."""
    place = _resolved(os.fspath(path))
    if scheme_of(place):
        return place
    try:
        status = Path(place).stat()
    except (OSError, ValueError):  # there is none, or it is no path at all, such as text with a null character
        return os.path.normcase(place)
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.normcase(place)


def _inside(inner: str, outer: str) -> bool:
    inner, outer = inner.replace(os.sep, "/"), outer.replace(os.sep, "/")  # paths of Windows have backslashes
    return inner.startswith(f"{outer.rstrip('/')}/")
