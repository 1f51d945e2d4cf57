"""JSON arrays of flat objects: each object is a row. They are read piece by piece, as JSON lines are."""

import io
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ..numerics.twins import over
from . import json_arrays_walk as walk
from . import json_lines, json_objects
from .table import Table, from_batches
from .unpacking import UTF_8_MARK, Content, Piece, UnsoundError, stored_size, whole_lines

_PROBLEMS: Final = {
    walk.NO_ARRAY: "it does not start with the bracket of an array",
    walk.NO_ELEMENT: "element {next:,} is not one JSON object",
    walk.MORE_TEXT: "there is text after the end of the array",
}


class _Elements:
    """Turns the pieces of an array into pieces of JSON lines, one element a line."""

    def __init__(self, stored: int) -> None:
        self._memory = np.zeros(walk.MEMORY, np.int64)
        self._stored, self._size = stored, 0

    def change(self, piece: bytes) -> bytes:
        """Return the next piece. Raises `UnsoundError` if this is not an array."""
        if self._size == 0 and piece.startswith(UTF_8_MARK):
            raise UnsoundError("it starts with a byte order mark, which JSON may not; save it in UTF-8 without one")
        self._size += len(piece)
        text = bytearray(piece)
        problem = over(max(self._stored, self._size), walk.to_lines)(text, self._memory)
        if problem:
            raise UnsoundError(_PROBLEMS[problem].format(next=self._memory[walk.ELEMENTS] + 1))
        return bytes(text)

    def check_end(self) -> None:
        """Raise `UnsoundError` if the array is not closed at the end, or empty."""
        if self._memory[walk.PART] != walk.AFTER:
            raise UnsoundError("its array is not closed at the end; it may be cut off")
        if not self._memory[walk.ELEMENTS]:
            raise UnsoundError("its array has no elements")


def elements(content: Content) -> Iterator[Piece]:
    """Yield the elements of an array as whole lines. Raises `UnsoundError` if this is not an array."""
    found = _Elements(stored_size(content))
    yield from whole_lines(content, found.change)
    found.check_end()


def open_array(content: Content) -> Table:
    """Return an array of objects as a table with a row for each of them.

    Raises:
        UnsoundError: It is not an array, or some element is not one object.
    """
    found = json_lines.inspect(elements(content), stored_size(content), "element")

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        schema = {column: found.type_of(column) for column in columns.values()}
        lazy = from_batches(partial(_read, content, schema), schema)
        return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

    nested = partial(json_objects.nested_rows, content, elements) if found.has_nested else None
    return Table(list(dict.fromkeys(found.names)), pick, lambda: found.rows, found.size, nested=nested)


def _read(content: Content, schema: Mapping[str, Any]) -> Iterator[pl.DataFrame]:
    for piece in elements(content):
        yield pl.read_ndjson(io.BytesIO(piece.text), schema=schema)
