"""Every file format on the way in, as something to scan: whole, or a batch at a time."""

import glob
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

import polars as pl

from ..errors import CallError, DataError
from . import columns
from .formats import Content, Format, format_of, lines_of, split_extension
from .frames import first_line

Source: TypeAlias = str | os.PathLike[str] | IO[bytes]

# Lines to look at when guessing how many there are, and what text shrinks to when it is compressed.
_LINES: Final = 2000
_SHRINKS: Final = 8


@dataclass(frozen=True)
class Scan:
    """One file, ready to be read.

    Attributes:
        lazy: The columns under our names.
        found: What they are called in the file.
        name: What the file is called in an error.
        format: Its format.
        content: Where it is, or what is in it.
    """

    lazy: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    format: Format
    content: Content

    @property
    def is_text(self) -> bool:
        """Whether numbers come as text."""
        return self.format.is_text

    def collect(self) -> pl.DataFrame:
        """The whole table."""
        with self._reading():
            table = self.lazy.collect()
        return next(self._checked(iter([table])))

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """The table in batches of about so many rows, in their order."""
        with self._reading():
            yield from self._checked(self.lazy.collect_batches(chunk_size=rows, maintain_order=True))

    def _checked(self, tables: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Refuse a file without rows, and a column of several types where the format allows one."""
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
        if empty:
            raise DataError(f"{self.name} has no rows.")

    def size(self) -> tuple[int, int]:
        """About how many rows there are and how many bytes they are, without reading them."""
        stored = Path(self.content).stat().st_size if isinstance(self.content, str) else len(self.content)
        if self.format.knows_rows:
            with self._reading():
                return int(self.lazy.select(pl.len()).collect().item()), stored
        packed = isinstance(self.content, str) and split_extension(Path(self.content))[1] != "uncompressed"
        text = stored * (_SHRINKS if packed else 1)
        with self._reading():
            lines = lines_of(self.content).head(_LINES).collect().to_series()
        return round(text / max(float(lines.str.len_bytes().sum()) / max(len(lines), 1) + 1, 2.0)), text

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as problem:
            raise DataError(f"{self.name} does not read as {self.format.read_as}: {first_line(problem)}.") from problem


def scan(source: Source, given: Mapping[str, str | None], copy: Path | None = None) -> Scan:
    """Find out a file's format and its columns for the roles in `given`.

    What has no path, such as standard input, is read into memory, or into the file `copy`.
    """
    name = name_of(source)
    content: Any = source
    if source == "-" or not isinstance(source, str | os.PathLike):
        stream: Any = sys.stdin.buffer if source == "-" else source
        if copy is None:
            content = stream.read()
        else:
            with copy.open("wb") as file:
                shutil.copyfileobj(stream, file)
            content = copy
    if not isinstance(content, bytes):
        content = os.fspath(content)
    if (Path(content).stat().st_size if isinstance(content, str) else len(content)) == 0:
        raise DataError(f"{name} is empty.")
    file_format = format_of(content)
    try:
        lazy = file_format.read(content)
        found = columns.recognise(lazy.collect_schema().names(), given, name)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{name} does not read as {file_format.read_as}: {first_line(problem)}.") from problem
    lazy = lazy.select(pl.col(found[role]).alias(role) for role in given)
    if file_format.is_text:
        lazy = lazy.filter(~pl.all_horizontal(pl.all().is_null()))  # empty lines
    return Scan(lazy, found, name, file_format, content)


def same_types(scans: Sequence[Scan]) -> list[Scan]:
    """Several files as one table; a column must be of one type in all of them."""
    if len(scans) == 1:
        return list(scans)
    any_text = any(one.is_text for one in scans)
    schemas = [one.lazy.collect_schema() for one in scans]
    common: dict[str, pl.DataType] = {}
    for role in schemas[0]:
        kinds = [_type(schema[role], any_text) for schema in schemas]
        for kind, one in zip(kinds, scans, strict=True):
            if kind != kinds[0]:
                raise DataError(
                    f"The {role} is of mixed types: {kinds[0]} in {scans[0].name}, {kind} in {one.name}. "
                    "Give it one type in all files."
                )
        nothing = [pl.DataFrame(schema={role: schema[role]}) for schema in schemas]
        common[role] = pl.String() if any_text else pl.concat(nothing, how="vertical_relaxed").schema[role]
    return [replace(one, lazy=one.lazy.cast(pl.Schema(common))) for one in scans]


def expand(source: Source | Sequence[Source]) -> list[Source]:
    """The files that are meant: patterns are expanded, and every path must exist."""
    if not isinstance(source, str | os.PathLike):
        if hasattr(source, "read"):
            return [cast(IO[bytes], source)]
        expanded = [path for one in source for path in expand(one)]
        if not expanded:
            raise CallError("No file was given.")
        return expanded
    path = Path(source)
    if os.fspath(source) == "-":
        return ["-"]
    if path.is_file():
        if not os.access(path, os.R_OK):
            raise DataError(f"{path} may not be read: permission denied.")
        return [os.fspath(source)]
    if path.is_dir():
        return _in_folder(path)
    # Path.glob needs a folder to start from; a pattern as typed does not say where that folder ends.
    matches = sorted(glob.glob(os.fspath(source)))  # noqa: PTH207
    if not matches:
        raise DataError(f"There is no file {source}.")
    return list(matches)


def _in_folder(folder: Path) -> list[Source]:
    """The tables in a folder; what starts with a dot or an underscore is a note of the program that wrote it."""
    tables = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] not in "._"]
    known: list[Source] = [os.fspath(path) for path in tables if split_extension(path)[0] is not None]
    if not known:
        raise DataError(f"The folder {folder} has no file whose extension says a format that we read.")
    return known


def name_of(source: Any) -> str:
    """What a source is called in an error."""
    if hasattr(source, "read") or isinstance(source, bytes):
        return "The input"
    return "Standard input" if source == "-" else os.fspath(source)


def _may_be_mixed(values: pl.Series) -> bool:
    """Whether text looks as if it had been something else."""
    return values.dtype == pl.String and bool(values.str.contains(r"^(-?\d|true$|false$|\{|\[)").any())


def _type(dtype: pl.DataType, any_text: bool) -> str:
    """What a type is called where it must be the same; a CSV file has text where others have integers."""
    if dtype.is_integer():
        return "text" if any_text else "whole numbers"
    return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else str(dtype)
