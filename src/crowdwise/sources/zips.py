"""The files in a zip, read into memory, never to the disk by the names inside it."""

import io
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Final

from ..errors import DataError
from ..system import available_memory, first_line, show_size
from .unpacking import Content, pieces_within

if sys.version_info >= (3, 14):  # before, the standard library unpacks no zip that is packed by zstd
    import zipfile

    from compression import zstd
else:
    from backports import zstd
    from backports.zstd import zipfile

FIRST_BYTES: Final = (b"PK\x03\x04", b"PK\x05\x06")
# The most files in a zip. Each takes some memory for its name alone.
_MOST_FILES: Final = 1_000_000
# What else the library raises for a zip that is damaged.
_OTHERS: Final = (zlib.error, EOFError, OSError, RuntimeError, ValueError, KeyError)


def names(content: Content, name: str) -> list[str]:
    """Return the names of the files in a zip, sorted; without folders, and without what macOS adds.

    Raises:
        DataError: It cannot be read, or has too many files.
    """
    with _opened(content, name) as archive:
        found = [one.filename for one in archive.infolist() if not one.is_dir()]
    if len(found) > _MOST_FILES:
        raise DataError(f"{name} has {len(found):,} files in it; at most {_MOST_FILES:,} are read.")
    if len(set(found)) < len(found):
        [(twice, _)] = Counter(found).most_common(1)
        raise DataError(f"{name} has two files {twice!r} in it.")
    return sorted(one for one in found if not one.startswith("__MACOSX/"))


def require_room(content: Content, name: str) -> None:
    """Raise `DataError` if the files in a zip, unpacked, are more than half of the free memory."""
    room = available_memory() // 2
    with _opened(content, name) as archive:
        total = sum(one.file_size for one in archive.infolist())  # what is unpacked of a file is never more than this
    if total > room:
        raise DataError(f"{name} unpacks to {show_size(total)}, more than half of the free memory: unpack it first.")


def unpacked_files(content: Content, name: str, files: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of some files in a zip, one after the other.

    Raises:
        DataError: One cannot be unpacked, or not into the memory.
    """
    with _opened(content, name) as archive:
        for file in files:
            yield _unpacked_file(archive, name, file)


def beginnings(content: Content, name: str, files: Iterable[str], size: int) -> Iterator[bytes]:
    """Yield the first bytes of some files in a zip, one after the other. Raises `DataError` if one does not unpack."""
    with _opened(content, name) as archive:
        for file in files:
            with _file(archive, archive.getinfo(file), name) as stream:
                yield stream.read(size)


def _unpacked_file(archive: zipfile.ZipFile, name: str, file: str) -> bytes:
    """Return the content of one file in a zip."""
    room = available_memory() // 4
    refusal = DataError(
        f"{file} in {name} unpacks to more than {show_size(room)}, a quarter of the free memory: unpack it first."
    )
    info = archive.getinfo(file)
    with _file(archive, info, name) as stream:
        whole = b"".join(pieces_within(stream, room, refusal))
    if zlib.crc32(whole) != info.CRC:
        raise DataError(f"{file} in {name} is damaged or cut off: its checksum is wrong.")
    return whole


@contextmanager
def _file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Iterator[IO[bytes]]:
    """Open a file in a zip."""
    if info.flag_bits & 1:
        raise DataError(f"{name} is protected by a password: unpack it first.")
    with archive.open(info) as stream:
        yield stream


@contextmanager
def _opened(content: Content, name: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip; errors of the library become `DataError`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content) if isinstance(content, bytes) else content) as archive:
            yield archive
    except DataError:
        raise
    except NotImplementedError as problem:
        raise DataError(
            f"{name} is packed in a way that Python cannot unpack ({first_line(problem)}): pack it anew."
        ) from problem
    except (zipfile.BadZipFile, zstd.ZstdError, *_OTHERS) as problem:
        raise DataError(f"{name} is a zip that does not unpack: {first_line(problem)}.") from problem
