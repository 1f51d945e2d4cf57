"""JSON with labels inside of objects: objects of objects, as peerannot and LeWiDi write them, and rows with lists.

Values are checked here and not by polars, which would make one type of several: 1 and "1" would become one label.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

import polars as pl

from ..errors import DataError
from ..system import first_line
from . import nested
from .columns import ALIASES, ROW_NUMBERS, item_column, spelled_as
from .json_stream import STRICT, JsonObject, JsonText, beginning
from .nested import Long
from .table import Table
from .typed_columns import typed_column
from .unpacking import Content, UnsoundError, unpacked

# So many objects are looked at to find out which keys have lists.
_LOOKED_AT: Final = 100
# The keys of LeWiDi's objects: who labelled the item, and what they said.
_WORKERS, _LABELS = "annotators", "annotations"


def is_object_of_objects(start: str) -> bool:
    """Return whether a text starts as one object does whose values are objects, of labels by worker or as LeWiDi's.

    >>> is_object_of_objects('{"0": {"3": 1}, "1": {'), is_object_of_objects('{"item": 1, "worker": 2}')
    (True, False)
    """
    found = beginning(start) if start.startswith("{") else None
    if not isinstance(found, dict) or not all(isinstance(inner, dict) for inner in found.values()):
        return False
    filled = [inner for inner in found.values() if inner]
    return bool(found) and all(map(_has_labels, filled or found.values()))


def _has_labels(inner: Mapping[str, Any]) -> bool:
    """Return whether an object is one of LeWiDi's, or has labels by worker and is no row of a table."""
    if _WORKERS in inner and _LABELS in inner:
        return True
    roles = [any(spelled_as(key, alias) for key in inner for alias in ALIASES[role]) for role in ("worker", "label")]
    return not all(roles) and not any(isinstance(value, dict | list) for value in inner.values())


def open_object(content: Content, transposed: bool) -> Table:
    """Return one object of objects as a table with a row for each label; if `transposed`, its keys are workers.

    Raises:
        UnsoundError: It is not such an object.
    """
    rows = _Rows()
    with unpacked(content) as stream:
        text = JsonText(stream, STRICT)
        keys: set[str] = set()
        try:
            for key in text.members():
                inner = text.value()
                if not isinstance(inner, JsonObject):
                    raise UnsoundError(f"{key!r} has no object, and others have")
                _refuse_repeated(chain(keys & {key}, _repeated(inner)))
                keys.add(key)
                if transposed and _LABELS in inner:
                    raise UnsoundError("its keys are items, and are not transposed")
                for worker, label in _labels_of(key, inner):
                    rows.add(*((worker, key) if transposed else (key, worker)), label)
            if sign := text.peek():
                raise ValueError(f"after its object is {sign!r}")
        except (ValueError, RecursionError) as problem:
            raise UnsoundError(f"it is not JSON ({first_line(problem)[:80]})") from problem
    frame = rows.frame()
    return Table.of(frame.lazy(), int(frame.estimated_size()))


def _repeated(value: Any) -> Iterator[str]:
    """Yield the keys that are twice in an object, or in one inside of it."""
    if isinstance(value, JsonObject):
        yield from value.repeated
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _repeated(inner)


def _refuse_repeated(keys: Iterator[str]) -> None:
    for key in keys:
        raise UnsoundError(f"an object has the key {key!r} twice")


def _labels_of(item: str, said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
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


class _Rows:
    """Collects labels, and makes a table of them whose columns have one type each."""

    def __init__(self) -> None:
        self._values: dict[str, list[Any]] = {"item": [], "worker": [], "label": []}

    def add(self, item: Any, worker: Any, label: Any) -> None:
        for values, value in zip(self._values.values(), (item, worker, label), strict=True):
            values.append(value)

    def frame(self) -> pl.DataFrame:
        """Return the labels. Raises `UnsoundError` if a column has values of several types."""
        return pl.DataFrame([typed_column(role, values, "label") for role, values in self._values.items()])


def nested_rows(
    objects: Callable[[], Iterator[JsonObject]], given: Mapping[str, str | None], where: str
) -> Long | None:
    """Return objects with lists in them with one label a row; see `nested.unnest`."""
    paths, scalars = _keys(objects())
    chosen = nested.choose(paths, given)
    if chosen is None or (given["item"] is not None and given["item"] not in scalars):
        return None
    item = item_column(scalars, given["item"], where)
    rows, empty = _Rows(), 0
    for number, row in enumerate(objects()):
        _refuse_repeated(_repeated(row))
        workers, labels = (_list_at(row, path, number) for path in chosen)
        if len(workers) != len(labels):
            raise DataError(
                f"{where} has rows with lists of different lengths; first: row {number + 1:,} has {len(workers):,} in "
                f"{chosen[0]!r} and {len(labels):,} in {chosen[1]!r}."
            )
        empty += not labels
        for worker, label in zip(workers, labels, strict=True):
            rows.add(number if item is None else row.get(item), worker, label)
    names = {"item": item or ROW_NUMBERS, "worker": chosen[0], "label": chosen[1]}
    return Long(rows.frame().lazy(), names, nested.about_empty(empty))


def _keys(objects: Iterator[JsonObject]) -> tuple[list[str], list[str]]:
    """Return what has lists in the first objects, as "column" or "column.field", and which keys have scalars."""
    paths: dict[str, None] = {}
    scalars: dict[str, None] = {}
    for row in islice(objects, _LOOKED_AT):
        for key, value in row.items():
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


def _list_at(row: Mapping[str, Any], path: str, number: int) -> list[Any]:
    """Return the list of an object; empty if it has none."""
    if path in row:
        values = row[path]
    else:
        column, _, field = path.rpartition(".")
        values = row.get(column)
        if isinstance(values, dict):
            values = values.get(field)
        elif isinstance(values, list):
            if not all(isinstance(vote, dict) for vote in values):
                raise UnsoundError(f"row {number + 1:,} has something else than objects in {column!r}")
            values = [vote.get(field) for vote in values]
    if values is None:
        return []
    if not isinstance(values, list):
        raise UnsoundError(f"row {number + 1:,} has no list in {path!r}, and others have")
    return values
