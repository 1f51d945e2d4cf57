"""The supported file formats: how each is recognised, read and written, by polars and by Spark.

To add a format, add a row to `FORMATS` and write the functions that the row names. No other code depends on the
format of a file.
"""

import glob
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

import polars as pl

from ..errors import CallError, DataError
from . import delimited, json_lines
from .parquet_pages import check_pages
from .unpacking import Compression as Compression
from .unpacking import Content as Content
from .unpacking import UnsoundError, first_text, head_of

_COMPRESSIONS: Final[Mapping[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}
# The first bytes of an Arrow IPC stream. (An Arrow IPC file starts with ARROW1.)
_STREAM: Final = b"\xff\xff\xff\xff"
# The number of first bytes that are compared with `Format.first_bytes`.
_HEAD: Final = 8
# The bytes of a short row, to estimate rather too many rows where nothing says how many there are.
_SHORT_ROW: Final = 16


@dataclass(frozen=True, eq=False)
class SparkFormat:
    """How Spark reads and writes a format.

    Attributes:
        name: Spark's name of the format.
        options: The options for reading and writing.
    """

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """A file as a table.

    Attributes:
        names: The names of all columns. A name may be there twice; then it stands for no column.
        pick: Takes the column for each role, and returns a table of these columns, named by role, which is read only
            when it is collected. Raises `UnsoundError` if a column cannot be used.
        rows: Returns about how many rows there are.
        size: About how many bytes the rows have, unpacked.
        spark_options: How Spark must read this file, besides `SparkFormat.options`.
    """

    names: list[str]
    pick: Callable[[Mapping[str, str]], pl.LazyFrame]
    rows: Callable[[], int]
    size: int
    spark_options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Format:
    """One file format.

    Attributes:
        name: The usual name of the format.
        extensions: The file name extensions of the format, in lower case; the first is the usual one.
        read: Takes a path or bytes and returns the table, which is read only when it is collected; or a `Table`, where
            the file must be looked at first. Raises `UnsoundError` if it cannot be read.
        write: Takes a table, a path and a compression, and writes the file. The path need not have the extension, nor
            be UTF-8, as polars wants it.
        first_bytes: First bytes by which a file is recognised if it has no known extension.
        first_text: Starts of the first line (after spaces) by which a text file is recognised if it has no known
            extension. The file may be compressed.
        compressible: Whether files may be compressed with gzip or zstd.
        is_text: Whether values have no types, so that numbers are read as text and rows without any value are empty
            lines.
        knows_rows: Whether the file stores its number of rows.
        check: Takes a path or bytes, and the columns that will be read, and returns what is damaged if reading them
            would end the program, else an empty text. None if that cannot be.
        spark: How Spark reads and writes the format; None if Spark cannot.
        read_as_name: The name of the format in the message about a file that cannot be read; empty if it is `name`.
    """

    name: str
    extensions: tuple[str, ...]
    read: Callable[[Content], pl.LazyFrame | Table]
    write: Callable[[pl.LazyFrame, Path, Compression], None]
    first_bytes: tuple[bytes, ...] = ()
    first_text: tuple[str, ...] = ()
    compressible: bool = False
    is_text: bool = False
    knows_rows: bool = False
    check: Callable[[Content, Collection[str]], str] | None = None
    spark: SparkFormat | None = None
    read_as_name: str = ""

    @property
    def read_as(self) -> str:
        """The name of the format in the message about a file that cannot be read."""
        return self.read_as_name or self.name

    def open(self, content: Content) -> Table:
        """Return a file as a table. Raises `UnsoundError` if it cannot be read, or as polars does."""
        opened = self.read(content)
        if isinstance(opened, Table):
            return opened
        lazy = opened
        size = Path(content).stat().st_size if isinstance(content, str) else len(content)

        def pick(found: Mapping[str, str]) -> pl.LazyFrame:
            return lazy.select(pl.col(column).alias(role) for role, column in found.items())

        def rows() -> int:
            return int(lazy.select(pl.len()).collect().item()) if self.knows_rows else size // _SHORT_ROW

        return Table(lazy.collect_schema().names(), pick, rows, size)


def for_polars(content: Content) -> Any:
    """Return a path or bytes in the form that the reading functions of polars take, with `glob=False`."""
    return content if isinstance(content, str) else io.BytesIO(content)


def _read_csv(content: Content) -> Table:
    """Read CSV with the delimiter that gives the most columns.

    All columns are read as text: if polars guessed the types, the id 007 would become 7. They are numbered, because
    names may repeat.
    """
    found = delimited.inspect(content)
    lazy = pl.scan_csv(
        for_polars(content),
        separator=found.delimiter,
        quote_char='"' if found.quoted else None,
        new_columns=[str(number) for number in range(len(found.names))],
        infer_schema=False,
        glob=False,
    )

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        return lazy.select(pl.col(str(found.names.index(column))).alias(role) for role, column in columns.items())

    spark_options = {"sep": found.delimiter, "multiLine": found.multiline}
    return Table(found.names, pick, lambda: found.rows, found.size, spark_options)


def _write_csv(table: pl.LazyFrame, path: Path, compression: Compression, separator: str = ",") -> None:
    with path.open("wb") as file:
        table.sink_csv(file, separator=separator, compression=compression, check_extension=False)


def _read_parquet(content: Content) -> pl.LazyFrame:
    return pl.scan_parquet(for_polars(content), glob=False)


def _write_parquet(table: pl.LazyFrame, path: Path, _: Compression) -> None:
    with path.open("wb") as file:
        table.sink_parquet(file)


def _read_json_lines(content: Content) -> Table:
    found = json_lines.inspect(content)
    # `scan_ndjson` takes every path for a pattern and has no `glob=False`; but m[1].jsonl is that file, never m1.jsonl.
    source: Any = glob.escape(content) if isinstance(content, str) else io.BytesIO(content)

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        lazy = pl.scan_ndjson(source, schema={column: found.type_of(column) for column in columns.values()})
        return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

    return Table(list(dict.fromkeys(found.names)), pick, lambda: found.rows, found.size)


def _write_json_lines(table: pl.LazyFrame, path: Path, compression: Compression) -> None:
    with path.open("wb") as file:
        table.sink_ndjson(file, compression=compression, check_extension=False)


def _read_arrow(content: Content) -> pl.LazyFrame:
    """Read an Arrow file when it is needed. An Arrow stream has no index, so it is read whole at once."""
    if head_of(content, _HEAD).startswith(_STREAM):
        return pl.read_ipc_stream(for_polars(content)).lazy()
    return pl.scan_ipc(for_polars(content), glob=False)


def _write_arrow(table: pl.LazyFrame, path: Path, _: Compression) -> None:
    with path.open("wb") as file:
        table.sink_ipc(file)


# Quotes in quoted fields are doubled, not escaped by a backslash, and spaces belong to their field.
_SPARK_CSV: Final = {
    "header": True,
    "escape": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
}
_CSV: Final = Format(
    name="CSV",
    extensions=(".csv", ".txt"),
    read=_read_csv,
    write=_write_csv,
    compressible=True,
    is_text=True,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": ","}),
)
_TSV: Final = Format(
    name="TSV",
    extensions=(".tsv", ".tab"),
    read=_read_csv,
    write=partial(_write_csv, separator="\t"),
    compressible=True,
    is_text=True,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": "\t"}),
    read_as_name="CSV",  # the reader finds the delimiter itself, whatever the extension says
)
_PARQUET: Final = Format(
    name="Parquet",
    extensions=(".parquet", ".pq"),
    read=_read_parquet,
    write=_write_parquet,
    first_bytes=(b"PAR1",),
    knows_rows=True,
    check=check_pages,
    spark=SparkFormat("parquet", {}),
)
_JSON_LINES: Final = Format(
    name="JSON lines",
    extensions=(".jsonl", ".ndjson"),
    read=_read_json_lines,
    write=_write_json_lines,
    first_text=("{",),
    compressible=True,
    spark=SparkFormat("json", {}),
)
_ARROW: Final = Format(
    name="Arrow IPC",
    extensions=(".arrow", ".ipc", ".feather"),
    read=_read_arrow,
    write=_write_arrow,
    first_bytes=(b"ARROW1", _STREAM),
    knows_rows=True,
)

FORMATS: tuple[Format, ...] = (_CSV, _TSV, _PARQUET, _JSON_LINES, _ARROW)
# The format of text that is not recognised as any other.
_OTHER_TEXT: Final = _CSV
# The format that Spark reads and writes if a folder name has no extension.
_SPARK_DEFAULT: Final = _PARQUET


def extensions() -> list[str]:
    """Return the extensions of all formats, without those of compressions."""
    return [extension for one in FORMATS for extension in one.extensions]


def split_extension(path: PurePath) -> tuple[Format | None, Compression]:
    """Return the format (None if the extension is not known) and the compression that a file name says.

    >>> found, compression = split_extension(PurePath("votes.jsonl.gz"))
    >>> found.name, compression
    ('JSON lines', 'gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression: Compression = "uncompressed"
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        compression = _COMPRESSIONS[suffixes.pop()]
    meant = (one for one in FORMATS if suffixes and suffixes[-1] in one.extensions)
    return next(meant, None), compression


def format_of(content: Content) -> Format:
    """Return the format of a file: by its extension if that is known, else by its first bytes or first line.

    Raises:
        DataError: The file is a JSON array, or neither a known binary format nor text in UTF-8 that unpacks.
    """
    if isinstance(content, str):
        said, _ = split_extension(Path(content))
        if said is not None:
            return said
    head = head_of(content, _HEAD)
    for one in FORMATS:
        if head.startswith(one.first_bytes):
            return one
    name = content if isinstance(content, str) else "The input"
    try:
        start = first_text(content).lstrip()
    except UnsoundError as problem:
        raise DataError(f"{name} is neither text nor a table that we know: {problem}.") from problem
    for one in FORMATS:
        if start.startswith(one.first_text):
            return one
    if start.startswith("["):
        raise DataError(f"{name} is a JSON array; write one object a line instead (JSON lines).")
    return _OTHER_TEXT


def spark_format_of(path: str) -> tuple[Format, SparkFormat]:
    """Return the format of a file or folder in a cluster, by its extension alone, and how Spark reads and writes it.

    Raises:
        CallError: Spark cannot read the format.
    """
    found = split_extension(PurePosixPath(path.rstrip("/")))[0] or _SPARK_DEFAULT
    if found.spark is None:
        known = [one.name for one in FORMATS if one.spark is not None and one is not _SPARK_DEFAULT]
        raise CallError(f"{path}: Spark reads and writes {', '.join([_SPARK_DEFAULT.name, *known])}.")
    return found, found.spark
