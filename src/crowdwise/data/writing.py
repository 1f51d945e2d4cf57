"""Write tables and pages to files, so that a failure never leaves an incomplete file behind.

Everything is written to a temporary file beside its target first, and renamed when it is complete.
"""

import os
import secrets
import stat
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
    """Raise `CallError` if a table cannot be written to this path; for use before any work is done."""
    _target_format(Path(path))
    _check_location(Path(path))


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise `CallError` if an HTML page cannot be written to this path; for use before any work is done."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise CallError(f"{Path(path)} is to hold a page: end it in .html.")
    _check_location(Path(path))


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text to a file. Raises `DataError` if that fails; the file is then as it was before."""
    target = Path(path)
    with _temporary_files([target]) as (temporary,):
        try:
            temporary.write_text(text, encoding="utf-8")
        except OSError as problem:
            raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem


def _check_location(target: Path) -> None:
    """Raise `CallError` if no file can be written to this path."""
    if target.is_dir():
        raise CallError(f"{target} is a folder; name a file in it.")
    if not target.parent.is_dir():
        raise CallError(f"There is no folder {target.parent} to write {target.name} to.")
    if not os.access(target.parent, os.W_OK):
        raise CallError(f"The folder {target.parent} may not be written to.")


def write(tables: Mapping[Target, pl.DataFrame | pl.LazyFrame]) -> None:
    r"""Write tables, each in the format that the extension of its path says. A lazy table is written as a stream.

    No target is replaced before all tables are complete. Raises `CallError` if a path cannot be written to, and
    `DataError` if writing fails.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> write({path: pl.DataFrame({"item": [1], "label": ["cat"]})})
    >>> path.read_text()
    'item,label\n1,cat\n'
    """
    for path in tables:
        check_output(path)
    with _temporary_files(list(tables)) as temporaries:
        for (path, table), temporary in zip(tables.items(), temporaries, strict=True):
            _write_one(table.lazy(), Path(path), temporary)


@contextmanager
def _temporary_files(targets: Sequence[Target]) -> Iterator[list[Path]]:
    """Create empty temporary files beside the targets, for the caller to write to.

    At the end they are renamed to the targets; if anything fails, they are removed.
    """
    files = [Path(target).resolve() for target in targets]  # a link stays, and the file behind it is written
    temporaries: list[Path] = []
    try:
        temporaries.extend(map(_create_beside, files))
        yield temporaries
        _replace(files, temporaries)
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)


def _create_beside(file: Path) -> Path:
    """Create an empty file beside another, under a name that nobody else has or can foresee."""
    temporary = file.parent / f".{file.name[:100]}.{secrets.token_hex(8)}.part"
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as problem:
        raise DataError(f"{file} could not be written: {first_line(problem)}.") from problem
    return temporary


def _replace(files: Sequence[Path], temporaries: Sequence[Path]) -> None:
    """Rename temporary files to the files they are for, which keep their permissions."""
    written: list[str] = []
    for file, temporary in zip(files, temporaries, strict=True):
        try:
            if file.exists():
                temporary.chmod(stat.S_IMODE(file.stat().st_mode))
            temporary.replace(file)
        except OSError as problem:
            before = f" Written before that: {', '.join(written)}." if written else ""
            raise DataError(f"{file} could not be written: {first_line(problem)}.{before}") from problem
        written.append(os.fspath(file))


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
    except (OSError, pl.exceptions.ComputeError) as problem:
        raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem
