"""Which extension means which format."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Final, Literal

Compression = Literal["uncompressed", "gzip", "zstd"]

FORMATS: Final[Mapping[str, str]] = {
    ".csv": "CSV",
    ".txt": "CSV",
    ".tsv": "TSV",
    ".tab": "TSV",
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".arrow": "Arrow IPC",
    ".ipc": "Arrow IPC",
    ".feather": "Arrow IPC",
}
_COMPRESSIONS: Final[Mapping[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}


def split_extension(path: PurePath) -> tuple[str | None, Compression]:
    """The format (None if the extension says none) and the compression of a file.

    >>> split_extension(PurePath("votes.jsonl.gz"))
    ('JSON lines', 'gzip')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression: Compression = "uncompressed"
    if suffixes and suffixes[-1] in _COMPRESSIONS:
        compression = _COMPRESSIONS[suffixes.pop()]
    return (FORMATS.get(suffixes[-1]) if suffixes else None), compression
