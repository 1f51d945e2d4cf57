"""Open an input file as a table that can be read whole or in batches."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, cast

import polars as pl

from ..errors import DataError
from . import columns
from .formats import Content, Format, format_of, lines_of, split_extension
from .frames import first_line
from .ids import common_type, kind, require_ids
from .paths import Source, is_stream, name_of, readable, stamp, take

# Lines to look at when estimating the number of rows of a text file.
_SAMPLE_LINES: Final = 2000
# The bytes of a short row, to estimate rather too many rows where nothing says how many there are.
_SHORT_ROW: Final = 16
# How many times smaller text is assumed to be when it is compressed.
_COMPRESSION_RATIO: Final = 8


@dataclass(frozen=True)
class Scan:
    """One input file, ready to be read.

    Attributes:
        lazy: The table, with its columns named by role (item, worker, label or truth).
        found: The name of each of these columns in the file.
        name: The name of the file in error messages.
        format: The format of the file.
        content: The path of the file, or its bytes.
        stamp: What the file was like before it was read; see `paths.stamp`.
    """

    lazy: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    format: Format
    content: Content
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
        """Yield the tables. Raises `DataError` if none has rows, a column has several types, or the file changed."""
        empty = True
        refuse_mixed = self.format.refuse_mixed
        unchecked = dict(self.found)
        for table in tables:
            if table.height == 0:
                continue
            empty = False
            if refuse_mixed is not None:
                for role in [role for role in unchecked if _may_be_mixed(table[role])]:
                    refuse_mixed(self.content, unchecked.pop(role), self.name)
            yield table
        with readable(self.name):
            same = stamp(self.content) == self.stamp
        if not same:
            raise DataError(f"{self.name} was changed while it was read; read it again when nobody writes to it.")
        if empty:
            raise DataError(f"{self.name} has no rows.")

    def size(self) -> tuple[int, int]:
        """Estimate the number of rows and their size in bytes, without reading the whole file."""
        stored = Path(self.content).stat().st_size if isinstance(self.content, str) else len(self.content)
        if self.format.knows_rows:
            with self._reading():
                return int(self.lazy.select(pl.len()).collect().item()), stored
        if not self.format.row_is_line:
            return stored // _SHORT_ROW, stored
        compressed = isinstance(self.content, str) and split_extension(Path(self.content))[1] != "uncompressed"
        text = stored * (_COMPRESSION_RATIO if compressed else 1)
        with self._reading():
            lines = lines_of(self.content).head(_SAMPLE_LINES).collect().to_series()
        return round(text / max(float(lines.str.len_bytes().sum()) / max(len(lines), 1) + 1, 2.0)), text

    def _reading(self) -> AbstractContextManager[None]:
        return _reading(self.name, self.format)


@contextmanager
def _reading(name: str, file_format: Format) -> Iterator[None]:
    """Turn errors of polars and of the file system while reading a file into `DataError`."""
    try:
        yield
    except pl.exceptions.PanicException as problem:
        raise DataError(f"{name} does not read as {file_format.read_as}: it is damaged.") from problem
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as problem:
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
        lazy = file_format.read(content)
        found = columns.recognise(lazy.collect_schema().names(), given, name)
        lazy = lazy.select(pl.col(found[role]).alias(role) for role in given)
        require_ids(lazy.collect_schema(), found, name)
        damage = file_format.check(content, found.values()) if file_format.check is not None else ""
    if damage:
        raise DataError(f"{name} does not read as {file_format.read_as}: {damage}.")
    if file_format.is_text:
        lazy = lazy.filter(~pl.all_horizontal(pl.all().is_null()))  # leave out empty lines
    return Scan(lazy, found, name, file_format, content, before)


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


def _may_be_mixed(values: pl.Series) -> bool:
    """Return whether some text looks like a number, a boolean, an object or a list that was turned into text."""
    return values.dtype == pl.String and bool(values.str.contains(r"^(-?\d|true$|false$|\{|\[)").any())
