"""Look at JSON lines before polars reads them: find the keys of the objects, and the type of each.

polars alone would make one type of several: text of all values, or floats of whole numbers that no float holds exactly.
Ids would then be equal that are not.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from ..numerics import Array
from ..numerics.twins import over
from . import json_lines_walk as json_lines
from .unpacking import UTF_8_MARK, Piece, UnsoundError

# The most different keys that the objects may have, outside of nested ones.
_MOST_KEYS: Final = 1024
_KINDS: Final = {
    json_lines.TEXT: "text",
    json_lines.BOOLEAN: "true or false",
    json_lines.WHOLE: "a whole number",
    json_lines.LARGE: "a whole number of more than 53 bits",
    json_lines.HUGE: "a whole number of more than 64 bits",
    json_lines.ENDLESS: "a whole number of more than 38 digits",
    json_lines.FRACTION: "a number with a point or an exponent",
    json_lines.NESTED: "an object or a list",
}
# The types to read values as: the first whose kinds are all that a key has.
_TYPES: Final = (
    (pl.String(), {json_lines.TEXT}),
    (pl.Boolean(), {json_lines.BOOLEAN}),
    (pl.Int64(), {json_lines.WHOLE, json_lines.LARGE}),
    (pl.Int128(), {json_lines.WHOLE, json_lines.LARGE, json_lines.HUGE}),
    (pl.Float64(), {json_lines.WHOLE, json_lines.FRACTION}),
)


@dataclass(frozen=True)
class JsonLines:
    """What is known of a file of JSON lines.

    Attributes:
        names: The keys of its objects, in the order of first appearance. One with escapes may be there twice.
        rows: The number of objects.
        size: The number of bytes, unpacked.
    """

    names: list[str]
    rows: int
    size: int
    _keys: Array
    _unit: str = "line"

    @property
    def has_nested(self) -> bool:
        """Whether some value is an object or a list."""
        return bool(self._keys[: len(self.names), json_lines.KINDS + json_lines.NESTED].any())

    def type_of(self, key: str) -> pl.DataType:
        """Return the type to read the values of a key as.

        Raises:
            UnsoundError: No type holds all of its values as they are, or an object has the key twice.
        """
        if self.names.count(key) > 1:
            raise UnsoundError(f"the key {key!r} is spelt in several ways; write it without escapes")
        found = self._keys[self.names.index(key)].tolist()
        if found[json_lines.TWICE]:
            raise UnsoundError(f"{self._unit} {found[json_lines.TWICE]:,} has the key {key!r} twice")
        if found[json_lines.HALF_PAIR]:
            raise UnsoundError(f"{self._unit} {found[json_lines.HALF_PAIR]:,} has half of a surrogate pair in {key!r}")
        first_lines = {kind: line for kind in _KINDS if (line := found[json_lines.KINDS + kind])}
        for dtype, kinds in _TYPES:
            if first_lines.keys() <= kinds:
                return dtype
        by_line = sorted(first_lines.items(), key=lambda kind: kind[1])
        said = ", ".join(f"{_KINDS[kind]} in {self._unit} {line:,}" for kind, line in by_line)
        if len(first_lines) > 1:
            raise UnsoundError(f"{key!r} has mixed types: {said}; give it one type, of which text holds any value")
        raise UnsoundError(f"{key!r} has {said}; ids and labels are text, numbers, true or false")


def inspect(pieces: Iterator[Piece], stored: int, unit: str = "line") -> JsonLines:
    """Go over JSON lines.

    Args:
        pieces: The lines.
        stored: The bytes of the file; it may have more when it is unpacked.
        unit: What each of them is called in messages.

    Raises:
        UnsoundError: Some line is not one JSON object, and the message says which; or as `whole_lines` does.
    """
    keys = json_lines.new_keys(_MOST_KEYS)
    names: list[str] = []
    lines = rows = size = 0
    for piece in pieces:
        size += len(piece.text)
        if lines == 0 and piece.text.startswith(UTF_8_MARK):
            raise UnsoundError("it starts with a byte order mark, which JSON may not; save it in UTF-8 without one")
        walk = over(max(stored, size), json_lines.walk_objects)
        known, line, objects = walk(piece.text, keys, len(names), lines)
        if objects == -1:
            raise UnsoundError(f"{unit} {line:,} is not one JSON object")
        if objects == -2:
            raise UnsoundError(f"its objects have more than {_MOST_KEYS:,} different keys, from {unit} {line:,} on")
        spans = keys[len(names) : known, json_lines.FIRST : json_lines.END + 1]
        names += [json.loads(piece.text[start - 1 : end + 1]) for start, end in spans.tolist()]
        lines, rows = line, rows + objects
    if rows == 0:
        raise UnsoundError("it has only empty lines")
    return JsonLines(names, rows, size, keys, unit)
