"""Look at CSV and TSV before polars reads them: find the delimiter and the names of columns, and refuse unsound rows.

Fields are quoted as RFC 4180 has it: a field that starts with a quote ends with one, and a quote inside it is doubled.
A file in which no field starts with a quote has no quoting: quotes in it are letters like any other.
"""

import csv
import io
from codecs import BOM_UTF8
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from ..numerics import Array
from ..numerics.twins import loop, over
from .unpacking import LONGEST_LINE, Content, UnsoundError, stored_size, whole_lines

# Where in a field the walk is.
START, PLAIN, QUOTED, CLOSED, AFTER_RETURN, AFTER_EMPTY_RETURN = 0, 1, 2, 3, 4, 5
# What is wrong with a text, if anything.
FINE, UNCLOSED, AFTER_QUOTE, QUOTE_INSIDE, LONE_RETURN, WRONG_LENGTH = 0, 1, 2, 3, 4, 5
# The entries of `walk`, which a text that comes in pieces is walked with: where in a field it is; the line; the fields
# and bytes of this row before this piece; the line where the last quote opened; how many fields are quoted; the line
# of the first quote inside a field without quotes; the rows so far; how many line feeds are in quoted fields.
STATE, LINE, FIELDS, BYTES, OPENED, IN_QUOTES, INSIDE, ROWS, MULTILINE = 0, 1, 2, 3, 4, 5, 6, 7, 8

_NEWLINE, _RETURN, _QUOTE = 10, 13, 34

_DELIMITERS: Final = ",\t;|"
_PROBLEMS: Final[Mapping[int, str]] = {
    UNCLOSED: "the quote that opens in line {opened:,} is not closed",
    AFTER_QUOTE: "line {line:,} has text after a closing quote; a quote in a quoted field is written twice",
    QUOTE_INSIDE: "line {inside:,} has a quote in a field that does not start with one, and other fields "
    "are quoted; quote that field too, and write the quote in it twice",
    LONE_RETURN: "line {line:,} has a carriage return (CR) without a line feed (LF) after it; end lines with "
    "LF or CR LF, and quote fields with a CR in them",
    WRONG_LENGTH: "line {line:,} has {found:,} fields, and the first line has {fields:,}; quote fields with "
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
        text = first.text if size else first.text.removeprefix(BOM_UTF8)
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
    """Return the names of columns that a CSV or TSV file begins with. Raises `UnsoundError` if they are not sound."""
    return _Rows(text.encode().lstrip(b"\r\n"), 0).names


class _Rows:
    """The rows of a text, walked over piece by piece. Raises `UnsoundError` at the first row that is wrong.

    `text` is the first piece with a row, which some empty lines may come before.
    """

    def __init__(self, text: bytes, empty_lines: int) -> None:
        self._walk = np.zeros(9, np.int64)
        self._walk[LINE] = empty_lines + 1
        tries = {delimiter: self._walk_over_first_row(text, delimiter) for delimiter in _DELIMITERS}
        self._delimiter = max(tries, key=lambda delimiter: tries[delimiter][0][FIELDS])
        walk, end, wrong = tries[self._delimiter]
        self._fields = int(walk[FIELDS])
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
        walk_over = over(text.find(b"\n"), walk_rows)
        wrong, end = walk_over(text, ord(delimiter), 0, LONGEST_LINE, walk)
        return walk, end, wrong or (0 if walk[ROWS] else UNCLOSED)

    def walk_over(self, text: bytes, size: int) -> None:
        """Walk over the next piece byte by byte. `size` is the number of bytes of all pieces, as far as it is known."""
        walk = over(size, walk_rows)
        wrong, _ = walk(text, ord(self._delimiter), self._fields, LONGEST_LINE, self._walk)
        if wrong:
            self._refuse(wrong, self._walk)

    def end(self, size: int) -> Delimited:
        if self._walk[STATE] == QUOTED:
            self._refuse(UNCLOSED, self._walk)
        quoted, multiline = (bool(self._walk[which]) for which in (IN_QUOTES, MULTILINE))
        rows = int(self._walk[ROWS]) - 1
        return Delimited(self.names, self._delimiter, quoted, multiline, rows, size)

    def _refuse(self, wrong: int, walk: Array) -> NoReturn:
        said = _PROBLEMS[wrong].format(
            line=walk[LINE],
            opened=walk[OPENED],
            inside=walk[INSIDE],
            found=walk[FIELDS],
            fields=self._fields,
            delimiter=self._delimiter,
        )
        if wrong == WRONG_LENGTH and self._fields == 1:
            said = f"line {walk[LINE]:,} has {walk[FIELDS]:,} fields, and the first line has 1"
            said += ": begin the file with the line of column names"
        raise UnsoundError(said)


@loop
def walk_rows(text: bytes, delimiter: int, fields: int, longest: int, walk: Array) -> tuple[int, int]:
    """Walk over a piece of text, and stop at the first thing that is wrong; `walk` goes on where it was.

    A row has `fields` fields; if that is 0, the walk stops behind the first row, whose fields are then in `walk`. Rows
    longer than `longest` bytes are wrong if a quoted field goes over several lines. Empty lines are no rows.

    Returns what is wrong, and how many bytes the walk is over.
    """
    state, line, found = walk[STATE], walk[LINE], walk[FIELDS]
    row_start = -walk[BYTES]
    wrong, at = FINE, 0
    for at in range(len(text)):
        byte = text[at]
        if state == QUOTED:
            if byte == _QUOTE:
                state = CLOSED
            elif byte == _NEWLINE:
                line += 1
                walk[MULTILINE] += 1
                if at - row_start > longest:
                    wrong = UNCLOSED
                    break
        elif byte == _NEWLINE:
            if found or (state != START and state != AFTER_EMPTY_RETURN):
                found += 1
                if fields and found != fields:
                    wrong = WRONG_LENGTH
                    break
                walk[ROWS] += 1
                if not fields:
                    break
            state, found, row_start = START, 0, at + 1
            line += 1
        elif state >= AFTER_RETURN:
            wrong = LONE_RETURN
            break
        elif byte == delimiter:
            found += 1
            state = START
        elif byte == _RETURN:
            state = AFTER_EMPTY_RETURN if state == START and not found else AFTER_RETURN
        elif byte == _QUOTE:
            if state == START:
                state = QUOTED
                walk[OPENED] = line
                walk[IN_QUOTES] += 1
            elif state == CLOSED:
                state = QUOTED
            elif not walk[INSIDE]:
                walk[INSIDE] = line
            if walk[INSIDE] and walk[IN_QUOTES]:
                wrong = QUOTE_INSIDE
                break
        elif state == CLOSED:
            wrong = AFTER_QUOTE
            break
        else:
            state = PLAIN
    walk[STATE], walk[LINE], walk[FIELDS] = state, line, found
    walk[BYTES] = len(text) - row_start
    return wrong, at + 1
