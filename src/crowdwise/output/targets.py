"""Check that results can be written to the places that the user names, before any work is done."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NoReturn

from ..addresses import CLOUD, scheme_of
from ..errors import CallError, DataError, require_no_address
from ..sources.formats import spark_format_of
from ..sources.paths import expand
from .replacing import check_distinct, identity
from .writing import check_file, check_outputs, check_page

# Spark writes this file into a folder when all other files of the folder are complete.
SUCCESS_FILE = "_SUCCESS"


def check_targets(
    targets: Sequence[str],
    inputs: Sequence[str | None],
    *,
    folders: bool = False,
    page: bool = False,
    bom: bool = False,
) -> None:
    """Raise `CallError` if a target is also an input, if two targets are the same, or if one cannot be written.

    Args:
        targets: The paths or addresses to write to.
        inputs: The inputs: files, folders, patterns, addresses, or "-" for standard input; None for no input.
        folders: Whether a Spark cluster writes the targets, each as a folder of files.
        page: Whether the targets are HTML pages.
        bom: Whether text is to begin with the mark of UTF-8; see `write`.
    """
    if folders and bom:
        raise CallError("--bom does not go with --engine spark: a cluster writes folders, which Excel does not open.")
    read = [place for path in inputs if path is not None for place in _places(path)]
    identities = {identity(place) for place in read}
    for target in targets:
        place = _resolved(target)
        inside = folders and any(_inside(one, place) or _inside(place, one) for one in read)
        matched = scheme_of(place) and any(fnmatchcase(place, one) for one in read)
        if inside or matched or identity(place) in identities:
            raise CallError(f"{target} is an input; write to another {'folder' if folders else 'file'}.")
        if folders:
            _check_folder(target)
        elif page:
            check_page(target)
    if folders:
        check_distinct([_resolved(target) for target in targets])
    elif not page:
        check_outputs(targets, bom=bom)


def check_state(path: str, others: Sequence[str | None], what: str = "a state", *, cloud: bool = False) -> None:
    """Raise `CallError` if a state cannot be written to a path: it is an input or another output, or no file.

    Args:
        path: Where the state is to be written.
        others: The inputs and outputs; None for none. An earlier state, which may be replaced, is not among them.
        what: What is written if it is no state, for the message.
        cloud: Whether it may be an address in a cloud storage.
    """
    if path == "-":
        raise CallError(f"{what.capitalize()} is written to a file, not to standard output.")
    if not cloud or scheme_of(path) not in CLOUD:
        require_no_address(path, f"The file of {what}")
    taken = {identity(place) for other in others if other is not None for place in _places(other)}
    if identity(_resolved(path)) in taken:
        raise CallError(f"{path} is given twice: {what} needs a file of its own.")
    check_file(path)


def check_other_file(option: str, path: str, files: Sequence[str]) -> None:
    """Raise `CallError` if what an option names, such as a file of costs, is also read as a file of labels."""
    labels = {identity(place) for file in files for place in _places(file)}
    if any(identity(place) in labels for place in _places(path)):
        raise CallError(f"{option} {path} is also read as labels; name another file.")


def _check_folder(target: str) -> None:
    """Raise `CallError` if a folder on this machine exists already, unless it is a complete one that Spark wrote."""
    spark_format_of(target)
    if not scheme_of(target) and Path(target).exists() and not (Path(target) / SUCCESS_FILE).exists():
        refuse_to_replace(target)


def refuse_to_replace(target: str) -> NoReturn:
    """Raise `CallError` because something exists that is not a complete folder written by Spark."""
    raise CallError(f"{target} exists and is not a complete folder written by Spark; name another, or remove it first.")


def _places(path: str) -> list[str]:
    """Return the path of an input, and the paths of all files that it stands for."""
    if path == "-":
        return ["/dev/stdin"]  # which is the file that the shell opened, if it did
    if scheme_of(path):
        return [_resolved(path)]
    path = _resolved(path) if path.startswith("file://") else path
    try:
        files = expand(path)
    except (DataError, OSError):  # said when the input is read
        files = []
    return [_resolved(path), *(_resolved(os.fspath(file)) for file in files if isinstance(file, str | os.PathLike))]


def _resolved(path: str) -> str:
    """Return one spelling of a path or an address, so that the same place is recognised however it is written."""
    scheme, separator, rest = path.partition("://")
    if separator and scheme == "file":
        path = f"/{rest.lstrip('/')}"
    elif separator:
        # Hadoop has several names for the same kind of store.
        return f"{'s3' if scheme in ('s3a', 's3n') else scheme}://{rest.rstrip('/')}"
    # No file has a name with a null character in it, which is said when the file is looked for.
    return path if "\0" in path else os.path.realpath(path)


def _inside(inner: str, outer: str) -> bool:
    """Return whether the path `inner` is inside the folder `outer`."""
    return inner.startswith(f"{outer.rstrip('/')}/")
