"""Fields of the objects in an export; one that is not as it should be is refused by its name."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..crowd.read_options import option_of
from ..errors import CallError, DataError
from ..sources.input import Input


class Location(NamedTuple):
    """Where in a file something is, such as "line 7". Takes values there, and refuses those that it cannot use."""

    file: Input
    where: str

    def inside(self, what: str) -> "Location":
        """Return the location of a part, such as "'data_row' of line 7"."""
        return Location(self.file, f"{what} of {self.where}")

    def object(self, value: Any, what: str = "") -> dict[str, Any]:
        """Return a value that has to be an object. `what` says what it is, for the message."""
        if not isinstance(value, dict):
            raise self.file.unlike(f"{self._named(what)} is no object")
        return value

    def array(self, value: Any, what: str = "") -> list[Any]:
        """Return a value that has to be a list; an empty one if there is none."""
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.file.unlike(f"{self._named(what)} is no list")
        return value

    def objects(self, value: Any, what: str, each: str) -> list[dict[str, Any]]:
        """Return a list of objects, each of which is called `each` in messages."""
        return [self.object(one, each) for one in self.array(value, what)]

    def classes(self, values: list[Any], what: str) -> tuple[Any, ...]:
        """Return values that have to be text, numbers, or true or false, each of them once."""
        if not all(map(is_scalar, values)):
            raise self.file.unlike(f"{self._named(what)} is neither text nor a number")
        return tuple(dict.fromkeys(values))

    def field(self, owner: Mapping[str, Any], path: str) -> Any:
        """Return the value at a path such as "data.url", which has to be text or a number, and not empty."""
        value = owner[path] if path in owner else value_at(owner, path)
        if not is_scalar(value) or value == "":
            what = "no" if value is None or value == "" else "neither text nor a number as"
            raise self.file.unlike(f"{self.where} has {what} {path!r}")
        return value

    def parsed(self, text: Any, what: str) -> Any:
        """Return what a text in JSON stands for."""
        try:
            return json.loads(text)
        except (ValueError, TypeError, RecursionError) as problem:
            raise self.file.unlike(f"{self._named(what)} is no JSON") from problem

    def unlike(self, problem: str) -> DataError:
        """Return the error that says what is wrong here: "line 7 has no 'label'"."""
        return self.file.unlike(f"{self.where} {problem}")

    def _named(self, what: str) -> str:
        return f"{what} of {self.where}" if what else self.where


def entries(
    files: Iterable[Input], name: str, read: Callable[[Input], Iterable[dict[str, Any]]] = Input.objects
) -> Iterator[tuple[Location, dict[str, Any]]]:
    """Yield all objects of some files, or rows of tables, with their locations.

    Args:
        files: The files.
        name: What an object is called in messages, before its number, such as "line".
        read: What yields the objects of a file.
    """
    for file in files:
        for number, entry in enumerate(read(file), 1):
            yield Location(file, f"{name} {number:,}"), entry


def value_at(owner: Any, path: str) -> Any:
    """Return the value at a path such as "data.url"; None if there is no object on the way to it.

    >>> value_at({"data": {"url": "x"}}, "data.url"), value_at({"data": "x"}, "data.url")
    ('x', None)
    """
    for key in path.split("."):
        owner = owner.get(key) if isinstance(owner, Mapping) else None
    return owner


def is_scalar(value: Any) -> bool:
    """Return whether a value can be an id or a class: text, a finite number, or true or false."""
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def first_text(owner: Mapping[str, Any], *keys: str) -> str | None:
    """Return the first of some fields that is text or a number, as text; None if none is."""
    return next((found for key in keys if (found := text_or_none(owner.get(key))) is not None), None)


def text_or_none(value: Any) -> str | None:
    """Return text or a number as text; None for anything else, and for empty text."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not is_scalar(value):
        return None
    return str(value)


def number_or_none(value: Any) -> float | None:
    """Return a finite number, also one that is written as text; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def path_of(parts: Iterable[Any]) -> str:
    """Return one text for a path of several names, such as a class within a class, or an item within a file.

    >>> path_of(["Animal", "Dog"])
    'Animal / Dog'
    """
    return " / ".join(str(part) for part in parts)


def compiled(name: str, text: str, groups: int | None = None) -> re.Pattern[str]:
    """Return a regular expression that the user gave. Raises `CallError` if it is none, or has not so many groups."""
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as problem:
        raise CallError(f"{option_of(name)} {text!r} is no regular expression: {problem}.") from problem
    if groups is not None and pattern.groups != groups:
        raise CallError(f"{option_of(name)} {text!r} has {pattern.groups} groups ( ), and has to have {groups}.")
    return pattern


class JudgedOutputs:
    """The outputs that judges judged, by item, so that votes on different outputs never become votes on one item.

    Args:
        hint: What a user can do if two logs have different outputs by the same name.
    """

    def __init__(self, hint: str) -> None:
        self._hint = hint
        self._known: dict[Any, tuple[int, str]] = {}

    def check(self, file: Input, item: Any, output: Any) -> None:
        """Raise `DataError` if another file has another output (or its id; None if not said) as this item."""
        if output is None:
            return
        content = hash(json.dumps(output, sort_keys=True))
        known, name = self._known.setdefault(item, (content, file.name))
        if known != content and name != file.name:
            raise DataError(
                f"{name} and {file.name} have different answers as item {item!r}, which judges cannot be compared "
                f"on: read them one after the other, or {self._hint}."
            )
