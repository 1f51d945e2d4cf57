"""Write tables and pages to files, so that a failure never leaves an incomplete file behind."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import polars as pl

from ..addresses import CLOUD, scheme_of
from ..errors import CallError, DataError, require_kind, require_no_address
from ..sources.formats import Compression, Format, split_extension
from ..sources.paths import name_of
from ..system import first_line
from .replacing import check_distinct, check_replaceable, target_path, temporary_files
from .writers import WRITERS, require_writable, send, send_file

Target = TypeVar("Target", str, Path)


def check_outputs(paths: Sequence[str | os.PathLike[str]], *, bom: bool = False) -> None:
    """Raise `CallError` if tables cannot be written to all of these paths; for use before any work is done.

    Args:
        paths: The paths.
        bom: Whether text is to begin with the mark of UTF-8; at least one of the files has to be such text.
    """
    if bom and not any(WRITERS[_target_format(path)[0]].takes_bom and not scheme_of(path) for path in paths):
        raise CallError("bom (--bom) does nothing here: it is for a file to write that ends in .csv or .tsv.")
    for path in paths:
        file_format, _ = _target_format(path)
        if scheme_of(path):
            require_writable(str(path), file_format)
        else:
            check_replaceable(target_path(path))
    check_distinct(paths)


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise `CallError` if a file that is no table, such as a state, cannot be written to a path or an address."""
    if scheme_of(path) in CLOUD:
        require_writable(str(path))
    else:
        require_no_address(path, "The file")
        check_replaceable(target_path(path))


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise `CallError` if an HTML page cannot be written to this path; for use before any work is done."""
    require_no_address(path, "The file of a page")
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


# What a file is made of: a table; tables by the names of their sheets, for formats that have sheets; or a function that
# writes it to the path that it is given, for files that are no tables.
Content = pl.DataFrame | pl.LazyFrame | Mapping[str, pl.DataFrame] | Callable[[Path], object]


def write(tables: Mapping[Target, Content], storage: Mapping[str, Any] | None = None, *, bom: bool = False) -> None:
    r"""Write tables, each in the format that the extension of its path says. A lazy table is written as a stream.

    Either all targets are replaced, or none: all files are complete before one is put in place, and addresses in a
    cloud storage, which are written to directly, come before files. Of several addresses, those before the one that
    fails have been written, and the message names them.

    Args:
        tables: The tables by path. For a workbook of Excel, several by the names of their sheets.
        storage: Options of a cloud storage, by name.
        bom: Whether files of CSV and TSV begin with the mark of UTF-8, by which Excel shows all letters right.

    Raises:
        CallError: A path cannot be written to.
        DataError: Writing fails.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> write({path: pl.DataFrame({"item": [1], "label": ["cat"]})})
    >>> path.read_text()
    'item,label\n1,cat\n'
    """
    with written_at_end(tables, storage, bom=bom):
        pass


@contextmanager
def written_at_end(
    contents: Mapping[Target, Content], storage: Mapping[str, Any] | None = None, *, bom: bool = False
) -> Iterator[None]:
    """Make files, as `write` does, and put them in place when the `with` block ends; if it fails, nothing changes."""
    require_kind("tables", contents, Mapping, "a mapping from paths to tables")
    for content in contents.values():
        if not callable(content):
            require_kind("A table to write", content, pl.DataFrame | pl.LazyFrame | Mapping, "a polars table")
    for path, content in contents.items():
        if callable(content):
            check_file(path)
    check_outputs([path for path, content in contents.items() if not callable(content)])
    check_distinct(list(contents))
    files = {path: content for path, content in contents.items() if not scheme_of(path)}
    with temporary_files(list(files)) as temporaries:
        for (path, content), temporary in zip(files.items(), temporaries, strict=True):
            _write_one(content, Path(path), temporary, bom)
        yield
        done: list[str] = []
        for path, content in contents.items():
            if not scheme_of(path):
                continue
            try:
                _write_to_cloud(content, str(path), storage or {})
            except DataError as problem:
                if not done:
                    raise
                raise DataError(f"{problem} Written before that: {', '.join(done)}.") from problem
            done.append(name_of(path))


def _write_to_cloud(content: Content, address: str, storage: Mapping[str, Any]) -> None:
    """Write a table, or a file that is none, to an address."""
    if not callable(content):
        file_format, compression = _target_format(address)
        send(_only(content).lazy(), address, file_format, compression, storage)
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        content(file)
        send_file(file.read_bytes(), address, storage)


def has_sheets(path: str | os.PathLike[str]) -> bool:
    """Return whether a file of this name can hold several tables."""
    file_format, _ = split_extension(PurePath(path))
    return file_format in WRITERS and WRITERS[file_format].write_sheets is not None


def _target_format(target: str | os.PathLike[str]) -> tuple[Format, Compression]:
    """Return the format and the compression that a path says. Raises `CallError` if it says no format."""
    file_format, compression = split_extension(PurePath(target_path(target)))
    packed = compression != "uncompressed"
    if file_format not in WRITERS or (packed and not file_format.compressible):
        known = ", ".join(extension for one in WRITERS for extension in one.extensions)
        raise CallError(
            f"{name_of(target)} does not say a format to write: end it in {known}; "
            "text may be compressed, as in .csv.gz or .jsonl.zst."
        )
    return file_format, compression


def _only(table: pl.DataFrame | pl.LazyFrame | Mapping[str, pl.DataFrame]) -> pl.DataFrame | pl.LazyFrame:
    """Return the first of several tables, for formats without sheets."""
    return next(iter(table.values())) if isinstance(table, Mapping) else table


def _write_one(table: Content, target: Path, temporary: Path, bom: bool) -> None:
    """Write one table, or sheets, to a temporary file; errors name the target instead."""
    try:
        if callable(table):
            table(temporary)
            return
        file_format, compression = _target_format(target)
        writer = WRITERS[file_format]
        with temporary.open("wb") as file:
            if isinstance(table, Mapping) and writer.write_sheets is not None:
                writer.write_sheets(table, file)
            else:
                options = {"include_bom": True} if bom and writer.takes_bom else {}
                writer.write(_only(table).lazy(), file, compression, **options)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem
