"""The files in a zip, read into memory, never to the disk by the names inside it."""

import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Final

from ..errors import DataError
from ..system import available_memory, first_line, show_size
from .unpacking import Content, opened, pieces_within

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
        files = [info.filename for info in archive.infolist() if not info.is_dir()]
    if len(files) > _MOST_FILES:
        raise DataError(f"{name} has {len(files):,} files in it; at most {_MOST_FILES:,} are read.")
    if len(set(files)) < len(files):
        [(twice, _)] = Counter(files).most_common(1)
        raise DataError(f"{name} has two files {twice!r} in it.")
    return sorted(file for file in files if not file.startswith("__MACOSX/"))


def require_room(content: Content, name: str) -> None:
    """Raise `DataError` if the files in a zip, unpacked, are more than half of the free memory."""
    room = available_memory() // 2
    with _opened(content, name) as archive:
        total = sum(info.file_size for info in archive.infolist())  # what is unpacked of a file is never more than this
    if total > room:
        raise DataError(f"{name} unpacks to {show_size(total)}, more than half of the free memory: unpack it first.")


def unpacked_files(content: Content, name: str, files: Iterable[str]) -> Iterator[bytes]:
    """Yield the contents of some files in a zip, one after the other.

    Raises:
        DataError: One cannot be unpacked, or not into the memory.
    """
    with _opened(content, name) as archive:
        for file in files:
            room = available_memory() // 4
            most = f"{show_size(room)}, a quarter of the free memory"
            refusal = DataError(f"{file} in {name} unpacks to more than {most}: unpack it first.")
            with _file(archive, file, name) as stream:
                whole = b"".join(pieces_within(stream, room, refusal))
            if zlib.crc32(whole) != archive.getinfo(file).CRC:
                raise DataError(f"{file} in {name} is damaged or cut off: its checksum is wrong.")
            yield whole


def beginnings(content: Content, name: str, files: Iterable[str], size: int) -> Iterator[bytes]:
    """Yield the first bytes of some files in a zip, one after the other. Raises `DataError` if one does not unpack."""
    with _opened(content, name) as archive:
        for file in files:
            with _file(archive, file, name) as stream:
                yield stream.read(size)


def _file(archive: zipfile.ZipFile, file: str, name: str) -> IO[bytes]:
    if archive.getinfo(file).flag_bits & 1:
        raise DataError(f"{name} is protected by a password: unpack it first.")
    return archive.open(file)


@contextmanager
def _opened(content: Content, name: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip; errors of the library become `DataError`."""
    try:
        with opened(content) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except DataError:
        raise
    except NotImplementedError as problem:
        raise DataError(
            f"{name} is packed in a way that Python cannot unpack ({first_line(problem)}): pack it anew."
        ) from problem
    except (zipfile.BadZipFile, zstd.ZstdError, *_OTHERS) as problem:
        raise DataError(f"{name} is a zip that does not unpack: {first_line(problem)}.") from problem
