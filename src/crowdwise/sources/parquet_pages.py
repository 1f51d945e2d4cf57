"""A check of the counts in the headers of a Parquet file, which polars trusts.

A damaged count makes polars ask for more memory than there is, and then Rust ends the whole program; a test shows that
the newest polars does so still. The headers are written in the compact protocol of Thrift:
https://github.com/apache/thrift/blob/master/doc/specs.
"""

import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

_MAGIC: Final = b"PAR1"
# Longer than any header of a page, which has a few numbers and at most two short values for statistics.
_LONGEST_HEADER: Final = 1 << 16
# The types of the compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 3, 7, 8, 9, 10, 11, 12, 13


class _Thrift:
    """Reads values of the compact protocol from bytes. Raises `IndexError` at their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self) -> dict[int, Any]:
        """Return the fields of a structure by their numbers."""
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15) for _ in range(count)]
        if kind == _MAP:
            count = self._unsigned()
            kinds = self._byte() if count else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(count)]
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if kind in (_DOUBLE, _BINARY, _UUID):
            return self._bytes({_DOUBLE: 8, _UUID: 16}.get(kind) or self._unsigned())
        return self._integer()

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, count: int) -> bytes:
        if self.at + count > len(self._data):
            raise IndexError
        self.at += count
        return self._data[self.at - count : self.at]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)


class _DamagedError(Exception):
    """A count cannot be right."""


def check_pages(content: str | bytes, columns: Collection[str]) -> str:
    """Return what is damaged about the counts in these columns; empty if nothing is.

    What is damaged otherwise is left to polars, which says so.
    """
    with io.BytesIO(content) if isinstance(content, bytes) else Path(content).open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        try:
            for first, length, values in _chunks(_footer(file, size), set(columns)):
                _check_chunk(file, first, min(first + length, size), values)
        except _DamagedError as problem:
            return str(problem)
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError):  # no such structure
            return ""
    return ""


def _footer(file: BinaryIO, size: int) -> dict[int, Any]:
    """Return the structure at the end of the file, which says where everything is."""
    file.seek(max(size - 8, 0))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size:
        raise ValueError
    file.seek(size - 8 - length)
    return _Thrift(file.read(length)).struct()


def _chunks(footer: dict[int, Any], columns: set[str]) -> Iterator[tuple[int, int, int]]:
    """Yield where each chunk of these columns starts, its length in bytes, and its number of values."""
    for row_group in footer[4]:
        for chunk in row_group[1]:
            about = chunk[3]
            if len(about[3]) == 1 and about[3][0].decode() in columns:
                first = min(offset for offset in (about.get(11), about[9]) if offset)
                if not about[5] == row_group[3] >= 0:
                    raise _DamagedError("its numbers of rows contradict each other")
                yield first, about[7], about[5]


def _check_chunk(file: BinaryIO, first: int, last: int, values: int) -> None:
    """Raise `_DamagedError` if a page has a negative size or count, or if the pages have more values than the chunk."""
    while first < last:
        file.seek(first)
        header = _Thrift(file.read(_LONGEST_HEADER))
        page = header.struct()
        data = page.get(5) or page.get(8) or {}
        values -= data.get(1, 0)
        numbers = [page[2], page[3], values, *(data.get(key, 0) for key in (1, *((2, 3, 5, 6) if 8 in page else ())))]
        numbers.append(page.get(7, {}).get(1, 0))
        if min(numbers) < 0:
            raise _DamagedError("the header of a page is damaged")
        first += header.at + page[3]
