"""Tables in cloud storages, through polars: binary tables are scanned, text is fetched and then checked.

Text goes through memory or, for labels on disk, through the folder of the work, because it is gone over before polars
reads it (see delimited.py). polars unpacks it and splits it into lines on the way.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, Any, Final, cast

import polars as pl

from ..addresses import CLOUD, WEB, scheme_of, shown_address, without_password
from ..errors import CallError, DataError
from ..system import first_line
from .formats import ARROW, PARQUET, Format, split_extension
from .input import Input
from .table import Table

# How polars scans the formats that it reads in the cloud as they are.
_SCANS: Final[Mapping[Format, Callable[..., pl.LazyFrame]]] = {PARQUET: pl.scan_parquet, ARROW: pl.scan_ipc}
# Options that polars wants as numbers.
_NUMBERS: Final = ("max_retries", "retry_timeout_ms", "retry_init_backoff_ms", "retry_max_backoff_ms")
# About how many bytes a row has.
_ROW_BYTES: Final = 24
# The only column of a table that holds a file.
FILE_COLUMN: Final = "crowdwise_file"


def storage_options(storage: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a storage as polars takes them. Raises `CallError` if a number is none."""
    options: dict[str, Any] = {}
    for name, value in storage.items():
        try:
            options[name] = int(value) if name in _NUMBERS else str(value)
        except ValueError as problem:
            raise CallError(f"storage has {name}={value!r}, which has to be a whole number.") from problem
    return options


def format_at(address: str) -> Format | None:
    """Return the format that an address says by its extension; None if it says none."""
    path = address.partition("?")[0] if scheme_of(address) in WEB else address
    return split_extension(PurePosixPath(path))[0]


def is_scanned(address: str) -> bool:
    """Return whether polars scans what is at an address as it is, without fetching it."""
    return format_at(address) in _SCANS


def _scan(entry: Input, storage: Mapping[str, Any]) -> Table:
    """Return what is at an address, or matches a pattern, as a table that is read when it is needed."""
    with reaching(entry.address):
        lazy = _SCANS[cast(Format, format_at(entry.address))](entry.address, storage_options=storage_options(storage))
        rows = int(lazy.select(pl.len()).collect().item())
        return Table.of(lazy, rows * _ROW_BYTES, lambda: rows)


CLOUD_TABLE: Final = Format(
    name="a table in a cloud storage",
    extensions=(),
    read=_scan,
    schemes=CLOUD,
    uses=("storage",),
)


class FetchedText:
    """The text of one file in a cloud storage, to be read once: each `read` gives the next piece, however long."""

    def __init__(self, name: str, pieces: Iterator[bytes]) -> None:
        self.source_name = shown_address(name)
        self._pieces = pieces

    def read(self, size: int = -1) -> bytes:
        """Return the next piece; empty at the end."""
        return b"" if size == 0 else next(self._pieces, b"")


def fetch(address: str, storage: Mapping[str, Any]) -> Iterator[IO[bytes]]:
    """Yield the text of every file at an address, or that matches a pattern; each is to be read before the next.

    Raises:
        CallError: The address says a format that cannot be fetched, because it is not text.
        DataError: There is no such file, or it cannot be reached.
    """
    known = format_at(address)
    if known is not None and not known.compressible:
        raise CallError(
            f"{shown_address(address)}: from a cloud storage, Parquet, Arrow and text are read; fetch a file of "
            f"{known.name} first."
        )
    with reaching(address):
        lines = pl.scan_lines(address, storage_options=storage_options(storage), include_file_paths="path")
        batches = lines.collect_batches(maintain_order=True)
        parts = (
            (part["path"][0], ("\n".join(part["line"].to_list()) + "\n").encode())
            for batch in batches
            for part in batch.partition_by("path", maintain_order=True)
            if part.height
        )
        empty = True
        for name, pieces in itertools.groupby(_reached(address, parts), key=lambda part: part[0]):
            empty = False
            yield cast(IO[bytes], FetchedText(name, (text for _, text in pieces)))
        if empty:
            raise DataError(f"{shown_address(address)} is empty, or no file matches it.")


def _reached(address: str, parts: Iterator[Any]) -> Iterator[Any]:
    with reaching(address):
        yield from parts


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Turn what polars says of an address into `DataError`: a file that is missing, a server that does not answer."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, ValueError) as problem:
        if isinstance(problem, DataError | CallError):
            raise
        if isinstance(problem, FileNotFoundError) or "expanded paths were empty" in str(problem):
            raise DataError(f"There is no file {shown_address(address)}, or nobody is allowed to see it.") from None
        raise DataError(f"{shown_address(address)} cannot be read: {reason_of(problem, address)}.") from None


def reason_of(problem: Exception, address: str) -> str:
    """Return in a few words why a storage did not do what it was asked to.

    What polars names as the path is left out: it remembers storages, and names the path of an earlier call.
    """
    text = str(problem)
    if "error sending request" in text:
        return "nobody answers there"
    if isinstance(problem, PermissionError) or "lacked the necessary privileges" in text:
        return "it is not allowed; name credentials with storage (--storage), or set them in the environment"
    if "Range request not supported" in text:
        return "the server does not give parts of files; fetch the file first"
    if isinstance(problem, FileNotFoundError):
        return "there is no such bucket or container"
    said = re.sub(r" \(path: .*?\)", "", first_line(problem)).removeprefix("object-store error: ")
    return without_password(said, address)[:200].rstrip(".")


def fetched_bytes(address: str, storage: Mapping[str, Any]) -> bytes:
    """Return what `output.writers.send_file` wrote to an address. Raises `DataError` if that is not there."""
    require_cloud(address)
    with reaching(address):
        return unwrapped(pl.scan_parquet(address, storage_options=storage_options(storage)).collect(), address)


def unwrapped(table: pl.DataFrame, name: str) -> bytes:
    """Return the only cell of what `output.writers.send_file` wrote. Raises `DataError` if it is another table."""
    if table.columns != [FILE_COLUMN] or table.height != 1 or table.dtypes != [pl.Binary]:
        raise DataError(f"{shown_address(name)} holds a table, and no file that crowdwise wrote to a cloud storage.")
    return bytes(table.item())


def require_cloud(address: str) -> None:
    """Raise `CallError` if an address is of no cloud storage that polars knows."""
    scheme = scheme_of(address)
    if scheme not in CLOUD:
        raise CallError(
            f"{shown_address(address)}: {scheme}:// is no address that we read; there are postgresql://, s3://, gs://, "
            "az://, abfss://, hf://, http:// and https://."
        )
