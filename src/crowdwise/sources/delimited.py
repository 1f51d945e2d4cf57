"""Look at CSV and TSV before polars reads them: find the delimiter and the names of columns, and refuse unsound rows.

Fields are quoted as RFC 4180 has it: a field that starts with a quote ends with one, and a quote inside it is doubled.
A file in which no field starts with a quote has no quoting: quotes in it are letters like any other.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from ..numerics import Array
from ..numerics.twins import over
from . import delimited_walk as delimited
from .unpacking import LONGEST_LINE, UTF_8_MARK, Content, UnsoundError, stored_size, whole_lines

_DELIMITERS: Final = ",\t;|"
_PROBLEMS: Final[Mapping[int, str]] = {
    delimited.UNCLOSED: "the quote that opens in line {opened:,} is not closed",
    delimited.AFTER_QUOTE: "line {line:,} has text after a closing quote; a quote in a quoted field is written twice",
    delimited.QUOTE_INSIDE: "line {inside:,} has a quote in a field that does not start with one, and other fields "
    "are quoted; quote that field too, and write the quote in it twice",
    delimited.LONE_RETURN: "line {line:,} has a carriage return (CR) without a line feed (LF) after it; end lines with "
    "LF or CR LF, and quote fields with a CR in them",
    delimited.WRONG_LENGTH: "line {line:,} has {found:,} fields, and the first line has {fields:,}; quote fields with "
    "the delimiter {delimiter!r} in them",
}


@dataclass(frozen=True)
class Delimited:
    """What is known of a sound CSV or TSV file.

    Attributes:
        names: The names of its columns, which may repeat.
        delimiter: The character between fields.
        quoted: Whether any field is quoted.
        multiline: Whether any quoted field goes over several lines.
        rows: The number of rows, without the one of names and without empty lines.
        size: The number of bytes, unpacked.
    """

    names: list[str]
    delimiter: str
    quoted: bool
    multiline: bool
    rows: int
    size: int


def inspect(content: Content) -> Delimited:
    """Go over a CSV or TSV file.

    Raises:
        UnsoundError: Some row is not sound, and the message says in which line; or as `whole_lines` does.
    """
    pieces = whole_lines(content)
    empty_lines = size = 0
    for first in pieces:
        text = first.text if size else first.text.removeprefix(UTF_8_MARK)
        size += len(first.text)
        if text.strip(b"\r\n"):
            break
        empty_lines += first.lines
    else:
        raise UnsoundError("it has only empty lines")
    rows, stored = _Rows(text, empty_lines), stored_size(content)
    rows.walk_over(text, stored)
    for piece in pieces:
        size += len(piece.text)
        rows.walk_over(piece.text, max(stored, size))
    return rows.end(size)


def header(text: str) -> list[str]:
    """Return the names of the columns, given the beginning of a CSV or TSV file.

    Raises `UnsoundError` if the first row is not sound.
    """
    return _Rows(text.encode().lstrip(b"\r\n"), 0).names


class _Rows:
    """The rows of a file, over which it goes piece by piece. Raises `UnsoundError` at the first row that is wrong.

    Args:
        text: Its first piece, without empty pieces.
        empty_lines: The number of lines before that.

    Attributes:
        names: The names of the columns.
    """

    def __init__(self, text: bytes, empty_lines: int) -> None:
        self._walk = delimited.new_walk(empty_lines)
        tries = {delimiter: self._walk_over_first_row(text, delimiter) for delimiter in _DELIMITERS}
        self._delimiter = max(tries, key=lambda delimiter: tries[delimiter][0][delimited.FIELDS])
        walk, end, wrong = tries[self._delimiter]
        self._fields = int(walk[delimited.FIELDS])
        if wrong:
            self._refuse(wrong, walk)
        first_row = io.StringIO(text[:end].decode().strip("\r\n"), newline="")
        try:
            self.names = next(csv.reader(first_row, delimiter=self._delimiter, strict=True))
        except csv.Error as problem:
            raise UnsoundError(f"the names of its columns have a {problem}") from problem

    def _walk_over_first_row(self, text: bytes, delimiter: str) -> tuple[Array, int, int]:
        """Return the walk after the first row, how many bytes it has gone, and what is wrong with the row."""
        walk = self._walk.copy()
        walk_rows = over(text.find(b"\n"), delimited.walk_rows)
        wrong, end = walk_rows(text, ord(delimiter), 0, LONGEST_LINE, walk)
        return walk, end, wrong or (0 if walk[delimited.ROWS] else delimited.UNCLOSED)

    def walk_over(self, text: bytes, size: int) -> None:
        """Walk over the next piece byte by byte. `size` is the number of bytes of all pieces, as far as it is known."""
        walk = over(size, delimited.walk_rows)
        wrong, _ = walk(text, ord(self._delimiter), self._fields, LONGEST_LINE, self._walk)
        if wrong:
            self._refuse(wrong, self._walk)

    def end(self, size: int) -> Delimited:
        """Return what was found out, after the last piece. `size` is the number of bytes of all pieces."""
        if self._walk[delimited.STATE] == delimited.QUOTED:
            self._refuse(delimited.UNCLOSED, self._walk)
        quoted, multiline = (bool(self._walk[which]) for which in (delimited.IN_QUOTES, delimited.MULTILINE))
        rows = int(self._walk[delimited.ROWS]) - 1
        return Delimited(self.names, self._delimiter, quoted, multiline, rows, size)

    def _refuse(self, wrong: int, walk: Array) -> NoReturn:
        """Raise `UnsoundError` about what is wrong where the walk ended."""
        said = _PROBLEMS[wrong].format(
            line=walk[delimited.LINE],
            opened=walk[delimited.OPENED],
            inside=walk[delimited.INSIDE],
            found=walk[delimited.FIELDS],
            fields=self._fields,
            delimiter=self._delimiter,
        )
        raise UnsoundError(said)
