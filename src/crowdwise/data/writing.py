"""Tables out: all of them whole, or none."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import polars as pl

from ..errors import CallError, DataError
from .formats import Compression, Format, extensions, split_extension
from .frames import first_line

Target = TypeVar("Target", str, Path)


def check_output(path: Target) -> None:
    """Refuse a target that cannot be written, before the work is done."""
    _target_format(Path(path))
    _check_place(Path(path))


def check_page(path: str | os.PathLike[str]) -> None:
    """Refuse a target that cannot hold a page, before the work is done."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise CallError(f"{Path(path)} is to hold a page: end it in .html.")
    _check_place(Path(path))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text, whole or not at all."""
    target = Path(path)
    with _beside([target]) as (part,):
        try:
            part.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem


def _check_place(target: Path) -> None:
    if target.is_dir():
        raise CallError(f"{target} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise CallError(f"There is no folder {target.parent} to write {target.name} to.")
    if not os.access(target.parent, os.W_OK):
        raise CallError(f"The folder {target.parent} may not be written to.")


def write(tables: Mapping[Target, pl.DataFrame | pl.LazyFrame]) -> None:
    r"""Write tables, each in the format its extension says: all of them, or none.

    Every table is written beside its target first and renamed when all are whole. A lazy one is written as a stream.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> write({path: pl.DataFrame({"item": [1], "label": ["cat"]})})
    >>> path.read_text()
    'item,label\n1,cat\n'
    """
    for path in tables:
        check_output(path)
    with _beside(list(tables)) as parts:
        for (path, table), part in zip(tables.items(), parts, strict=True):
            _write_one(table.lazy(), Path(path), part)


@contextmanager
def _beside(targets: Sequence[Target]) -> Iterator[list[Path]]:
    """Names beside the targets to write to; renamed at the end, removed if anything fails."""
    parts = [Path(target).parent / f".{Path(target).name}.{os.getpid()}.part" for target in targets]
    try:
        yield parts
        for part, target in zip(parts, targets, strict=True):
            part.replace(target)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


def _target_format(target: Path) -> tuple[Format, Compression]:
    file_format, compression = split_extension(target)
    if file_format is None or (compression != "uncompressed" and not file_format.compressible):
        raise CallError(
            f"{target} does not say a format to write: end it in {', '.join(extensions())}; "
            "text may be compressed, as in .csv.gz or .jsonl.zst."
        )
    return file_format, compression


def _write_one(table: pl.LazyFrame, target: Path, part: Path) -> None:
    file_format, compression = _target_format(target)
    try:
        file_format.write(table, part, compression)
    except (OSError, pl.exceptions.ComputeError) as problem:
        raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem
