"""The text of a file, unpacked if it is compressed, in pieces of whole lines; so any size is read in little memory."""

import codecs
import gzip
import importlib
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, TypeAlias

import numpy as np
import polars as pl

from ..system import available_memory, first_line, show_size

Compression = Literal["uncompressed", "gzip", "zstd"]
# The path of a file, or its content as bytes.
Content: TypeAlias = str | bytes

# The most bytes of a line, or of a row that a quoted field spreads over several lines. polars keeps a line whole in
# memory, several times.
LONGEST_LINE: Final = 16 * 2**20
# How many bytes are unpacked at once. This many stay in the cache of a processor while they are looked at.
_PIECE: Final = 2**18
# The first bytes of compressed files.
_FIRST_BYTES: Final[Mapping[bytes, Compression]] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ZLIB: Final = (b"x\x01", b"x\x9c", b"x\xda")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
UTF_8_MARK: Final = codecs.BOM_UTF8
# The most bytes that a zstd file may unpack to where only polars can unpack it, which does so in memory.
_MOST_IN_MEMORY: Final = 2**28
# The most bytes that a compressed block of zstd unpacks to.
_ZSTD_BLOCK: Final = 2**17


class UnsoundError(Exception):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


@dataclass(frozen=True)
class Piece:
    """Some whole lines of a text.

    Attributes:
        text: The lines. The last one ends with a line feed too, even where the file does not.
        lines: The number of lines.
    """

    text: bytes
    lines: int


def compression_of(content: Content) -> Compression:
    """Return how a file is compressed, by its first bytes, whatever its name says."""
    head = head_of(content, 4)
    return next((known for start, known in _FIRST_BYTES.items() if head.startswith(start)), "uncompressed")


def head_of(content: Content, size: int) -> bytes:
    """Return the first bytes of a file, as they are stored."""
    if isinstance(content, bytes):
        return content[:size]
    with Path(content).open("rb") as file:
        return file.read(size)


def for_polars(content: Content) -> Any:
    """Return a path or bytes in the form that the reading functions of polars take, with `glob=False`."""
    return content if isinstance(content, str) else io.BytesIO(content)


def stored_size(content: Content) -> int:
    """Return the number of bytes of a file, as they are stored."""
    return len(content) if isinstance(content, bytes) else Path(content).stat().st_size


def in_utf_8(content: Content, encoding: str) -> bytes:
    """Return a text in UTF-8 that is stored in another encoding, unpacked if it is compressed.

    Raises:
        UnsoundError: It is not in this encoding, or does not unpack.
    """
    room = available_memory() // 4
    refusal = UnsoundError(f"it has more than {show_size(room)}, a quarter of the free memory; save it in UTF-8")
    with unpacked(content) as stream:
        stored = b"".join(pieces_within(stream, room, refusal))
    try:
        return stored.decode(encoding).encode()
    except UnicodeError as problem:
        raise UnsoundError(f"it is not text in {encoding} ({first_line(problem)})") from problem


def is_utf_8_text(content: Content) -> bool:
    """Return whether a file is text in UTF-8; it may be compressed. What does not unpack is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _unpack(content):
            if "\0" in decoder.decode(piece):
                return False
        decoder.decode(b"", final=True)
    except (UnsoundError, UnicodeError):
        return False
    return True


def first_text(content: Content) -> str:
    """Return the beginning of a text, unpacked: some whole lines, or what there is of a very long one.

    Raises `UnsoundError` as `whole_lines` does.
    """
    piece = next(_unpack(content), b"")
    piece = piece[: piece.rfind(b"\n") + 1] or piece
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(piece)  # without a character that is cut at the end
    except UnicodeDecodeError:
        text = ""
    if not text or "\0" in text:
        _require_utf_8(piece, 0)
    return text.removeprefix("\ufeff")


def pieces_within(stream: IO[bytes], room: int, refusal: Exception) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces; raise `refusal` as soon as there are more than `room`.

    So a decompression bomb, a few bytes that unpack to gigabytes, is refused before it fills the memory.
    """
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > room:
            raise refusal
        yield piece


def whole_lines(content: Content, change: Callable[[bytes], bytes] | None = None) -> Iterator[Piece]:
    """Yield a text in pieces of whole lines, unpacked.

    Args:
        content: The file.
        change: Takes each piece of the unpacked text, in order, and returns what to put in its place.

    Raises:
        UnsoundError: The text is not in UTF-8, has a NUL byte or a line that is too long, or does not unpack.
    """
    lines = 0
    unpacked = _unpack(content)
    for text in _cut_after_lines(unpacked if change is None else map(change, unpacked)):
        piece = Piece(text, int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))))
        if not text.isascii() or b"\0" in text:
            _require_utf_8(text, lines)
        yield piece
        lines += piece.lines


def _cut_after_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Move the beginning of a line at the end of each piece into the next piece."""
    begun: list[bytes] = []
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            yield b"".join([*begun, piece[:end]])
            begun = []
        begun.append(piece[end:])
        if sum(map(len, begun)) > LONGEST_LINE:
            raise UnsoundError(
                f"it has a line of more than {LONGEST_LINE // 2**20} MB; a table has a line for each row"
            )
    if any(begun):
        yield b"".join([*begun, b"\n"])


def _require_utf_8(text: bytes, lines_before: int) -> None:
    """Raise `UnsoundError` if a piece of text is not in UTF-8 or has a NUL byte."""
    if lines_before == 0 and text.startswith(_UTF_16):
        raise UnsoundError("it is text in UTF-16: give encoding=utf-16 (--encoding utf-16), or save it in UTF-8")
    at, said = text.find(b"\0"), "a NUL byte, which no text has"
    try:
        text.decode()
    except UnicodeDecodeError as problem:
        if at < 0 or problem.start < at:
            at, said = problem.start, f"the byte 0x{text[problem.start]:02X}, which is not UTF-8"
    if at >= 0:
        line = lines_before + text.count(b"\n", 0, at) + 1
        instead = "save the file as text in UTF-8, or say how it is stored, as in encoding=cp1252 (--encoding cp1252)"
        raise UnsoundError(f"line {line:,} has {said}; {instead}")


def _unpack(content: Content) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked, in pieces. Raises `UnsoundError` if they do not unpack."""
    if head_of(content, 2) in _ZLIB:
        raise UnsoundError("it is compressed by zlib; compress it by gzip or zstd, or not at all")
    with unpacked(content) as stream:
        yield from iter(lambda: stream.read(_PIECE), b"")


@contextmanager
def unpacked(content: Content) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unpacked if they are compressed.

    Errors of the libraries that unpack become `UnsoundError`, while the file is open.
    """
    compression = compression_of(content)
    with io.BytesIO(content) if isinstance(content, bytes) else Path(content).open("rb") as stored:
        if compression == "uncompressed":
            yield stored
            return
        try:
            opened: Any = gzip.GzipFile(fileobj=stored) if compression == "gzip" else _open_zstd(stored)
            yield opened
        except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError) as problem:
            raise UnsoundError(f"its {compression} data are damaged or cut off ({first_line(problem)})") from problem


def _open_zstd(stored: BinaryIO) -> Any:
    """Return a file to read the unpacked bytes from.

    Python has zstd since 3.14, and pyarrow, which is in some extras, has it too. Else there is only polars, which
    unpacks to memory; so the file must be small.
    """
    try:
        return importlib.import_module("compression.zstd").ZstdFile(stored)
    except ImportError:
        pass
    try:
        arrow = importlib.import_module("pyarrow")
        return arrow.CompressedInputStream(arrow.PythonFile(stored, mode="r"), "zstd")
    except ImportError:
        pass
    if _most_unpacked(stored) > _MOST_IN_MEMORY:
        raise UnsoundError(
            f"it may unpack to more than {_MOST_IN_MEMORY // 2**20} MB, and nothing here unpacks zstd step by step; "
            "unpack it first (zstd -d), or pip install pyarrow"
        )
    # As CSV whose rows end with NUL, a text is one row. A text with the delimiter in it has several columns.
    table = pl.read_csv(
        stored.read(), has_header=False, separator="\1", eol_char="\0", quote_char=None, infer_schema=False
    )
    return io.BytesIO("\0".join("\1".join(cell or "" for cell in row) for row in table.iter_rows()).encode())


def _most_unpacked(stored: BinaryIO) -> int:
    """Return the most bytes that a zstd file can unpack to, by the headers of its blocks; the file is then rewound."""
    total = 0
    while len(start := stored.read(4)) == 4:
        if start[1:] == b"\x2a\x4d\x18":  # a frame to skip
            stored.seek(int.from_bytes(stored.read(4), "little"), io.SEEK_CUR)
            continue
        descriptor = int.from_bytes(stored.read(1), "little")
        single = descriptor >> 5 & 1
        stored.seek((not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6], io.SEEK_CUR)
        last = False
        while not last and len(header := stored.read(3)) == 3:
            number = int.from_bytes(header, "little")
            last, kind, size = bool(number & 1), number >> 1 & 3, number >> 3
            total += size if kind < 2 else _ZSTD_BLOCK
            stored.seek(1 if kind == 1 else size, io.SEEK_CUR)
        stored.seek(4 * (descriptor >> 2 & 1), io.SEEK_CUR)
    stored.seek(0)
    return total
