"""JSON with labels inside of objects: objects of objects, as peerannot and LeWiDi write them, and rows with lists.

Values are checked here and not by polars, which would make one type of several: 1 and "1" would become one label.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

import ijson
import polars as pl

from ..errors import DataError
from . import nested
from .columns import ALIASES, ROW_NUMBERS, item_column, spelled_as
from .long_numbers import ShortNumbers, before_long_number
from .nested import Long
from .table import Table
from .unpacking import Content, Piece, UnsoundError, unpacked

# So many objects are looked at to find out which keys have lists.
_LOOKED_AT: Final = 100
# The keys of LeWiDi's objects: who labelled the item, and what they said.
_WORKERS, _LABELS = "annotators", "annotations"
_WORDS: Final = {str: "text", bool: "true or false", int: "whole numbers", float: "numbers with a point"}


class _Noting(dict[str, Any]):
    """An object of JSON that notes a key that is in it twice."""

    twice: str | None = None

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self:
            self.twice = key
        super().__setitem__(key, value)


def _once(found: Any) -> Any:
    """Return an object of JSON. Raises `UnsoundError` if it, or one in it, has a key twice."""
    for one in (found, *found.values()) if isinstance(found, _Noting) else ():
        if isinstance(one, _Noting) and one.twice is not None:
            raise UnsoundError(f"an object has the key {one.twice!r} twice")
    return found


def _of_pairs(pairs: list[tuple[str, Any]]) -> _Noting:
    """Return an object of JSON. Raises `UnsoundError` if it has a key twice."""
    found = _Noting()
    for key, value in pairs:
        found[key] = value
    return cast(_Noting, _once(found))


def is_object_of_objects(start: str) -> bool:
    """Return whether a text starts as one object does whose values are objects, of labels by worker or as LeWiDi's.

    >>> is_object_of_objects('{"0": {"3": 1}, "1": {'), is_object_of_objects('{"item": 1, "worker": 2}')
    (True, False)
    """
    if not start.startswith("{"):
        return False
    keys: list[str] = []
    depth, scalars, complete = 0, True, 0
    try:
        for event, value in ijson.basic_parse(io.BytesIO(before_long_number(start.encode()))):
            if event in ("start_map", "start_array"):
                depth += 1
                if depth == 2 and event == "start_array":
                    return False
                scalars = scalars and depth <= 2
            elif event in ("end_map", "end_array"):
                depth -= 1
                if depth == 1:
                    if not _is_of_labels(keys, scalars):
                        return False
                    complete, keys, scalars = complete + 1, [], True
            elif event == "map_key" and depth == 2:
                keys.append(value)
            elif event != "map_key" and depth == 1:
                return False
    except (ijson.JSONError, ValueError):  # as it ends where the start does
        pass
    return complete > 0 or (bool(keys) and _is_of_labels(keys, scalars))


def _is_of_labels(keys: Sequence[str], scalars: bool) -> bool:
    """Return whether an object with these keys is one of LeWiDi's, or has labels by worker and is no row of a table."""
    if _WORKERS in keys and _LABELS in keys:
        return True
    roles = [any(spelled_as(key, alias) for key in keys for alias in ALIASES[role]) for role in ("worker", "label")]
    return scalars and not all(roles)


def open_object(content: Content, transposed: bool) -> Table:
    """Return one object of objects as a table with a row for each label.

    Args:
        content: The file.
        transposed: Whether its keys are workers, and items are inside.

    Raises:
        UnsoundError: It is not such an object.
    """
    rows = _Rows()
    with _parsing(), unpacked(content) as file:
        for key, value in ijson.kvitems(ShortNumbers(file), "", use_float=True, map_type=_Noting):
            if not isinstance(_once(value), dict):
                raise UnsoundError(f"{key!r} has no object, and others have")
            if transposed and _LABELS in value:
                raise UnsoundError("its keys are items, and are not transposed")
            for inner, label in _labels_of(key, value):
                rows.add(inner if transposed else key, key if transposed else inner, label)
    return rows.table()


def _labels_of(item: str, said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the workers and labels of an item."""
    if _WORKERS not in said or _LABELS not in said:
        yield from said.items()
        return
    labels = said[_LABELS]
    if isinstance(labels, dict):
        yield from labels.items()
        return
    lists = [value.split(",") if isinstance(value, str) else value for value in (said[_WORKERS], labels)]
    if not all(isinstance(one, list) for one in lists) or len(lists[0]) != len(lists[1]):
        raise UnsoundError(f"the {_WORKERS} and {_LABELS} of {item!r} are not equally many")
    for worker, label in zip(*lists, strict=True):
        yield worker.strip() if isinstance(worker, str) else worker, label.strip() if isinstance(label, str) else label


@contextmanager
def _parsing() -> Iterator[None]:
    """Turn what is wrong with JSON into `UnsoundError`."""
    try:
        yield
    except ijson.JSONError as problem:
        raise UnsoundError(f"it is not JSON ({' '.join(str(problem).split())[:80]})") from problem
    except (ValueError, RecursionError) as problem:
        raise UnsoundError("it has text that is not UTF-8, or numbers that are too long") from problem


class _Rows:
    """Collects labels, and makes a table of them whose columns have one type each."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {"item": [], "worker": [], "label": []}

    def add(self, item: Any, worker: Any, label: Any) -> None:
        """Add a label."""
        for values, value in zip(self._values.values(), (item, worker, label), strict=True):
            values.append(value)

    def frame(self) -> pl.DataFrame:
        """Return the labels. Raises `UnsoundError` if a column has values of several types."""
        return pl.DataFrame([_column(role, values) for role, values in self._values.items()])

    def table(self) -> Table:
        """Return the labels as a table."""
        frame = self.frame()
        return Table.of(frame.lazy(), int(frame.estimated_size()), lambda: frame.height)


def _column(role: str, values: list[Any]) -> pl.Series:
    """Return values of JSON as a column. Raises `UnsoundError` if they are of several types, or are no scalars."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, float} and all(value is None or float(value) == value for value in values):
        kinds = {float}
    for kind in kinds - set(_WORDS):
        first = next(number for number, value in enumerate(values) if type(value) is kind)
        raise UnsoundError(f"the {role} of label {first + 1:,} is an object or a list")
    if len(kinds) > 1:
        first_of = {kind: next(n for n, value in enumerate(values) if type(value) is kind) for kind in kinds}
        said = ", ".join(
            f"{_WORDS[kind]} in label {n + 1:,}" for kind, n in sorted(first_of.items(), key=lambda x: x[1])
        )
        raise UnsoundError(f"the {role} has mixed types: {said}; give it one type")
    try:
        if kinds == {float}:
            return pl.Series(role, values, pl.Float64, strict=False)
        return pl.Series(role, values, strict=True)
    except (pl.exceptions.PolarsError, TypeError, OverflowError, UnicodeError) as problem:
        raise UnsoundError(f"the {role} has values that cannot be stored") from problem


def nested_rows(
    content: Content,
    pieces: Callable[[Content], Iterator[Piece]],
    given: Mapping[str, str | None],
    where: str,
) -> Long | None:
    """Return JSON lines with lists in their rows with one label a row; see `nested.unnest`.

    Args:
        content: The file.
        pieces: Takes it, and yields its lines.
        given: The name of the column for each role; None to recognise it.
        where: The name of the table in error messages.
    """
    paths, scalars = _keys(content, pieces)
    chosen = nested.choose(paths, given)
    if chosen is None or (given["item"] is not None and given["item"] not in scalars):
        return None
    item = item_column(scalars, given["item"], where)
    rows, empty = _Rows(), 0
    for number, found in enumerate(_objects(content, pieces)):
        workers, labels = (_list_at(found, path, number) for path in chosen)
        if len(workers) != len(labels):
            raise DataError(
                f"{where} has rows with lists of different lengths; first: row {number + 1:,} has {len(workers):,} in "
                f"{chosen[0]!r} and {len(labels):,} in {chosen[1]!r}."
            )
        empty += not labels
        for worker, label in zip(workers, labels, strict=True):
            rows.add(number if item is None else found.get(item), worker, label)
    names = {"item": item or ROW_NUMBERS, "worker": chosen[0], "label": chosen[1]}
    return Long(rows.frame().lazy(), names, nested.about_empty(empty))


def _objects(content: Content, pieces: Callable[[Content], Iterator[Piece]]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of JSON lines."""
    for piece in pieces(content):
        for line in piece.text.splitlines():
            if line.strip():
                try:
                    yield json.loads(line, object_pairs_hook=_of_pairs)
                except (ValueError, RecursionError) as problem:
                    raise UnsoundError("it is not JSON inside of its objects") from problem


def _keys(content: Content, pieces: Callable[[Content], Iterator[Piece]]) -> tuple[list[str], list[str]]:
    """Return what has lists in the first objects, as "column" or "column.field", and which keys have scalars."""
    paths: dict[str, None] = {}
    scalars: dict[str, None] = {}
    for number, found in enumerate(_objects(content, pieces)):
        if number == _LOOKED_AT:
            break
        for key, value in found.items():
            inner = value[0] if isinstance(value, list) and value else None
            if isinstance(inner, dict):
                paths |= {f"{key}.{field}": None for field in inner}
            elif isinstance(value, list):
                paths[key] = None
            elif isinstance(value, dict):
                paths |= {f"{key}.{field}": None for field, one in value.items() if isinstance(one, list)}
            else:
                scalars[key] = None
    return list(paths), list(scalars)


def _list_at(found: Mapping[str, Any], path: str, number: int) -> list[Any]:
    """Return the list of an object; empty if it has none."""
    if path in found:
        values = found[path]
    else:
        column, _, field = path.rpartition(".")
        values = found.get(column)
        if isinstance(values, dict):
            values = values.get(field)
        elif isinstance(values, list):
            if not all(isinstance(one, dict) for one in values):
                raise UnsoundError(f"row {number + 1:,} has something else than objects in {column!r}")
            values = [one.get(field) for one in values]
    if values is None:
        return []
    if not isinstance(values, list):
        raise UnsoundError(f"row {number + 1:,} has no list in {path!r}, and others have")
    return values
