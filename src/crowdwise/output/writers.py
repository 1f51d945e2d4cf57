"""`WRITERS`: how each format is written, to a file or a cloud storage; a format without a row is only read."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

import polars as pl

from ..addresses import WEB, scheme_of, shown_address
from ..errors import CallError, DataError
from ..sources.cloud import FILE_COLUMN, reason_of, require_cloud, storage_options
from ..sources.formats import ARROW, CSV, EXCEL, JSON_LINES, PARQUET, TSV, Format, split_extension
from ..sources.paths import name_of
from ..sources.unpacking import Compression
from . import workbooks


@dataclass(frozen=True, eq=False)
class Writer:
    """How a format is written.

    Attributes:
        write: Takes a table, an open binary file and a compression.
        takes_address: Whether `write` also takes an address in place of the file, with `storage_options`.
        takes_bom: Whether `write` takes `include_bom`: to begin with the byte-order mark, by which Excel recognises
            UTF-8.
        write_sheets: Takes tables by the names of their sheets, and an open binary file; None if a file of this format
            has one table.
    """

    write: Callable[..., None]
    takes_address: bool = False
    takes_bom: bool = False
    write_sheets: Callable[..., None] | None = None


def _write_csv(table: pl.LazyFrame, to: Any, compression: Compression, separator: str = ",", **options: Any) -> None:
    lists = [name for name, dtype in table.collect_schema().items() if isinstance(dtype, pl.List)]
    table = table.with_columns(pl.col(name).map_elements(workbooks.as_json, pl.String) for name in lists)
    table.sink_csv(to, separator=separator, compression=compression, check_extension=False, **options)


def _write_json_lines(table: pl.LazyFrame, to: Any, compression: Compression, **options: Any) -> None:
    table.sink_ndjson(to, compression=compression, check_extension=False, **options)


WRITERS: dict[Format, Writer] = {
    CSV: Writer(_write_csv, takes_address=True, takes_bom=True),
    TSV: Writer(partial(_write_csv, separator="\t"), takes_address=True, takes_bom=True),
    PARQUET: Writer(lambda table, to, _, **options: table.sink_parquet(to, **options), takes_address=True),
    JSON_LINES: Writer(_write_json_lines, takes_address=True),
    ARROW: Writer(lambda table, to, _, **options: table.sink_ipc(to, **options), takes_address=True),
    EXCEL: Writer(workbooks.write_table, write_sheets=workbooks.write_sheets),
}


def format_to_write(path: str | os.PathLike[str]) -> tuple[Format, Compression]:
    """Return the format and the compression that a path says. Raises `CallError` if it says no format to write."""
    file_format, compression = split_extension(PurePath(path))
    packed = compression != "uncompressed"
    if file_format not in WRITERS or (packed and not file_format.compressible):
        known = ", ".join(extension for known in WRITERS for extension in known.extensions)
        raise CallError(
            f"{name_of(path)} does not say a format to write: end it in {known}; "
            "text may be compressed, as in .csv.gz or .jsonl.zst."
        )
    return file_format, compression


def has_sheets(path: str | os.PathLike[str]) -> bool:
    """Return whether a file of this name can hold several tables."""
    file_format, _ = split_extension(PurePath(path))
    return file_format in WRITERS and WRITERS[file_format].write_sheets is not None


def require_writable(address: str, file_format: Format) -> None:
    """Raise `CallError` if a file of this format cannot be written to an address."""
    require_cloud(address)
    if scheme_of(address) in WEB:
        raise CallError(f"{shown_address(address)}: we write to s3://, gs://, az:// and the like, not to the web.")
    if not WRITERS[file_format].takes_address:
        raise CallError(f"{shown_address(address)}: files of {file_format.name} are not written to a cloud storage.")


def send(
    table: pl.LazyFrame, address: str, file_format: Format, compression: Compression, storage: Mapping[str, Any]
) -> None:
    """Write a table to an address. Raises `DataError` if that fails."""
    require_writable(address, file_format)
    try:
        WRITERS[file_format].write(table, address, compression, storage_options=storage_options(storage))
    except (pl.exceptions.PolarsError, OSError, ValueError) as problem:
        if isinstance(problem, CallError):
            raise
        raise DataError(f"{shown_address(address)} could not be written: {reason_of(problem, address)}.") from None


def send_file(content: bytes, address: str, storage: Mapping[str, Any]) -> None:
    """Write a file that is no table, such as a state, to an address: as the only cell of a Parquet file.

    polars, which speaks to the storages, writes tables only. `sources.cloud.fetched_bytes` takes it out again.
    """
    send(pl.LazyFrame({FILE_COLUMN: [content]}), address, PARQUET, "uncompressed", storage)
