"""`Input`: one thing to read (a file, an address or a table in memory), and what it begins with."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final

import polars as pl

from ..addresses import scheme_of
from ..errors import CallError, DataError, is_utf_8
from ..system import first_line
from . import delimited, zips
from .json_stream import beginning, objects_of, values_at, whole_of
from .unpacking import Content, UnsoundError, compression_of, for_polars, opened, unpacked

# How much of a file is looked at to recognise it.
_HEAD: Final = 2**16
_PARQUET: Final = b"PAR1"
# What a table in memory is called in messages, as a format.
IN_MEMORY: Final = "a table"


@dataclass(frozen=True, eq=False)
class Input:
    """One thing to read.

    Attributes:
        name: Its name in messages.
        content: The path of a file, or its bytes; empty if this is no file.
        path: Where the file is: its path, or its name within a zip; empty if it has none, as standard input.
        address: The address of a database, or of something in a cloud storage that polars reads; empty for others.
        frame: A table in memory, of any library; None for others.
    """

    name: str
    content: Content = b""
    path: PurePath = field(default_factory=PurePath)
    address: str = ""
    frame: Any = None

    @property
    def is_file(self) -> bool:
        """Whether this is a file, or the bytes of one."""
        return not self.address and self.frame is None

    @cached_property
    def stored_head(self) -> bytes:
        """The first bytes of a file, as they are stored."""
        with opened(self.content) as file:
            return file.read(_HEAD)

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked if they are packed by gzip or zstd; empty if that does not work."""
        try:
            if compression_of(self.stored_head) is None:
                return self.stored_head
            with unpacked(self.content) as stream:
                return stream.read(_HEAD)
        except UnsoundError:
            return b""

    @cached_property
    def text(self) -> str:
        """The first characters of a text; empty if it is none."""
        if b"\0" in self.head:
            return ""
        return self.head.removeprefix(BOM_UTF8).decode("utf-8", "ignore").lstrip()

    @cached_property
    def root(self) -> Any:
        """What a JSON file holds, as far as the head goes: a list or an object whose end may be missing. Else None."""
        return beginning(self.text) if self.text[:1] in ("[", "{") else None

    @property
    def first(self) -> Mapping[str, Any]:
        """The first object of JSON: that of an array, of lines, or the only one; empty if there is none."""
        first = self.root[0] if isinstance(self.root, list) and self.root else self.root
        return first if isinstance(first, dict) else {}

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns of a CSV or TSV file; empty if it is none."""
        if self.root is not None or not self.text:
            return []
        try:
            return delimited.header(self.text)
        except UnsoundError:
            return []

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, by its first bytes."""
        return self.head.startswith(_PARQUET)

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns of a CSV, TSV or Parquet file, or the keys of the first object of JSON."""
        if not self.is_parquet:
            return self.header or list(self.first)
        try:
            return pl.scan_parquet(for_polars(self.content), glob=False).collect_schema().names()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):  # said where it is read
            return []

    @cached_property
    def members(self) -> list[str]:
        """The names of the files in a zip; empty if it is none."""
        return zips.names(self.content, self.name) if self.is_zip else []

    @property
    def is_zip(self) -> bool:
        """Whether this is a zip, by its first bytes."""
        return self.head.startswith(zips.FIRST_BYTES)

    def unpack(self) -> Iterator["Input"]:
        """Yield the files in a zip in the order of their names. Nothing is written to the disk.

        Raises:
            DataError: All of them together would not fit in memory, or one does not unpack.
        """
        zips.require_room(self.content, self.name)
        yield from self.files_in(self.members)

    def peek(self) -> Iterator["Input"]:
        """Yield the files in a zip with no more content than is looked at to recognise them."""
        starts = zips.beginnings(self.content, self.name, self.members, 2 * _HEAD)  # compressed again, it may be longer
        for member, start in zip(self.members, starts, strict=True):
            whole = start.startswith(_PARQUET)  # its columns are named at its end
            yield self.file_in(member) if whole else Input(f"{self.name}:{member}", start, PurePath(self.path, member))

    def files_in(self, members: Sequence[str]) -> Iterator["Input"]:
        """Yield some of the files in a zip, one after the other."""
        for member, content in zip(members, zips.unpacked_files(self.content, self.name, members), strict=True):
            yield Input(f"{self.name}:{member}", content, PurePath(self.path, member))

    def file_in(self, member: str) -> "Input":
        """Return one of the files in a zip."""
        return next(self.files_in([member]))

    def objects(self, path: str = "") -> Iterator[dict[str, Any]]:
        """Yield the objects of a JSON file one by one: those of an array, of lines, or the only one.

        `path` says where they are if they are deeper within one object, as in "results.item".

        Raises:
            DataError: The file is no sound JSON, or has something else than objects there.
        """
        with reading(self.name), unpacked(self.content) as stream:
            values = values_at(stream, self.name, path) if path else objects_of(stream, self.name)
            for number, value in enumerate(values, 1):
                if not isinstance(value, dict):
                    raise self.unlike(f"entry {number:,} is no object")
                yield value

    def whole(self) -> Any:
        """Return the content of a JSON file that is one object or array. Raises `DataError` if it is too long."""
        with reading(self.name), unpacked(self.content) as stream:
            return whole_of(stream, self.name)

    def unlike(self, what: str) -> DataError:
        """Return the error that says why a file is not as its platform writes it; `what` follows "but"."""
        return NotAsExpectedError(f"{self.name}: {what}.")


class NotAsExpectedError(DataError):
    """A file is not as the platform writes it; the name of the platform is added where it is known."""


@contextmanager
def reading(name: str, read_as: str = "") -> Iterator[None]:
    """Turn errors of the libraries that read an input into `DataError`.

    `read_as` is the name of its format; empty for an export of a platform.
    """
    words = {"": "cannot be read", IN_MEMORY: "cannot be made"}
    cannot = f"{name} {words.get(read_as, f'does not read as {read_as}')}"
    try:
        yield
    except (DataError, CallError):
        raise
    except pl.exceptions.PanicException as problem:
        damage = "it is damaged, or has a column of a type that polars does not read, such as decimals of more than"
        raise DataError(f"{cannot}: {damage} 38 digits.") from problem
    except (UnsoundError, pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as problem:
        if scheme_of(name):
            raise DataError(f"{name} cannot be read: {first_line(problem)}.") from None  # the stack may have a password
        raise DataError(f"{cannot}: {first_line(problem)}.") from problem
    except Exception as problem:
        if read_as == IN_MEMORY:  # a LazyFrame may do anything
            raise DataError(f"{cannot}: {first_line(problem)}.") from problem
        if not read_as and isinstance(problem, RecursionError):
            raise DataError(f"{name} is nested too deeply to be an export.") from problem
        if not read_as and isinstance(problem, ValueError):
            raise DataError(f"{name} is no sound JSON: {first_line(problem)}.") from problem
        raise


def worker_name(path: PurePath, place: str, name: str) -> str:
    """Return the worker after whom a file, or its folder, is named: `place` says which. Raises `DataError` if none is.

    `name` is the name of the file in messages.

    >>> worker_name(PurePath("votes/ann/1.csv"), "folder", "")
    'ann'
    >>> worker_name(PurePath("votes/ann.csv.gz"), "file", "")
    'ann'
    """
    worker = ""
    if path == PurePath():  # standard input, or an open file
        pass
    elif place == "file":
        packed = path.suffix.lower() in (".gz", ".zst")
        worker = file_name(path.with_suffix("") if packed and path.stem else path)
    else:
        worker = PurePath(os.path.abspath(path)).parent.name  # noqa: PTH100  # keeps the links that `resolve` follows
    if not worker or not is_utf_8(worker):
        raise DataError(f"{name} is in no {place} that could name its worker (--worker-from {place}).")
    return worker


def file_name(path: PurePath) -> str:
    """Return the name of a file without its last extension.

    >>> file_name(PurePath("exports/ann.b.jsonl"))
    'ann.b'
    """
    return os.path.splitext(path.name)[0]  # noqa: PTH122  # a `Path` would forget a name such as ".jsonl"
