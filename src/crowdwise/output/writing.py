"""`write`: tables and pages to files; a failure never leaves an incomplete file behind."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import polars as pl

from ..addresses import scheme_of
from ..errors import DataError, require_kind
from ..sources.paths import name_of
from ..system import first_line
from .replacing import temporary_files
from .targets import check_distinct, check_outputs
from .writers import WRITERS, format_to_write, send, send_file

Target = TypeVar("Target", str, Path)


# What a file is made of: a table; tables by the names of their sheets, for formats that have sheets; or a function that
# writes it to the path that it is given, for files that are no tables.
Content = pl.DataFrame | pl.LazyFrame | Mapping[str, pl.DataFrame] | Callable[[Path], object]


def write(tables: Mapping[Target, Content], storage: Mapping[str, Any] | None = None, *, bom: bool = False) -> None:
    r"""Write tables, each in the format that the extension of its path says. A lazy table is written as a stream.

    Either all targets are replaced, or none: all files are complete before one is put in place. Tables of Spark, which
    its cluster writes as folders of files, and addresses in a cloud storage, which are written to directly, come first.
    Of several addresses, those before the one that fails have been written, and the message names them.

    Args:
        tables: The tables by path. For a workbook of Excel, several by the names of their sheets.
        storage: Options of a cloud storage, by name.
        bom: Whether files of CSV and TSV begin with the byte-order mark, by which Excel shows all letters right.

    Raises:
        CallError: A path cannot be written to.
        DataError: Writing fails.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "truth.csv"
    >>> write({path: pl.DataFrame({"item": [1], "label": ["cat"]})})
    >>> path.read_text()
    'item,label\n1,cat\n'
    """
    require_kind("tables", tables, Mapping, "a mapping from paths to tables")
    folders: dict[str, Any] = {}
    files: dict[str | Path, Content] = {}
    for path, content in tables.items():
        if type(content).__module__.startswith("pyspark."):
            folders[os.fspath(path)] = content
        else:
            files[path] = content
    for content in files.values():
        if not callable(content):
            require_kind("A table to write", content, pl.DataFrame | pl.LazyFrame | Mapping, "a polars table")
    check_outputs(
        [path for path, content in files.items() if not callable(content)],
        [path for path, content in files.items() if callable(content)],
    )
    check_distinct(list(tables))
    local = [target for target in files if not scheme_of(target)]
    with temporary_files(local) as temporaries:
        for target, temporary in zip(local, temporaries, strict=True):
            _write_one(files[target], Path(target), temporary, bom)
        if folders:
            from .spark_folders import write_folders  # imported here because it needs the extra `spark`

            write_folders(folders)
        _write_to_clouds({str(one): content for one, content in files.items() if scheme_of(one)}, storage or {})


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text to a file. Raises `DataError` if that fails; the file is then as it was before."""
    # A name that is not text, such as one of a file in the command, is shown as Python writes it.
    write({Path(path): lambda file: file.write_text(text, "utf-8", "backslashreplace", "\n")})


def _write_to_clouds(contents: Mapping[str, Content], storage: Mapping[str, Any]) -> None:
    """Write to addresses, one after the other; if one fails, the message names those before it."""
    done: list[str] = []
    for address, content in contents.items():
        try:
            _write_to_cloud(content, address, storage)
        except DataError as problem:
            if not done:
                raise
            raise DataError(f"{problem} Written before that: {', '.join(done)}.") from problem
        done.append(name_of(address))


def _write_to_cloud(content: Content, address: str, storage: Mapping[str, Any]) -> None:
    if not callable(content):
        file_format, compression = format_to_write(address)
        send(_only(content).lazy(), address, file_format, compression, storage)
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        content(file)
        send_file(file.read_bytes(), address, storage)


def _only(table: pl.DataFrame | pl.LazyFrame | Mapping[str, pl.DataFrame]) -> pl.DataFrame | pl.LazyFrame:
    """Return the first of several tables, for formats without sheets."""
    return next(iter(table.values())) if isinstance(table, Mapping) else table


def _write_one(table: Content, target: Path, temporary: Path, bom: bool) -> None:
    """Write one file to its temporary path; errors name the target instead."""
    try:
        if callable(table):
            table(temporary)
            return
        file_format, compression = format_to_write(target)
        writer = WRITERS[file_format]
        with temporary.open("wb") as file:
            if isinstance(table, Mapping) and writer.write_sheets is not None:
                writer.write_sheets(table, file)
            else:
                options = {"include_bom": True} if bom and writer.takes_bom else {}
                writer.write(_only(table).lazy(), file, compression, **options)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{target} could not be written: {first_line(problem)}.") from problem
