"""Write tables and pages to files, so that a failure never leaves an incomplete file behind."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from ..errors import CallError, DataError, require_kind
from .formats import Compression, Format, extensions, split_extension
from .frames import first_line
from .replacing import check_distinct, check_replaceable, target_path, temporary_files

Target = TypeVar("Target", str, Path)


def check_outputs(paths: Sequence[str | os.PathLike[str]]) -> None:
    """Raise `CallError` if tables cannot be written to all of these paths; for use before any work is done."""
    for path in map(target_path, paths):
        _target_format(path)
        check_replaceable(path)
    check_distinct(paths)


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise `CallError` if an HTML page cannot be written to this path; for use before any work is done."""
    if target_path(path).suffix.lower() not in (".html", ".htm"):
        raise CallError(f"{path} is to hold a page: end it in .html.")
    check_replaceable(target_path(path))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text to a file. Raises `DataError` if that fails; the file is then as it was before."""
    target = Path(path)
    with temporary_files([target]) as (temporary,):
        try:
            # A name that is not text, such as one of a file in the command, is shown as Python writes it.
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as problem:
            raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem


def write(tables: Mapping[Target, pl.DataFrame | pl.LazyFrame]) -> None:
    r"""Write tables, each in the format that the extension of its path says. A lazy table is written as a stream.

    No target is replaced before all tables are complete, and none if one of them cannot be replaced. Raises
    `CallError` if a path cannot be written to, and `DataError` if writing fails.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> write({path: pl.DataFrame({"item": [1], "label": ["cat"]})})
    >>> path.read_text()
    'item,label\n1,cat\n'
    """
    require_kind("tables", tables, Mapping, "a mapping from paths to tables")
    for table in tables.values():
        require_kind("A table to write", table, pl.DataFrame | pl.LazyFrame, "a polars table")
    check_outputs(list(tables))
    with temporary_files(list(tables)) as temporaries:
        for (path, table), temporary in zip(tables.items(), temporaries, strict=True):
            _write_one(table.lazy(), Path(path), temporary)


def _target_format(target: Path) -> tuple[Format, Compression]:
    """Return the format and the compression that a path says. Raises `CallError` if it says no format."""
    file_format, compression = split_extension(target)
    if file_format is None or (compression != "uncompressed" and not file_format.compressible):
        raise CallError(
            f"{target} does not say a format to write: end it in {', '.join(extensions())}; "
            "text may be compressed, as in .csv.gz or .jsonl.zst."
        )
    return file_format, compression


def _write_one(table: pl.LazyFrame, target: Path, temporary: Path) -> None:
    """Write one table to its temporary file; errors name the target instead."""
    file_format, compression = _target_format(target)
    try:
        file_format.write(table, temporary, compression)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem
