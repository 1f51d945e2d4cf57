"""Where results may be written: checked before any work is done, so that no input is lost and no work is in vain."""

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import CallError
from .formats import spark_format_of
from .sources import expand
from .writing import check_output

# Spark puts this file into a folder once it is whole.
WHOLE_FOLDER = "_SUCCESS"


def check_targets(targets: Sequence[str], inputs: Sequence[str], *, folders: bool = False, page: bool = False) -> None:
    """Refuse to overwrite an input, to write two tables to one place, and a place that cannot be written to.

    Args:
        targets: What is to be written.
        inputs: What is to be read: files, folders, patterns, addresses, or "-" for standard input.
        folders: Whether a cluster writes the targets, each as a folder of files.
        page: Whether the targets are pages, whose format is checked elsewhere.
    """
    read = {place for path in inputs for place in _places(path)}
    for target in targets:
        place = _resolved(target)
        if place in read or (folders and any(_inside(one, place) or _inside(place, one) for one in read)):
            raise CallError(f"{target} is an input; write to another {'folder' if folders else 'file'}.")
        if folders:
            _check_folder(target)
        elif not page:
            check_output(target)
    if len({_resolved(target) for target in targets}) < len(targets):
        raise CallError(f"{targets[0]} cannot hold both the labels and the workers.")


def _check_folder(target: str) -> None:
    """Refuse a folder on this machine that is there already, unless Spark has written it."""
    spark_format_of(target)
    if not _is_address(target) and Path(target).exists() and not (Path(target) / WHOLE_FOLDER).exists():
        raise CallError(
            f"{target} is there already and is no whole folder of Spark's; name another, or remove it first."
        )


def _places(path: str) -> list[str]:
    """The files that an input stands for, and the input itself."""
    if path == "-" or _is_address(path):
        return [path]
    files = expand(path) if Path(path).exists() or any(mark in path for mark in "*?[") else []
    return [_resolved(path), *(_resolved(os.fspath(file)) for file in files if isinstance(file, str | os.PathLike))]


def _resolved(path: str) -> str:
    return path.rstrip("/") if _is_address(path) else os.fspath(Path(path).resolve())


def _is_address(path: str) -> bool:
    """Whether it is an address such as s3a://bucket/file, not a path on this machine."""
    return "://" in path


def _inside(inner: str, outer: str) -> bool:
    return inner.startswith(f"{outer.rstrip('/')}/")
