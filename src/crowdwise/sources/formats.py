"""`FORMATS`: the formats of tables, in files, databases and memory, and how each is recognised and read.

To add a format, add a row to `FORMATS` and write the function that it names.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath, PurePosixPath
from typing import Any, Final

import polars as pl

from ..addresses import scheme_of
from ..crowd.read_options import ReadOptions, option_of
from ..errors import CallError, DataError
from . import delimited, frames, json_objects, json_rows, matrix_files, postgres, spreadsheets
from .class_names import features_in
from .duckdb_files import open_duckdb
from .input import IN_MEMORY, Input, reading
from .parquet_pages import check_pages
from .sqlite_files import open_sqlite
from .table import Table, each_batch
from .unpacking import Compression, Content, UnsoundError, first_text, for_polars, stored_size

_COMPRESSIONS: Final[Mapping[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}
# The first bytes of an Arrow IPC stream. (An Arrow IPC file starts with ARROW1.)
_STREAM: Final = b"\xff\xff\xff\xff"
# A first line of several numbers with spaces between them.
_NUMBERS: Final = re.compile(r"[ \t]*[-+]?\d[\d.eE+-]*([ \t]+[-+]?\d[\d.eE+-]*)+[ \t]*\r*(\n|\Z)")
_HAS_VALUE: Final = ~pl.all_horizontal(pl.all().is_null())
# polars plans expressions of all columns in time that grows with the square of their number.
_FEW_COLUMNS: Final = 20
# How many rows of a table are objects of Python at once.
_ROWS: Final = 10_000
# The options that only some formats use, and what each is for.
_FOR: Final = {
    "query": "a database",
    "table": "a database",
    "sheet": "a workbook of Excel",
    "transposed": "a JSON object of objects, or a matrix",
    "encoding": "text",
}


@dataclass(frozen=True, eq=False)
class SparkFormat:
    """How Spark reads and writes a format: Spark's name of it, and the options for reading and writing."""

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Format:
    """One format of tables.

    Attributes:
        name: The usual name of the format.
        extensions: The file name extensions of the format, in lower case; the first is the usual one.
        read: Takes an `Input` and the options that `uses` names, and returns the table, which is read only when it is
            collected. Raises `UnsoundError` if it cannot be read.
        by_content: Whether an input is of this format, by what it begins with, if its extension does not say it.
        also: Other formats whose extensions files of this format often have.
        schemes: For addresses: their schemes.
        uses: The options that `read` takes, by name.
        compressible: Whether this is text, whose files may be compressed with gzip or zstd.
        is_text: Whether values have no types, so that numbers are read as text and rows without any value are empty
            lines.
        check: Takes a path or bytes, and the columns that will be read, and returns what is damaged if reading them
            would end the program, else an empty text. None if that cannot be.
        spark: How Spark reads and writes the format; None if Spark cannot.
        read_as: The name of the format in the message about an input that cannot be read; empty if it is `name`.
    """

    name: str
    extensions: tuple[str, ...]
    read: Callable[..., pl.LazyFrame | Table]
    by_content: Callable[[Input], bool] = lambda _: False
    also: tuple["Format", ...] = ()
    schemes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    compressible: bool = False
    is_text: bool = False
    check: Callable[[Content, Collection[str]], str] | None = None
    spark: SparkFormat | None = None
    read_as: str = ""

    def recognises(self, entry: Input) -> bool:
        """Return whether an input is of this format: by its extension if that is known, else by its beginning."""
        if entry.address:
            return scheme_of(entry.address) in self.schemes
        named = split_extension(entry.path)[0] if isinstance(entry.content, str) else None
        return named is self or ((named is None or named in self.also) and self.by_content(entry))

    def open(self, entry: Input, options: ReadOptions) -> Table:
        """Return an input as a table.

        Raises:
            CallError: An option is given that this format has no use for.
            UnsoundError: It cannot be read.
        """
        for name in options.given(_FOR):
            if name not in self.uses and not (name == "encoding" and self.compressible):
                raise CallError(f"{name} ({option_of(name)}) is for {_FOR[name]}, which this is not.")
        opened = self.read(entry, **{name: getattr(options, name) for name in self.uses})
        table = opened if isinstance(opened, Table) else Table.of(opened, stored_size(entry.content))
        return replace(table, pick=partial(_picked_rows, table.pick)) if self.is_text else table


def _picked_rows(pick: Callable[[Mapping[str, str]], pl.LazyFrame], columns: Mapping[str, str]) -> pl.LazyFrame:
    """Return the picked columns of text without rows that have no value, which are empty lines."""
    lazy = pick(columns)
    if len(columns) > _FEW_COLUMNS:
        return each_batch(lazy, lambda batch: batch.filter(_HAS_VALUE), lazy.collect_schema())
    return lazy.filter(_HAS_VALUE)


def _read_csv(file: Input) -> Table:
    """Read CSV with the delimiter that gives the most columns.

    All columns are read as text: if polars guessed the types, the id 007 would become 7. They are numbered, because
    names may repeat.
    """
    csv = delimited.inspect(file.content)
    lazy = pl.scan_csv(
        for_polars(file.content),
        separator=csv.delimiter,
        quote_char='"' if csv.quoted else None,
        new_columns=[str(number) for number in range(len(csv.names))],
        infer_schema=False,
        glob=False,
    )
    numbers = {name: number for number, name in reversed(list(enumerate(csv.names)))}

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        return lazy.select(pl.col(str(numbers[column])).alias(role) for role, column in columns.items())

    spark_options = {"sep": csv.delimiter, "multiLine": csv.multiline}
    return Table(csv.names, pick, lambda: csv.rows, csv.size, spark_options)


def _read_parquet(file: Input) -> Table:
    lazy = pl.scan_parquet(for_polars(file.content), glob=False)
    features = features_in(pl.read_parquet_metadata(for_polars(file.content)))
    return Table.of(lazy, stored_size(file.content), features=features)


def _read_arrow(file: Input) -> pl.LazyFrame:
    """Read an Arrow file when it is needed. An Arrow stream has no index, so it is read whole at once."""
    if file.stored_head.startswith(_STREAM):
        return pl.read_ipc_stream(for_polars(file.content)).lazy()
    return pl.scan_ipc(for_polars(file.content), glob=False)


def _of_content(read: Callable[..., Table]) -> Callable[..., Table]:
    """Return the function that reads an `Input`, for one that reads a path or bytes."""
    return lambda file, **options: read(file.content, **options)


def _starts_with(*starts: bytes) -> Callable[[Input], bool]:
    return lambda file: file.stored_head.startswith(starts)


def _is_workbook(file: Input) -> bool:
    names = (b"[Content_Types].xml", b"xl/workbook.xml")
    return file.stored_head.startswith(b"PK\x03\x04") and any(name in file.stored_head[:4096] for name in names)


def _require_text(file: Input) -> bool:
    """Return True. Raises `DataError` if a file is no text in UTF-8."""
    try:
        first_text(file.content)
    except UnsoundError as problem:
        raise DataError(f"{file.name} is neither text nor a table that we know: {problem}.") from problem
    return True


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
    by_content=_require_text,  # any text that is of no other format
    compressible=True,
    is_text=True,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": ","}),
)
TSV: Final = replace(
    CSV,
    name="TSV",
    extensions=(".tsv", ".tab"),
    by_content=lambda _: False,
    spark=SparkFormat("csv", {**_SPARK_CSV, "sep": "\t"}),
    read_as="CSV",  # the reader finds the delimiter itself, whatever the extension says
)
PARQUET: Final = Format(
    name="Parquet",
    extensions=(".parquet", ".pq"),
    read=_read_parquet,
    by_content=_starts_with(b"PAR1"),
    check=check_pages,
    spark=SparkFormat("parquet", {}),
)
JSON_LINES: Final = Format(
    name="JSON lines",
    extensions=(".jsonl", ".ndjson"),
    read=_of_content(json_rows.open_lines),
    by_content=lambda file: file.text.startswith("{"),
    compressible=True,
    spark=SparkFormat("json", {}),
)
JSON_ARRAY: Final = Format(
    name="JSON array",
    extensions=(),
    read=_of_content(json_rows.open_array),
    by_content=lambda file: file.text.startswith("["),
    also=(JSON_LINES,),
    compressible=True,
)
JSON_OBJECT: Final = Format(
    name="JSON object of objects",
    extensions=(),
    read=_of_content(json_objects.open_object),
    by_content=lambda file: json_objects.is_object_of_objects(file.text),
    uses=("transposed",),
    compressible=True,
    is_text=True,  # keys of objects are text, whatever they stand for
)
ARROW: Final = Format(
    name="Arrow IPC",
    extensions=(".arrow", ".ipc", ".feather"),
    read=_read_arrow,
    by_content=_starts_with(b"ARROW1", _STREAM),
)
NUMPY: Final = Format(
    name="NumPy array",
    extensions=(".npy",),
    read=_of_content(matrix_files.open_array),
    by_content=_starts_with(b"\x93NUMPY"),
    uses=("missing", "transposed"),
)
TEXT_MATRIX: Final = Format(
    name="text matrix",
    extensions=(),
    read=_of_content(matrix_files.open_text),
    by_content=lambda file: _NUMBERS.match(file.text) is not None,
    also=(CSV,),
    uses=("missing", "transposed"),
    compressible=True,
)
EXCEL: Final = Format(
    name="Excel",
    extensions=(".xlsx", ".xlsm"),
    read=_of_content(spreadsheets.open_workbook),
    by_content=_is_workbook,
    uses=("sheet",),
    is_text=True,  # a cell with a number has no type that an id keeps: 7 is the float 7.0
)
SQLITE: Final = Format(
    name="SQLite",
    extensions=(".sqlite", ".sqlite3"),
    read=_of_content(open_sqlite),
    by_content=_starts_with(b"SQLite format 3\0"),
    uses=("query", "table"),
)
DUCKDB: Final = Format(
    name="DuckDB",
    extensions=(".duckdb",),
    read=_of_content(open_duckdb),
    by_content=lambda file: file.stored_head[8:12] == b"DUCK",
    uses=("query", "table"),
)
POSTGRES: Final = Format(
    name="Postgres",
    extensions=(),
    read=lambda server, query, table: postgres.open_postgres(server.address, query, table),
    schemes=("postgresql", "postgres"),
    uses=("query", "table"),
)
FRAME: Final = Format(
    name=IN_MEMORY,
    extensions=(),
    read=lambda entry: frames.frame_table(entry.frame),
    by_content=lambda entry: entry.frame is not None,
)

# The first that recognises an input is taken, so the more special ones are before others.
FORMATS: tuple[Format, ...] = (
    *(FRAME, POSTGRES, PARQUET, ARROW, NUMPY, EXCEL, SQLITE, DUCKDB),
    *(JSON_OBJECT, JSON_ARRAY, JSON_LINES, TEXT_MATRIX, TSV, CSV),
)
# The format that Spark reads and writes if a folder name has no extension.
_SPARK_DEFAULT: Final = PARQUET


def format_of(entry: Input) -> Format:
    """Return the format of an input. Raises `DataError` if it is neither a known binary format nor text."""
    return next(known for known in FORMATS if known.recognises(entry))


def is_binary(file: Input) -> bool:
    """Return whether a file is of a known binary format, by its extension or its first bytes, and no text."""
    return any(known.recognises(file) for known in FORMATS if not known.compressible)


def split_extension(path: PurePath) -> tuple[Format | None, Compression]:
    """Return the format (None if the extension is not known) and the compression that a file name says.

    >>> known, compression = split_extension(PurePath("votes.JSONL.gz"))
    >>> known.name, compression
    ('JSON lines', 'gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression: Compression = "uncompressed"
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        compression = _COMPRESSIONS[suffixes.pop()]
    return next((known for known in FORMATS if suffixes and suffixes[-1] in known.extensions), None), compression


def spark_format_of(path: str) -> tuple[Format, SparkFormat]:
    """Return the format of a file or folder in a cluster, by its extension alone, and how Spark reads and writes it.

    Raises:
        CallError: Spark cannot read the format.
    """
    file_format = split_extension(PurePosixPath(path.rstrip("/")))[0] or _SPARK_DEFAULT
    if file_format.spark is None:
        others = [known.name for known in FORMATS if known.spark is not None and known is not _SPARK_DEFAULT]
        raise CallError(f"{path}: Spark reads and writes {', '.join([_SPARK_DEFAULT.name, *others])}.")
    return file_format, file_format.spark


def rows_of(file: Input, keep: Callable[[str], bool] = lambda _: True) -> Iterator[dict[str, Any]]:
    """Yield the rows of CSV, TSV or Parquet, or the objects of JSON; for platforms, which know their columns.

    `keep` says by its name whether a column of a table is wanted; the objects of JSON have all their keys.

    Raises:
        DataError: The file cannot be read, or a name of a column repeats.
    """
    if not file.is_parquet and not file.header:
        yield from file.objects()
        return
    known = PARQUET if file.is_parquet else CSV
    with reading(file.name):
        table = known.open(file, ReadOptions())
        names = [name for name in table.names if keep(name)]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise DataError(f"{file.name} has {names.count(twice[0]):,} columns {twice[0]!r}; rename all but one.")
        damage = known.check(file.content, names) if known.check is not None else ""
        if damage:
            raise UnsoundError(damage)
        lazy = table.pick({name: name for name in names})
        for batch in lazy.collect_batches(chunk_size=_ROWS, maintain_order=True):
            yield from batch.iter_rows(named=True)
