"""The text of a file, unpacked if it is compressed, in pieces of whole lines; so any size is read in little memory."""

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

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


class UnsoundError(Exception):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


class Piece(NamedTuple):
    """Some whole lines of a text, and how many. The last ends with a line feed too, even where the file does not."""

    text: bytes
    lines: int


def compression_of(start: bytes) -> Compression | None:
    """Return how a file with these first bytes is compressed; None if it is not. Raises `UnsoundError` if by zlib."""
    if start[:2] in _ZLIB:
        raise UnsoundError("it is compressed by zlib; compress it by gzip or zstd, or not at all")
    return next((known for first, known in _FIRST_BYTES.items() if start.startswith(first)), None)


def opened(content: Content) -> IO[bytes]:
    """Open a file to read its bytes, as they are stored."""
    return io.BytesIO(content) if isinstance(content, bytes) else Path(content).open("rb")


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


def whole_lines(content: Content) -> Iterator[Piece]:
    """Yield a text in pieces of whole lines, unpacked.

    Raises:
        UnsoundError: The text is not in UTF-8, has a NUL byte or a line that is too long, or does not unpack.
    """
    lines = 0
    for text in _cut_after_lines(_unpack(content)):
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
    with unpacked(content) as stream:
        yield from iter(lambda: stream.read(_PIECE), b"")


@contextmanager
def unpacked(content: Content) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, unpacked if they are compressed: by its first bytes, whatever its name says.

    Errors of the libraries that unpack become `UnsoundError`, while the file is open.
    """
    with opened(content) as stored:
        compression = compression_of(stored.read(4))
        stored.seek(0)
        if compression is None:
            yield stored
            return
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=stored) if compression == "gzip" else zstd.ZstdFile(stored))
        except (OSError, EOFError, zlib.error, zstd.ZstdError) as problem:
            raise UnsoundError(f"its {compression} data are damaged or cut off ({first_line(problem)})") from problem
