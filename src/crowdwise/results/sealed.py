"""Arrow files of one row with a checksum, which is checked before anything else is read from them."""

import hashlib
import os
import stat
import sys
from io import BytesIO
from pathlib import Path
from typing import Final

import polars as pl

from ..errors import DataError, require_no_address
from ..system import first_line

_NO_DIGEST: Final = b"0" * 64
# The version of crowdwise; not by an import, because the package itself imports methods, which are above this layer.
CROWDWISE: Final[str] = sys.modules[__name__.partition(".")[0]].__version__


def sealed(row: pl.DataFrame, kind: str) -> bytes:
    """Return the bytes of a file of one row, with the column `checksum`; `kind` is a word for what is in it."""
    mark = _mark(kind)
    buffer = BytesIO()
    with_checksum = row.with_columns(pl.lit(mark.decode() + _NO_DIGEST.decode()).alias("checksum"))
    with_checksum.write_ipc(buffer, compression="uncompressed")  # so that the checksum is in it as it is written
    content = buffer.getvalue()
    return content.replace(mark + _NO_DIGEST, mark + _digest(content), 1)


def unsealed(content: bytes, kind: str) -> pl.DataFrame:
    """Return the row. Raises `ValueError` unless the file is as it was written: polars may crash by a damaged one."""
    head, mark, tail = content.partition(_mark(kind))
    digest, rest = tail[: len(_NO_DIGEST)], tail[len(_NO_DIGEST) :]
    if not mark or digest != _digest(head + mark + _NO_DIGEST + rest):
        raise ValueError("damaged")
    # Not from the file itself: polars would map it into memory, and somebody may write to it.
    row = pl.read_ipc(BytesIO(content))
    if row.height != 1:
        raise ValueError("not one row")
    return row


def local_bytes(path: str | os.PathLike[str], kind: str) -> bytes:
    """Return the content of a file. Raises `DataError` if it cannot be read."""
    require_no_address(path, f"A {kind}")
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise DataError(f"The {kind} {path} is no file, but a folder, a pipe or a device.")
        return Path(path).read_bytes()
    except FileNotFoundError as problem:
        raise DataError(f"There is no {kind} {path}.") from problem
    except (OSError, ValueError) as problem:
        if isinstance(problem, DataError):
            raise
        raise DataError(f"The {kind} {path} cannot be read: {first_line(problem)}.") from problem


def _mark(kind: str) -> bytes:
    """What stands before the checksum, which has zeros in its place while it is computed."""
    return f"crowdwise {kind}, SHA-256 ".encode()


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
