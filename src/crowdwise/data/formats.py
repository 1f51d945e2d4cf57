"""The supported file formats: how each is recognised, read and written, by polars and by Spark.

To add a format, add a row to `FORMATS` and write the functions that the row names. No other code depends on the
format of a file.
"""

import glob
import io
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Final, Literal, TypeAlias

import polars as pl

from ..errors import CallError, DataError
from .frames import first_line
from .parquet_pages import check_pages

Compression = Literal["uncompressed", "gzip", "zstd"]
# The path of a file, or its content as bytes.
Content: TypeAlias = str | bytes

_COMPRESSIONS: Final[Mapping[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}
# The first bytes of an Arrow IPC stream. (An Arrow IPC file starts with ARROW1.)
_STREAM: Final = b"\xff\xff\xff\xff"
# The number of first bytes that are compared with `Format.first_bytes`.
_HEAD: Final = 8
_DELIMITERS: Final = ",\t;|"


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
        read: Takes a path or bytes and returns the table, which is read only when it is collected.
        write: Takes a table, a path and a compression, and writes the file. The path need not have the extension, nor
            be UTF-8, as polars wants it.
        first_bytes: First bytes by which a file is recognised if it has no known extension.
        first_text: Starts of the first line (after spaces) by which a text file is recognised if it has no known
            extension. The file may be compressed.
        compressible: Whether files may be compressed with gzip or zstd.
        is_text: Whether values have no types, so that numbers are read as text and rows without any value are empty
            lines.
        knows_rows: Whether the file stores its number of rows.
        row_is_line: Whether a row is a line of text, so that the number of rows can be estimated from the first lines.
        refuse_mixed: Takes a path or bytes, a column and the name of the file, and raises `DataError` if the column has
            values of several types, which polars would turn into text without a message. None if the format allows
            only one type per column.
        check: Takes a path or bytes, and the columns that will be read, and returns what is damaged if reading them
            would end the program, else an empty text. None if that cannot be.
        spark: How Spark reads and writes the format; None if Spark cannot.
        read_as_name: The name of the format in the message about a file that cannot be read; empty if it is `name`.
    """

    name: str
    extensions: tuple[str, ...]
    read: Callable[[Content], pl.LazyFrame]
    write: Callable[[pl.LazyFrame, Path, Compression], None]
    first_bytes: tuple[bytes, ...] = ()
    first_text: tuple[str, ...] = ()
    compressible: bool = False
    is_text: bool = False
    knows_rows: bool = False
    row_is_line: bool = False
    refuse_mixed: Callable[[Content, str, str], None] | None = None
    check: Callable[[Content, Collection[str]], str] | None = None
    spark: SparkFormat | None = None
    read_as_name: str = ""

    @property
    def read_as(self) -> str:
        """The name of the format in the message about a file that cannot be read."""
        return self.read_as_name or self.name


def for_polars(content: Content) -> Any:
    """Return a path or bytes in the form that the reading functions of polars take, with `glob=False`."""
    return content if isinstance(content, str) else io.BytesIO(content)


def as_pattern(content: Content) -> Any:
    """Return the same for `scan_ndjson` and `scan_lines`, which treat every path as a pattern and have no `glob=False`.

    The file m[1].jsonl is meant as that file, never as m1.jsonl.
    """
    return glob.escape(content) if isinstance(content, str) else io.BytesIO(content)


def lines_of(content: Content) -> pl.LazyFrame:
    """Return the lines of a text, compressed or not, as a table with one column."""
    return pl.scan_lines(as_pattern(content))


def _first_line_of(content: Content) -> str:
    """Return the first line of a text, compressed or not. Raises `DataError` if it is not text in UTF-8."""
    try:
        lines = lines_of(content).head(1).collect().to_series()
    except (pl.exceptions.PolarsError, OSError) as problem:
        name = content if isinstance(content, str) else "Standard input"
        raise DataError(
            f"{name} is neither text in UTF-8 nor a table that we know: {first_line(problem)}."
        ) from problem
    return str(lines[0]) if len(lines) else ""


def _head(content: Content) -> bytes:
    """Return the first bytes of a file."""
    if isinstance(content, bytes):
        return content[:_HEAD]
    with Path(content).open("rb") as file:
        return file.read(_HEAD)


def _read_csv(content: Content) -> pl.LazyFrame:
    """Read CSV with the delimiter that is most frequent in the first line.

    All columns are read as text: if polars guessed the types, the id 007 would become 7.
    """
    header = _first_line_of(content)
    delimiter = max(_DELIMITERS, key=header.count)
    return pl.scan_csv(for_polars(content), separator=delimiter, infer_schema=False, glob=False)


def _write_csv(table: pl.LazyFrame, path: Path, compression: Compression, separator: str = ",") -> None:
    with path.open("wb") as file:
        table.sink_csv(file, separator=separator, compression=compression, check_extension=False)


def _read_parquet(content: Content) -> pl.LazyFrame:
    return pl.scan_parquet(for_polars(content), glob=False)


def _write_parquet(table: pl.LazyFrame, path: Path, _: Compression) -> None:
    with path.open("wb") as file:
        table.sink_parquet(file)


def _read_json_lines(content: Content) -> pl.LazyFrame:
    return pl.scan_ndjson(as_pattern(content), infer_schema_length=None)


def _write_json_lines(table: pl.LazyFrame, path: Path, compression: Compression) -> None:
    with path.open("wb") as file:
        table.sink_ndjson(file, compression=compression, check_extension=False)


def _refuse_mixed_json(content: Content, column: str, name: str) -> None:
    """Raise `DataError` if a JSON field is text in one line and another type in another line."""
    # To save time, only lines in which the value does not seem to start with a quote are parsed.
    bare = rf'"{column}"\s*:\s*[^"\sn]'
    numbered = lines_of(content).with_row_index("row", 1)
    for lines in numbered.filter(pl.nth(1).str.contains(bare)).collect_batches(maintain_order=True):
        for row, line in lines.iter_rows():
            value = json.loads(line).get(column)
            if value is not None and not isinstance(value, str):
                raise DataError(
                    f"{name} has mixed types in {column!r}: line {row} has {value!r}, which is no text, and other "
                    "lines have text. Give the field one type."
                )


def _read_arrow(content: Content) -> pl.LazyFrame:
    """Read an Arrow file when it is needed. An Arrow stream has no index, so it is read whole at once."""
    if _head(content).startswith(_STREAM):
        return pl.read_ipc_stream(for_polars(content)).lazy()
    return pl.scan_ipc(for_polars(content), glob=False)


def _write_arrow(table: pl.LazyFrame, path: Path, _: Compression) -> None:
    with path.open("wb") as file:
        table.sink_ipc(file)


_CSV: Final = Format(
    name="CSV",
    extensions=(".csv", ".txt"),
    read=_read_csv,
    write=_write_csv,
    compressible=True,
    row_is_line=True,
    is_text=True,
    spark=SparkFormat("csv", {"header": True, "sep": ","}),
)
_TSV: Final = Format(
    name="TSV",
    extensions=(".tsv", ".tab"),
    read=_read_csv,
    write=partial(_write_csv, separator="\t"),
    compressible=True,
    row_is_line=True,
    is_text=True,
    spark=SparkFormat("csv", {"header": True, "sep": "\t"}),
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
    row_is_line=True,
    refuse_mixed=_refuse_mixed_json,
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
        DataError: The file is a JSON array, or neither text in UTF-8 nor a known binary format.
    """
    if isinstance(content, str):
        said, _ = split_extension(Path(content))
        if said is not None:
            return said
    head = _head(content)
    for one in FORMATS:
        if head.startswith(one.first_bytes):
            return one
    start = _first_line_of(content).lstrip()
    for one in FORMATS:
        if start.startswith(one.first_text):
            return one
    if start.startswith("["):
        name = content if isinstance(content, str) else "The input"
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
