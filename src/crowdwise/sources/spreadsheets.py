"""Tables in workbooks of Excel: one sheet."""

import re
import sys
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Final

import polars as pl

from ..errors import CallError, require_extra
from ..system import available_memory, first_line, show_size
from .table import Table
from .unpacking import Content, UnsoundError, opened, pieces_within

# What a sheet has room for, without the row of names.
MOST_ROWS: Final = 1_048_575
MOST_COLUMNS: Final = 16_384
# The library that reads keeps a cell of this size for every place of the rectangle that is used.
_CELL_BYTES: Final = 32
# The most bytes that the parts of a workbook may have. A full sheet of ten columns has about 500 MB.
_MOST_UNPACKED: Final = 2 * 2**30
# The part that lists the sheets; and those of other formats, which the library would read too, and we do not check.
_WORKBOOK: Final = "xl/workbook.xml"
_OTHER_WORKBOOKS: Final = {"xl/workbook.bin", "content.xml"}
# The most bytes between two tags, or of one.
_LONGEST_TAG: Final = 1 << 20
# A row or a cell, and its reference if it has one: letters and digits, in any case; or something that is none.
_PLACED: Final = re.compile(
    rb"""<(?:[\w.-]+:)?(c|row)(?=[\s/>])(?:[^<]*?\sr\s*=\s*(?:"([A-Za-z]*)(\d*)"|'([A-Za-z]*)(\d*)'))?"""
)


def open_workbook(content: Content, sheet: str | None) -> Table:
    """Return one sheet of a workbook, the first for None, as a table of text, whose first row is the header.

    Raises:
        CallError: There is no such sheet.
        UnsoundError: The file is damaged, or would not fit into memory when it is unpacked.
    """
    require_extra("excel", "Reading workbooks of Excel")
    import fastexcel  # imported here because it needs the extra `excel`

    with opened(content) as file:
        size = _check_room(file)
    try:
        workbook = fastexcel.read_excel(content)
        names = list(workbook.sheet_names)
        if not names:
            raise UnsoundError("it has no sheets")
        if sheet is not None and sheet not in names:
            raise CallError(f"There is no sheet {sheet!r}; the sheets are {', '.join(map(repr, names[:20]))}.")
        chosen = names[0] if sheet is None else sheet
        cells = pl.DataFrame(workbook.load_sheet(chosen, header_row=None, dtypes="string"))
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as problem:
        said = first_line(problem).removeprefix("calamine error: ")
        raise UnsoundError(f"it is damaged, or no workbook ({said[:80]})") from problem
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":  # each library written in Rust has its own
            raise
        raise UnsoundError(f"it is damaged, or no workbook ({first_line(problem)[:80]})") from problem
    remarks: tuple[str, ...] = ()
    if sheet is None and len(names) > 1:
        remarks = (f"Read the first of {len(names):,} sheets, {chosen!r} (--sheet takes another).",)
    return _named(cells, size, remarks)


def _named(cells: pl.DataFrame, size: int, remarks: tuple[str, ...]) -> Table:
    """Return the cells of a sheet as a table; its columns are named by the first row, in which names may repeat.

    Columns without a name and without any value are left out.
    """
    if cells.height == 0:
        raise UnsoundError("its sheet is empty")
    rows = cells.slice(1)
    columns = [(name or "", values) for name, values in zip(cells.row(0), rows, strict=True)]
    columns = [(name, values) for name, values in columns if name or values.null_count() < rows.height]
    by_name = dict(reversed(columns))  # the first of each name

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        return pl.LazyFrame([by_name[name].alias(role) for role, name in columns.items()])

    return Table([name for name, _ in columns], pick, lambda: rows.height, size, remarks=remarks)


def _check_room(file: IO[bytes]) -> int:
    """Return how many bytes a workbook unpacks to.

    A workbook may be a bomb: some bytes that unpack to gigabytes, or two cells at opposite corners of a sheet, between
    which the library that reads keeps room for all others. What the file says of its own sizes is not believed.

    Raises:
        UnsoundError: It would not fit into memory, or is no zip file.
    """
    room = min(available_memory() // 4, _MOST_UNPACKED)
    total = 0
    try:
        archive = zipfile.ZipFile(file)
        names = set(archive.namelist())
        if _WORKBOOK not in names or names & _OTHER_WORKBOOKS:
            raise UnsoundError("it is damaged, or no workbook of Excel in the format .xlsx")
        for part in archive.infolist():
            if part.flag_bits & 1 or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise UnsoundError("it is encrypted, or packed in a way that workbooks are not")
            part.file_size = sys.maxsize  # all of it is unpacked, whatever the file says
            left = room - total
            cells = _UsedCells(left)
            refusal = UnsoundError(f"it unpacks to more than {show_size(left)}; save it as CSV")
            with archive.open(part) as stream:
                for piece in pieces_within(stream, left, refusal):
                    total += len(piece)
                    cells.add(piece)
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, EOFError) as problem:
        raise UnsoundError(f"it is damaged, or no workbook ({str(problem)[:80]})") from problem
    return total


class _UsedCells:
    """The rectangle of a sheet that is used, found in the text of a part as it is unpacked.

    Any part may be a sheet, whatever its name and its folder, so rows and cells are looked for in all.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._rows = self._columns = 0
        self._row = self._column = 0
        self._rest = b""

    def add(self, piece: bytes) -> None:
        """Look at the next piece. Raises `UnsoundError` if the rectangle has too many places."""
        text = self._rest + piece
        end = max(text.rfind(b"<"), 0)  # a tag may be cut, and is looked at with the next piece
        if b"<" not in text:
            self._rest = b""
            return
        self._rest = text[end:]
        if len(self._rest) > _LONGEST_TAG:
            raise UnsoundError(f"it has a tag or a text of more than {show_size(_LONGEST_TAG)}")
        for kind, *reference in _PLACED.findall(text, 0, end):
            letters, digits = reference[0] or reference[2], reference[1] or reference[3]
            if kind == b"row":
                self._row, self._column = _row_number(digits) if digits else self._row + 1, 0
            else:
                self._column = _column_number(letters) if letters else self._column + 1
                self._columns = max(self._columns, self._column)
                self._row = _row_number(digits) if digits else self._row
            self._rows = max(self._rows, self._row)
        if self._rows > MOST_ROWS + 1 or self._columns > MOST_COLUMNS:
            raise UnsoundError(
                f"it is damaged, or no workbook (a cell in row {self._rows:,} and column {self._columns:,}, and a "
                f"sheet ends at {MOST_ROWS + 1:,} and {MOST_COLUMNS:,})"
            )
        if self._rows * self._columns * _CELL_BYTES > self._room:
            raise UnsoundError(
                f"a sheet uses {self._rows:,} rows and {self._columns:,} columns, which are more places than fit into "
                "memory"
            )


def _row_number(digits: bytes) -> int:
    return int(digits.lstrip(b"0")[:9] or b"0")  # more digits are too many anyway


def _column_number(letters: bytes) -> int:
    """Return the number of a column, from 1: A is 1, Z is 26, AA is 27. Letters after the sixth do not count."""
    number = 0
    for letter in letters[:6].upper():
        number = number * 26 + letter - ord("A") + 1
    return number
