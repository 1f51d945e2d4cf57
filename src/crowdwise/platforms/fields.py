"""Take fields out of the objects of an export, and say which one is not as it should be."""

import json
import math
from collections.abc import Mapping
from typing import Any

from ..sources.input import Input
from .answers import path_of


def as_object(export: Input, value: Any, where: str) -> dict[str, Any]:
    """Return a value that has to be an object. `where` says what it is, for the message."""
    if not isinstance(value, dict):
        raise export.unlike(f"{where} is no object")
    return value


def as_list(export: Input, value: Any, where: str) -> list[Any]:
    """Return a value that has to be a list; an empty one if there is none."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise export.unlike(f"{where} is no list")
    return value


def as_items(export: Input, values: list[Any], where: str) -> tuple[Any, ...]:
    """Return values that have to be text, numbers, or true or false, each of them once."""
    for value in values:
        if not is_scalar(value):
            raise export.unlike(f"{where} is neither text nor a number")
    return tuple(dict.fromkeys(values))


def field_of(export: Input, owner: Mapping[str, Any], path: str, where: str) -> Any:
    """Return the value at a path such as "data.url", which has to be text or a number.

    A list or an object there is refused; so is a value that is missing or empty.
    """
    value: Any = owner
    for key in [path] if path in owner else path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if not is_scalar(value) or value == "":
        what = "no" if value is None or value == "" else "neither text nor a number as"
        raise export.unlike(f"{where} has {what} {path!r}")
    return value


def from_json(export: Input, text: Any, where: str) -> Any:
    """Return what a text in JSON stands for. `where` says what it is, for the message."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as problem:
        raise export.unlike(f"{where} is no JSON") from problem


def is_scalar(value: Any) -> bool:
    """Return whether a value can be an id or a class: text, a finite number, or true or false."""
    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))


def first_text(owner: Mapping[str, Any], *keys: str) -> str | None:
    """Return the first of some fields that is text or a number, as text; None if none is."""
    return next((found for key in keys if (found := text_or_none(owner.get(key))) is not None), None)


def text_or_none(value: Any) -> str | None:
    """Return a value as text; None if there is none. An object is no text."""
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


def joined(values: list[Any]) -> Any:
    """Return the only value as it is, or several as one text."""
    return values[0] if len(values) == 1 else path_of(values)
