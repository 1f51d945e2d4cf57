"""The supported file formats: how each is recognised and read, by polars and by Spark.

To add a format, add a row to `FORMATS` and write the functions that the row names; `output.writers` says how it is
written. No other code depends on the format of a file.
"""

import glob
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final

import polars as pl

from ..crowd.opening import PLAIN, Opening
from ..errors import CallError, DataError
from . import delimited, json_arrays, json_lines, json_objects, matrix_files, spreadsheets
from .class_names import features_in
from .duckdb_files import open_duckdb
from .parquet_pages import check_pages
from .sqlite_files import open_sqlite
from .table import Table as Table
from .unpacking import Compression as Compression
from .unpacking import Content as Content
from .unpacking import UnsoundError, first_text, head_of, is_utf_8_text, stored_size, whole_lines

_COMPRESSIONS: Final[Mapping[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}
# The first bytes of an Arrow IPC stream. (An Arrow IPC file starts with ARROW1.)
_STREAM: Final = b"\xff\xff\xff\xff"
# The number of first bytes by which a file is recognised.
_HEAD: Final = 4096
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
class Format:
    """One file format.

    Attributes:
        name: The usual name of the format.
        extensions: The file name extensions of the format, in lower case; the first is the usual one.
        read: Takes a path or bytes and returns the table, which is read only when it is collected; or a `Table`, where
            the file must be looked at first. Raises `UnsoundError` if it cannot be read.
        options: The names of what `read` takes besides, by name: members of `Opening`.
        first_bytes: First bytes by which a file is recognised if it has no known extension.
        first_text: Starts of the first line (after spaces) by which a text file is recognised if it has no known
            extension. The file may be compressed.
        has_bytes: Whether the first bytes of a file are of this format, where `first_bytes` cannot say it.
        has_text: Whether the first lines of a text are of this format, where `first_text` cannot say it.
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
    read: Callable[..., pl.LazyFrame | Table]
    options: tuple[str, ...] = ()
    first_bytes: tuple[bytes, ...] = ()
    first_text: tuple[str, ...] = ()
    has_bytes: Callable[[bytes], bool] | None = None
    has_text: Callable[[str], bool] | None = None
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

    def open(self, content: Content, how: Opening = PLAIN) -> Table:
        """Return a file as a table. Raises `UnsoundError` if it cannot be read, or as polars does."""
        opened = self.read(content, **how.options(self.options, text=self.compressible))
        if isinstance(opened, Table):
            return replace(opened, has_empty_rows=self.is_text)
        lazy = opened
        size = Path(content).stat().st_size if isinstance(content, str) else len(content)

        def rows() -> int:
            return int(lazy.select(pl.len()).collect().item()) if self.knows_rows else size // _SHORT_ROW

        return Table.of(lazy, size, rows, has_empty_rows=self.is_text)

    def recognises(self, head: bytes) -> bool:
        """Return whether a file with these first bytes is of this format."""
        return head.startswith(self.first_bytes) or (self.has_bytes is not None and self.has_bytes(head))

    def recognises_text(self, start: str) -> bool:
        """Return whether a text with these first lines is of this format."""
        return start.startswith(self.first_text) or (self.has_text is not None and self.has_text(start))


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
    numbers = {name: number for number, name in reversed(list(enumerate(found.names)))}

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        return lazy.select(pl.col(str(numbers[column])).alias(role) for role, column in columns.items())

    spark_options = {"sep": found.delimiter, "multiLine": found.multiline}
    return Table(found.names, pick, lambda: found.rows, found.size, spark_options)


def _read_parquet(content: Content) -> Table:
    lazy = pl.scan_parquet(for_polars(content), glob=False)
    size = Path(content).stat().st_size if isinstance(content, str) else len(content)
    features = features_in(pl.read_parquet_metadata(for_polars(content)))
    return Table.of(lazy, size, lambda: int(lazy.select(pl.len()).collect().item()), features=features)


def _read_json_lines(content: Content) -> Table:
    found = json_lines.inspect(whole_lines(content), stored_size(content))
    # `scan_ndjson` takes every path for a pattern and has no `glob=False`; but m[1].jsonl is that file, never m1.jsonl.
    source: Any = glob.escape(content) if isinstance(content, str) else io.BytesIO(content)

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        lazy = pl.scan_ndjson(source, schema={column: found.type_of(column) for column in columns.values()})
        return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

    return Table(
        list(dict.fromkeys(found.names)),
        pick,
        lambda: found.rows,
        found.size,
        nested=partial(json_objects.nested_rows, content, whole_lines) if found.has_nested else None,
    )


def _read_arrow(content: Content) -> pl.LazyFrame:
    """Read an Arrow file when it is needed. An Arrow stream has no index, so it is read whole at once."""
    if head_of(content, _HEAD).startswith(_STREAM):
        return pl.read_ipc_stream(for_polars(content)).lazy()
    return pl.scan_ipc(for_polars(content), glob=False)


# Quotes in quoted fields are doubled, not escaped by a backslash, and spaces belong to their field.
_SPARK_CSV: Final = {
    "header": True,
    "escape": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
}
CSV: Final = Format(
    name="CSV",
    extensions=(".csv", ".txt"),
    read=_read_csv,
    compressible=True,
    is_text=True,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": ","}),
)
TSV: Final = Format(
    name="TSV",
    extensions=(".tsv", ".tab"),
    read=_read_csv,
    compressible=True,
    is_text=True,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": "\t"}),
    read_as_name="CSV",  # the reader finds the delimiter itself, whatever the extension says
)
PARQUET: Final = Format(
    name="Parquet",
    extensions=(".parquet", ".pq"),
    read=_read_parquet,
    first_bytes=(b"PAR1",),
    check=check_pages,
    spark=SparkFormat("parquet", {}),
)
JSON_LINES: Final = Format(
    name="JSON lines",
    extensions=(".jsonl", ".ndjson"),
    read=_read_json_lines,
    first_text=("{",),
    compressible=True,
    spark=SparkFormat("json", {}),
)
ARROW: Final = Format(
    name="Arrow IPC",
    extensions=(".arrow", ".ipc", ".feather"),
    read=_read_arrow,
    first_bytes=(b"ARROW1", _STREAM),
    knows_rows=True,
)

_JSON_ARRAY: Final = Format(
    name="JSON array",
    extensions=(),
    read=json_arrays.open_array,
    first_text=("[",),
    compressible=True,
)
_JSON_OBJECT: Final = Format(
    name="JSON object of objects",
    extensions=(),
    read=json_objects.open_object,
    options=("transposed",),
    has_text=json_objects.is_object_of_objects,
    compressible=True,
    is_text=True,  # keys of objects are text, whatever they stand for
)
_NUMPY: Final = Format(
    name="NumPy array",
    extensions=(".npy",),
    read=matrix_files.open_array,
    options=("missing", "transposed"),
    first_bytes=(b"\x93NUMPY",),
)
_TEXT_MATRIX: Final = Format(
    name="text matrix",
    extensions=(),
    read=matrix_files.open_text,
    options=("missing", "transposed"),
    has_text=matrix_files.is_matrix,
    compressible=True,
)
EXCEL: Final = Format(
    name="Excel",
    extensions=(".xlsx", ".xlsm"),
    read=spreadsheets.open_workbook,
    options=("sheet",),
    has_bytes=spreadsheets.is_workbook,
    is_text=True,  # a cell with a number has no type that an id keeps: 7 is the float 7.0
)
_SQLITE: Final = Format(
    name="SQLite",
    extensions=(".sqlite", ".sqlite3"),
    read=open_sqlite,
    options=("query", "table"),
    first_bytes=(b"SQLite format 3\0",),
)
_DUCKDB: Final = Format(
    name="DuckDB",
    extensions=(".duckdb",),
    read=open_duckdb,
    options=("query", "table"),
    has_bytes=lambda head: head[8:12] == b"DUCK",
)

# The first that recognises a file without a known extension is taken, so the more special ones are before others.
FORMATS: tuple[Format, ...] = (
    *(CSV, TSV, PARQUET, _JSON_OBJECT, JSON_LINES, _JSON_ARRAY, ARROW, _NUMPY, _TEXT_MATRIX, EXCEL),
    *(_SQLITE, _DUCKDB),
)
# The format of text that is not recognised as any other.
_OTHER_TEXT: Final = CSV
# Text whose extension says one format, and that often is of another.
_OFTEN_ALSO: Final[Mapping[Format, Format]] = {CSV: _TEXT_MATRIX, JSON_LINES: _JSON_ARRAY}
# The format that Spark reads and writes if a folder name has no extension.
_SPARK_DEFAULT: Final = PARQUET


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


def format_of(content: Content, name: str = "The input") -> Format:
    """Return the format of a file: by its extension if that is known, else by its first bytes or first line.

    Args:
        content: The file.
        name: What it is called in messages.

    Raises:
        DataError: The file is neither a known binary format nor text in UTF-8 that unpacks.
    """
    said = split_extension(Path(content))[0] if isinstance(content, str) else None
    if said is not None and said not in _OFTEN_ALSO:
        return said
    head = head_of(content, _HEAD)
    for one in FORMATS if said is None else ():
        if one.recognises(head):
            return one
    try:
        start = first_text(content).lstrip()
    except UnsoundError as problem:
        if said is not None:
            return said  # whose own message is better
        raise DataError(f"{name} is neither text nor a table that we know: {problem}.") from problem
    if said is not None:
        return _OFTEN_ALSO[said] if _OFTEN_ALSO[said].recognises_text(start) else said
    return next((one for one in FORMATS if one.recognises_text(start)), _OTHER_TEXT)


def is_binary(content: Content) -> bool:
    """Return whether a file is of a known binary format, by its extension or its first bytes, and no text."""
    said = split_extension(Path(content))[0] if isinstance(content, str) else None
    if said is not None:
        return not said.compressible
    head = head_of(content, _HEAD)
    return any(one.recognises(head) for one in FORMATS if not one.compressible)


def is_other_text(content: Content) -> bool:
    """Return whether a file is text in another encoding than UTF-8; a known binary format is no text."""
    said = split_extension(Path(content))[0] if isinstance(content, str) else None
    if said is not None and not said.compressible:
        return False
    head = head_of(content, _HEAD)
    return not any(one.recognises(head) for one in FORMATS) and not is_utf_8_text(content)


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
