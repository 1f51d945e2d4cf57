"""Open an input file as a table that can be read whole or in batches."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, cast

import polars as pl

from ..errors import DataError
from . import columns
from .formats import Format, Table, format_of
from .frames import first_line
from .ids import common_type, kind, require_ids
from .paths import Source, is_stream, name_of, readable, stamp, take
from .unpacking import Content, UnsoundError


@dataclass(frozen=True)
class Scan:
    """One input file, ready to be read.

    Attributes:
        lazy: The table, with its columns named by role (item, worker, label or truth).
        found: The name of each of these columns in the file.
        name: The name of the file in error messages.
        format: The format of the file.
        content: The path of the file, or its bytes.
        table: The file as a table.
        stamp: What the file was like before it was read; see `paths.stamp`.
    """

    lazy: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    format: Format
    content: Content
    table: Table
    stamp: tuple[int, ...]

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
            same = stamp(self.content) == self.stamp
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
        raise DataError(f"{name} does not read as {file_format.read_as}: it is damaged.") from problem
    except (UnsoundError, pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{name} does not read as {file_format.read_as}: {first_line(problem)}.") from problem


def scan(source: Source, given: Mapping[str, str | None], copy: Callable[[IO[bytes]], Path] | None = None) -> Scan:
    """Recognise the format of a file, and its columns for the roles in `given`.

    Args:
        source: A path, "-" for standard input, or an open binary file.
        given: The name of the column for each role; None to recognise it.
        copy: Copies input without a path, such as standard input, to a file and returns its path; None to read it into
            memory.

    Raises:
        DataError: The file is empty, cannot be read, or lacks a column.
    """
    name = name_of(source)
    content = take(source, copy) if is_stream(source) else os.fspath(cast(str, source))
    with readable(source):
        before = stamp(content)
        if before[0] == 0:
            raise DataError(f"{name} is empty.")
        file_format = format_of(content)
    with _reading(name, file_format):
        table = file_format.open(content)
        found = columns.recognise(table.names, given, name)
        lazy = table.pick(found)
        require_ids(lazy.collect_schema(), found, name)
        damage = file_format.check(content, found.values()) if file_format.check is not None else ""
    if damage:
        raise DataError(f"{name} does not read as {file_format.read_as}: {damage}.")
    if file_format.is_text:
        lazy = lazy.filter(~pl.all_horizontal(pl.all().is_null()))  # leave out empty lines
    return Scan(lazy, found, name, file_format, content, table, before)


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
