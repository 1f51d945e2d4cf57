"""Open an input file as a table that can be read whole or in batches."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, cast

import polars as pl

from ..addresses import POSTGRES, scheme_of
from ..crowd.ids import common_type, kind
from ..crowd.opening import PLAIN, Opening
from ..errors import DataError
from ..system import first_line
from . import cloud, postgres
from .formats import Format, Table, format_of
from .frames import frame_table
from .paths import Source, is_stream, name_of, readable, stamp, take
from .shapes import Long, long_form
from .unpacking import Content, UnsoundError

# What is read besides files.
_POSTGRES: Final = Format(
    name="Postgres",
    extensions=(),
    read=lambda address, query, table: postgres.open_postgres(address.decode(), query, table),
    options=("query", "table"),
)
_FRAME: Final = Format(name="a table", extensions=(), read=frame_table)


@dataclass(frozen=True)
class Scan:
    """One input file, ready to be read.

    Attributes:
        lazy: The table, with its columns named by role (item, worker, label or truth).
        found: The name of each of these columns in the file.
        name: The name of the file in error messages.
        format: The format of the file.
        content: The path of the file, or its bytes; None if it is no file, as a table in memory or a database.
        table: The file as a table.
        stamp: What the file was like before it was read; see `paths.stamp`.
        remarks: Sentences for the user about how the table was understood.
    """

    lazy: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    format: Format
    content: Content | None
    table: Table
    stamp: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def knows_size(self) -> bool:
        """Whether it is known, or estimated, how large the table is before it is read."""
        return isinstance(self.content, str) or self.content is None

    @property
    def is_text(self) -> bool:
        """Whether the format has no types, so that numbers are read as text."""
        return self.format.is_text

    def collect(self) -> pl.DataFrame:
        """Read the whole table. Raises `DataError` if it cannot be read or has no rows."""
        with self._reading():
            table = self.lazy.collect()
        (checked,) = self._checked(iter([table]))
        return checked

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """Read the table in batches of about `rows` rows, in the order of the file. Raises as `collect` does."""
        with self._reading():
            yield from self._checked(self.lazy.collect_batches(chunk_size=rows, maintain_order=True))

    def _checked(self, tables: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Yield the tables that have rows. Raises `DataError` if none has, or if the file changed."""
        empty = True
        for table in tables:
            if table.height:
                empty = False
                yield table
        with readable(self.name):
            same = self.content is None or stamp(self.content) == self.stamp
        if not same:
            raise DataError(f"{self.name} was changed while it was read; read it again when nobody writes to it.")
        if empty:
            raise DataError(f"{self.name} has no rows.")

    def size(self) -> tuple[int, int]:
        """Return about how many rows there are, and how many bytes they have, unpacked."""
        with self._reading():
            return self.table.rows(), self.table.size

    def _reading(self) -> AbstractContextManager[None]:
        return _reading(self.name, self.format)


@contextmanager
def _reading(name: str, file_format: Format) -> Iterator[None]:
    """Turn what is wrong with a file, and errors of polars and of the file system, into `DataError`."""
    try:
        yield
    except pl.exceptions.PanicException as problem:
        raise DataError(
            f"{name} does not read as {file_format.read_as}: it is damaged, or has a column of a type that polars does "
            "not read, such as decimals of more than 38 digits."
        ) from problem
    except (UnsoundError, pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as problem:
        if scheme_of(name):
            raise DataError(f"{name} cannot be read: {first_line(problem)}.") from None
        raise DataError(f"{name} does not read as {file_format.read_as}: {first_line(problem)}.") from problem


def content_of(source: Source, copy: Callable[[IO[bytes]], Path] | None = None) -> Content:
    """Return the path of a file, or the bytes of input without one.

    Args:
        source: A path, "-" for standard input, or an open binary file.
        copy: Copies input without a path, such as standard input, to a file and returns its path; None to read it into
            memory.

    Raises:
        DataError: The file is empty, or cannot be read.
    """
    content = take(source, copy) if is_stream(source) else os.fspath(cast(str, source))
    with readable(source):
        if stamp(content)[0] == 0:
            raise DataError(f"{name_of(source)} is empty.")
    return content


def scan_content(content: Content, given: Mapping[str, str | None], name: str, how: Opening = PLAIN) -> Scan:
    """Recognise the format of a file, its shape, and its columns for the roles in `given`.

    Args:
        content: The path of the file, or its bytes; see `content_of`.
        given: The name of the column for each role; None to recognise it.
        name: The name of the file in messages.
        how: What the user says of how it is opened.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    with readable(name):
        before = stamp(content)
        file_format = format_of(content, name)
    with _reading(name, file_format):
        table = file_format.open(content, how)
        long = long_form(table, given, how, name)
        damage = file_format.check(content, _columns(table, long)) if file_format.check is not None else ""
    if damage:
        raise DataError(f"{name} does not read as {file_format.read_as}: {damage}.")
    return Scan(long.lazy, long.found, name, file_format, content, table, before, (*table.remarks, *long.remarks))


def _columns(table: Table, long: Long) -> Collection[str]:
    """Return the names of the columns that will be read: those of the roles, or all if they are others."""
    return long.found.values() if set(long.found.values()) <= set(table.names) else table.names


def scan_address(address: str, given: Mapping[str, str | None], how: Opening) -> Scan:
    """Return a database, or a binary table in a cloud storage, ready to be read."""
    name = name_of(address)
    if scheme_of(address) in POSTGRES:
        file_format = _POSTGRES
        with _reading(name, file_format):
            table = file_format.open(address.encode(), how)
    else:
        how.options(())
        file_format, table = cloud.scan_address(address, how.storage)
    with _reading(name, file_format):
        long = long_form(table, given, how, name)
    return Scan(long.lazy, long.found, name, file_format, None, table, (), (*table.remarks, *long.remarks))


def scan_frame(frame: Any, given: Mapping[str, str | None], how: Opening, name: str = "The table") -> Scan:
    """Return a table of any library, ready to be read. Raises `DataError` if it lacks a column, or is no table."""
    how.options(())
    table = frame_table(frame)
    with _reading(name, _FRAME):
        long = long_form(table, given, how, name)
    return Scan(long.lazy, long.found, name, _FRAME, None, table, (), long.remarks)


def scan(source: Source, given: Mapping[str, str | None]) -> Scan:
    """Open a file, or input without a path; see `content_of` and `scan_content`."""
    return scan_content(content_of(source), given, name_of(source))


def same_types(scans: Sequence[Scan]) -> list[Scan]:
    """Convert the columns of several files to common types, so that the files can be read as one table.

    Raises:
        DataError: A column has types in two files that cannot be mixed, such as text and numbers.
    """
    if len(scans) == 1:
        return list(scans)
    any_text = any(one.is_text for one in scans)
    schemas = [one.lazy.collect_schema() for one in scans]
    common: dict[str, pl.DataType] = {}
    for role in schemas[0]:
        kinds = [(kind(schema[role], any_text), one) for schema, one in zip(schemas, scans, strict=True)]
        known = [(words, one) for words, one in kinds if words != "Null"]  # a file without any value suits every type
        for words, one in known:
            if words != known[0][0]:
                raise DataError(
                    f"The {role} is of mixed types: {known[0][0]} in {known[0][1].name}, {words} in {one.name}. "
                    "Give it one type in all files."
                )
        common[role] = common_type([schema[role] for schema in schemas], any_text)
    return [replace(one, lazy=one.lazy.cast(pl.Schema(common))) for one in scans]
