"""Tables in JSON: lines, or an array, of flat objects, each of which is a row.

The file is read twice, because the dtype of a column must be known before its first row is passed on, and the file may
be larger than the memory. First, msgspec checks every object against the keys and the kinds of values seen before it;
only pieces with something new go through the standard library, object by object. Then msgspec decodes the columns that
are wanted.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from operator import attrgetter, or_
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import polars as pl

from ..errors import is_utf_8
from . import json_objects
from .json_stream import STRICT, JsonObject, JsonText, each_value
from .table import Table, from_batches
from .typed_columns import BOOLEAN, FRACTION, HUGE, LARGE, NESTED, TEXT, WHOLE, dtype_of, kinds_of, refusal
from .unpacking import Content, UnsoundError, unpacked, whole_lines

# The most different keys that the objects may have, outside of nested ones.
_MOST_KEYS: Final = 1024
# The type by which msgspec checks that a value is of a kind.
_WHOLE: Final = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
_LARGE: Final = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
# A key with an escape in it, which may be another spelling of some name.
_ESCAPED_KEY: Final = re.compile(rb'\\.[^"\\]*"\s*:', re.DOTALL)
# What msgspec takes in no name of a key.
_UNNAMED: Final = re.compile(r'["\\\x00-\x1f]')
_BY_MSGSPEC: Final = (msgspec.MsgspecError, RecursionError)
_MARK: Final = "it starts with a byte order mark, which JSON may not; save it in UTF-8 without one"


class Lines:
    """The pieces of JSON lines.

    Attributes:
        unit: What is numbered in messages.
        before: How many lines were before the piece that was yielded last.
    """

    unit = "line"

    def __init__(self, content: Content) -> None:
        self._content = content
        self.before = 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in whole_lines(self._content):
            if self.before == 0 and piece.text.startswith(BOM_UTF8):
                raise UnsoundError(_MARK)
            yield piece.text
            self.before += piece.lines

    def decode(self, row: Any, text: bytes) -> list[Any]:
        """Return the objects of a piece as this type. Raises as msgspec does if a line is not one of them."""
        decoder = msgspec.json.Decoder(row)
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        # msgspec takes objects over several lines, and several in one line. Neither can be where all lines look so.
        if text[0] == ord("{") and (data[ends[:-1] + 1] == ord("{")).all() and (data[ends - 1] == ord("}")).all():
            rows: list[Any] = decoder.decode_lines(text)
            if len(rows) == len(ends):
                return rows
        return [decoder.decode(line) for line in text.split(b"\n") if line.strip(b" \t\r")]

    def each(self, text: bytes) -> Iterator[tuple[int, JsonObject]]:
        """Yield the objects of a piece with their numbers. Raises `UnsoundError` at one that is none."""
        for number, line in enumerate(text.decode().split("\n"), self.before + 1):
            if line.strip(" \t\r"):
                try:
                    yield number, _require_object(STRICT.decode(line))
                except (ValueError, RecursionError) as problem:
                    raise _no_object(self.unit, number, problem) from problem


class Elements:
    """The pieces of a JSON array; see `Lines`."""

    unit = "element"

    def __init__(self, content: Content) -> None:
        self._content = content
        self.before = 0
        self._count = 0

    def __iter__(self) -> Iterator[bytes]:
        with unpacked(self._content) as stream:
            text = JsonText(stream)
            if text.has_mark:
                raise UnsoundError(_MARK)
            if not text.take("["):
                raise UnsoundError("it does not start with the bracket of an array")
            if text.peek() == "]":
                raise UnsoundError("its array has no elements")
            while True:
                if text.peek() not in ("{", ""):
                    raise UnsoundError(f"element {self.before + 1:,} is not one JSON object")
                piece = text.values(in_array=True)
                try:
                    piece.isascii() or piece.decode()
                except UnicodeDecodeError as problem:
                    byte = f"0x{piece[problem.start]:02X}"
                    what = f"it has the byte {byte} after element {self.before:,}, which is not UTF-8"
                    raise UnsoundError(what) from problem
                yield piece
                self.before += self._count
                if not text.take(","):
                    break
            if not text.peek():
                raise UnsoundError("its array is not closed at the end; it may be cut off")
            if not text.take("]"):
                raise UnsoundError(f"after element {self.before:,} is {text.peek()!r}, and no comma")
            if text.peek():
                raise UnsoundError("there is text after the end of the array")

    def decode(self, row: Any, text: bytes) -> list[Any]:
        """See `Lines.decode`."""
        rows = msgspec.json.Decoder(list[row]).decode(b"[%b]" % text)
        self._count = len(rows)
        return rows

    def each(self, text: bytes) -> Iterator[tuple[int, JsonObject]]:
        """See `Lines.each`."""
        self._count = 0
        try:
            for value in each_value(text.decode(), STRICT, ","):
                value = _require_object(value)
                self._count += 1
                yield self.before + self._count, value
        except (ValueError, RecursionError) as problem:
            raise _no_object(self.unit, self.before + self._count + 1, problem) from problem


def _require_object(value: Any) -> JsonObject:
    if not isinstance(value, JsonObject):
        raise ValueError("it is no object")
    return value


def _no_object(unit: str, number: int, problem: Exception) -> UnsoundError:
    reason = getattr(problem, "msg", str(problem)) if isinstance(problem, ValueError) else "it is nested too deeply"
    reason = reason.partition(":")[0].removesuffix(" at").removesuffix(" starting")  # the place followed here
    return UnsoundError(f"{unit} {number:,} is not one JSON object ({reason})")


def open_lines(content: Content) -> Table:
    """Return JSON lines as a table. Raises `UnsoundError` if some line is not one object."""
    return _Rows(partial(Lines, content)).table()


def open_array(content: Content) -> Table:
    """Return an array of objects as a table. Raises `UnsoundError` if it is none."""
    return _Rows(partial(Elements, content)).table()


class _Rows:
    """The keys and kinds of values of a table in JSON, whose pieces `pieces` opens.

    Raises:
        UnsoundError: Some line or element is not one JSON object, and the message says which; or it has no row.
    """

    def __init__(self, pieces: Callable[[], Lines | Elements]) -> None:
        self._pieces = pieces
        # The kinds of values of each key, in the order of first appearance.
        self._kinds: dict[str, set[str]] = {}
        self._rows = self._size = 0
        opened, row = pieces(), _struct({}, only_these=True)
        for text in opened:
            self._size += len(text)
            try:
                objects = opened.decode(row, text)
                for key in (key for key, kinds in self._kinds.items() if HUGE in kinds):  # msgspec does not limit them
                    self._kinds[key] |= kinds_of(list(map(_getter(row, key), objects)))
            except _BY_MSGSPEC:
                self._rows += self._look_at(opened, text)
                row = _struct({key: _type_of(kinds) for key, kinds in self._kinds.items()}, only_these=True)
            else:
                self._rows += len(objects)
        if self._rows == 0:
            raise UnsoundError("it has only empty lines")

    def _look_at(self, opened: Lines | Elements, text: bytes) -> int:
        """Note the keys of a piece, and the kinds of their values; return how many objects it has."""
        columns: dict[str, list[Any]] = {key: [] for key in self._kinds}
        rows = 0
        for number, found in opened.each(text):
            rows += 1
            for key, value in found.items():
                columns.setdefault(key, []).append(value)
            if len(columns) > _MOST_KEYS:
                where = f"from {opened.unit} {number:,} on"
                raise UnsoundError(f"its objects have more than {_MOST_KEYS:,} different keys, {where}")
        for key, values in columns.items():
            self._kinds[key] = self._kinds.get(key, set()) | kinds_of(values)
        return rows

    def table(self) -> Table:
        has_nested = any(NESTED in kinds for kinds in self._kinds.values())
        nested = partial(json_objects.nested_rows, self._objects) if has_nested else None
        return Table(list(self._kinds), self._pick, lambda: self._rows, self._size, nested=nested)

    def _objects(self) -> Iterator[JsonObject]:
        opened = self._pieces()
        return (found for text in opened for _, found in opened.each(text))

    def _pick(self, columns: Mapping[str, str]) -> pl.LazyFrame:
        schema = {column: self._dtype_of(column) for column in columns.values()}
        lazy = from_batches(partial(self._read, schema), schema)
        return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

    def _dtype_of(self, key: str) -> pl.DataType:
        dtype = dtype_of(self._kinds[key]) or self._list_of(key)
        if dtype is None:
            opened = self._pieces()
            values = ((n, found.get(key)) for text in opened for n, found in opened.each(text))
            raise refusal(key, values, opened.unit)
        return dtype

    def _list_of(self, key: str) -> pl.DataType | None:
        """Return the type of the lists of a key; None if not all of its values are lists of one type."""
        if self._kinds[key] != {NESTED}:
            return None
        opened, kinds = self._pieces(), set[str]()
        for text in opened:
            for _, found in opened.each(text):
                value = found.get(key)
                if not isinstance(value, list | None):
                    return None
                kinds |= kinds_of(value or [])
        inner = dtype_of(kinds)
        return None if inner is None else pl.List(inner)

    def _read(self, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        opened, row = self._pieces(), _struct(dict.fromkeys(schema, Any))
        return (pl.DataFrame(_columns(opened, text, row, schema)) for text in opened)


def _columns(opened: Lines | Elements, text: bytes, row: Any, schema: Mapping[str, pl.DataType]) -> list[pl.Series]:
    """Return the columns of a piece. Raises `UnsoundError` if an object has the key of a column twice."""
    try:
        objects = opened.decode(row, text)
        columns = [_column(map(_getter(row, key), objects), key, dtype) for key, dtype in schema.items()]
    except (*_BY_MSGSPEC, KeyError):
        pass
    else:
        if not _may_repeat(opened, text, columns):
            return columns
    rows = list(opened.each(text))
    for number, found in rows:
        if repeated := schema.keys() & found.repeated:
            raise UnsoundError(f"{opened.unit} {number:,} has the key {repeated.pop()!r} twice")
    return [_column((found.get(key) for _, found in rows), key, dtype) for key, dtype in schema.items()]


def _column(values: Iterable[Any], key: str, dtype: pl.DataType) -> pl.Series:
    return pl.Series(key, list(values), dtype, strict=False)  # a strict one of floats takes no whole number


def _may_repeat(opened: Lines | Elements, text: bytes, columns: Sequence[pl.Series]) -> bool:
    """Return whether some object may have the key of a column twice, of which msgspec only takes the last.

    It has not where the key is written as often as there are values.
    """
    if b"\\" in text and _ESCAPED_KEY.search(text):
        return True
    keys = {b'"%b"' % column.name.encode(): len(column) - column.null_count() for column in columns}
    unequal = [key for key, count in keys.items() if text.count(key) != count]
    return bool(unequal) and any(
        bytes(one).count(key) > 1 for one in opened.decode(msgspec.Raw, text) for key in unequal
    )


def _struct(types: Mapping[str, Any], only_these: bool = False) -> Any:
    """Return the type of objects with these keys; without those that msgspec cannot have as names."""
    named = [key for key in types if is_utf_8(key) and not _UNNAMED.search(key)]
    return msgspec.defstruct(
        "Row",
        [(f"f{number}", types[key], None) for number, key in enumerate(named)],
        rename={f"f{number}": key for number, key in enumerate(named)},
        forbid_unknown_fields=only_these,
        gc=False,
    )


def _getter(row: Any, key: str) -> Callable[[Any], Any]:
    """Return what gets the value of a key. Raises `KeyError` if msgspec cannot have it as a name."""
    names = dict(zip(row.__struct_encode_fields__, row.__struct_fields__, strict=True))
    return attrgetter(names[key])


def _type_of(kinds: set[str]) -> Any:
    """Return the type by which msgspec takes values of these kinds, and no others but null."""
    if not kinds <= {TEXT, BOOLEAN, WHOLE, LARGE, HUGE, FRACTION}:
        return msgspec.Raw  # they are no column
    whole = int if HUGE in kinds else _LARGE if LARGE in kinds else _WHOLE
    types = {TEXT: str, BOOLEAN: bool, WHOLE: whole, LARGE: whole, HUGE: whole, FRACTION: whole | float}
    return reduce(or_, (types[kind] for kind in kinds), None)
