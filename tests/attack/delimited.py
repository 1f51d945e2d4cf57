"""CSV files: written in any dialect and with any damage, and read again by Python's own `csv`."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from . import hostile
from .area import Case
from .majority import Row

# Names that crowdwise recognises, for each role.
HEADERS: Final = (
    ("item", "Item", "task_id", "QUESTION", "object id", "exampleid"),
    ("worker", "annotator", "Rater", "user_id", "PERFORMER"),
    ("label", "Answer", "response", "value", "VOTE"),
)


@dataclass(frozen=True)
class Delimited:
    """A CSV file.

    Attributes:
        content: What is in it.
        delimiter: Its delimiter.
        places: The columns of item, worker and label.
    """

    content: bytes
    delimiter: str
    places: tuple[int, int, int]

    @property
    def may_be_refused(self) -> bool:
        """Whether it has a NUL byte, which `csv` reads, and which crowdwise takes for a file that is no text."""
        return b"\x00" in self.content

    def rows(self) -> list[Row] | None:
        """The rows as Python's `csv` reads them; None if it does not.

        Empty fields are None, and rows in which all three are empty are left out.
        """
        try:
            text = self.content.decode("utf-8-sig")
            table = list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True))
        except (UnicodeDecodeError, csv.Error):
            return None
        picked = [tuple((row[place] if place < len(row) else "") or None for place in self.places) for row in table[1:]]
        return [(item, worker, label) for item, worker, label in picked if (item, worker, label) != (None, None, None)]


def encode(case: Case, rows: Sequence[Row]) -> Delimited:
    """The rows as a CSV file, in some dialect, with some other columns."""
    random = case.random
    delimiter = random.choice(",,,\t;|")
    names = [random.choice(choices) for choices in HEADERS]
    order = [0, 1, 2]
    random.shuffle(order)
    others = random.choice((0, 0, 1, 3))
    header = [names[role] for role in order] + [f"note {number}" for number in range(others)]
    table = [[row[role] or "" for role in order] + [hostile.name(case) for _ in range(others)] for row in rows]
    quoted = random.choice((0.0, 0.5, 1.0))
    endings = random.choice((["\n"], ["\r\n"], ["\n", "\r\n"]))
    text = "".join(_line(case, line, delimiter, quoted) + random.choice(endings) for line in [header, *table])
    if case.chance(0.2):
        text = text.rstrip("\r\n") if not (table and table[-1][-1].endswith(("\r", "\n"))) else text
    if case.chance(0.1):
        text += random.choice(endings) * random.randint(1, 3)
    mark = b"\xef\xbb\xbf" if case.chance(0.15) else b""
    places = order.index(0), order.index(1), order.index(2)
    return Delimited(mark + text.encode(), delimiter, places)


def _line(case: Case, fields: Sequence[str], delimiter: str, quoted: float) -> str:
    return delimiter.join(_field(field, delimiter, case.chance(quoted) and field != "") for field in fields)


def _field(field: str, delimiter: str, quoted: bool) -> str:
    """A field as RFC 4180 has it: in quotes where it must be, with quotes inside doubled."""
    must = any(mark in field for mark in (delimiter, '"', "\r", "\n"))
    return '"' + field.replace('"', '""') + '"' if must or quoted else field


def damage(case: Case, content: bytes) -> bytes:
    """The file with one thing wrong behind its first line."""
    start = content.find(b"\n") + 1
    return content[:start] + case.random.choice(_DAMAGES)(case, content[start:])


def _insert(piece: bytes) -> Callable[[Case, bytes], bytes]:
    def insert(case: Case, body: bytes) -> bytes:
        place = case.random.randint(0, len(body))
        return body[:place] + piece + body[place:]

    return insert


def _cut_off(case: Case, body: bytes) -> bytes:
    return body[: case.random.randint(0, len(body))]


def _flip(case: Case, body: bytes) -> bytes:
    changed = bytearray(body)
    if changed:
        changed[case.random.randrange(len(changed))] ^= 1 << case.random.randrange(8)
    return bytes(changed)


def _huge(case: Case, body: bytes) -> bytes:
    piece = case.random.choice((b"x", b'""', b"[", "\u202e".encode())) * case.random.choice((5_000, 300_000))
    return _insert(piece)(case, body)


def _more_fields(case: Case, body: bytes) -> bytes:
    return _insert(case.random.choice((b",", b",,,,,,,,", b"\t", b";x;y;z")))(case, body)


def _classic_lines(_: Case, body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n").replace(b"\n", b"\r")


_DAMAGES: Final[tuple[Callable[[Case, bytes], bytes], ...]] = (
    _insert(b'"'),
    _insert(b'"'),
    _insert(b'\n"open,'),
    _insert(b'"x"y'),
    _insert(b"\x00"),
    _insert(b"\xff"),
    _insert(b"\xed\xa0\x80"),
    _insert(b"\r"),
    _insert(b"\r\r\n"),
    _insert(b"\n"),
    _insert(b"\\"),
    _insert(b"#"),
    _cut_off,
    _flip,
    _huge,
    _more_fields,
    _classic_lines,
)
