"""Refuse labels that are not one class per vote: numbers, free text, and several classes in a cell.

Each refusal says what the labels look like and what to do. Declared classes are never refused.
"""

import json
from collections import Counter
from typing import Final

import polars as pl

from ..errors import DataError, shown

# More different numbers than this measure something, if some are not whole.
_MOST_FLOATS: Final = 50
# Labels are free text if so many are different, and more than this share of all labels.
_LEAST_TEXTS: Final = 50
_TEXT_SHARE: Final = 0.8
# What stands between several classes in one cell, and the most classes that are looked at for it.
_SEPARATORS: Final = (";", "|", ",")
_MOST_CLASSES: Final = 20_000
_SURE: Final = "If each different value is a class, declare all classes with classes= (--classes)."


def refuse_unless_classes(names: pl.Series, labels: int, column: str) -> None:
    """Raise `DataError` if labels look like something else than the names of classes.

    Args:
        names: The different labels.
        labels: The number of labels.
        column: The name of their column.
    """
    if len(names) > _MOST_FLOATS and _are_fractions(names):
        raise DataError(
            f"Column {column!r} has {len(names):,} different numbers, such as {shown(names[0])}, which look like "
            f"measurements and not like classes: numeric=True (--numeric) takes them as numbers. {_SURE}"
        )
    if len(names) >= _LEAST_TEXTS and len(names) > _TEXT_SHARE * labels and _are_texts(names):
        raise DataError(
            f"Column {column!r} has {len(names):,} different values in {labels:,} labels, such as {shown(names[0])}, "
            "which look like free text and not like classes: nothing can be counted where nobody says the same. Sort "
            f"the texts into classes first. {_SURE}"
        )
    cell = _several_in_a_cell(names)
    if cell is not None:
        raise DataError(
            f"Column {column!r} has {shown(cell)}, which looks like several classes in one cell. Make a table for each "
            "class, with the labels yes and no, and aggregate each by itself; or write a row for each class and say "
            f'duplicates="set" (--duplicates set) to count them as one vote for all of them. {_SURE}'
        )


def _are_texts(names: pl.Series) -> bool:
    """Return whether names are text, and not all of them whole numbers, which may be ids of classes."""
    return names.dtype == pl.String and names.cast(pl.Int64, strict=False).null_count() > 0


def _are_fractions(names: pl.Series) -> bool:
    """Return whether all names are numbers, and some of them are not whole."""
    if not (names.dtype.is_float() or names.dtype.is_decimal() or names.dtype == pl.String):
        return False
    numbers = names.cast(pl.Float64, strict=False)
    return not numbers.null_count() and bool((numbers != numbers.floor()).any())


def _several_in_a_cell(names: pl.Series) -> str | None:
    """Return the first name that is several classes: a list of JSON, or parts that are classes elsewhere too.

    >>> _several_in_a_cell(pl.Series(["cat", "cat;dog", "dog"])), _several_in_a_cell(pl.Series(["yes, surely", "no"]))
    ('cat;dog', None)
    """
    if names.dtype != pl.String or not 0 < len(names) <= _MOST_CLASSES:
        return None
    ordered: list[str] = names.drop_nulls().sort().to_list()
    for name in ordered:
        if name.startswith("[") and name.endswith("]") and _is_list(name):
            return name
    for separator in _SEPARATORS:
        parts = {name: _parts(name, separator) for name in ordered}
        seen = Counter(part for found in parts.values() for part in found)
        for name, found in parts.items():
            if len(found) > 1 and all(part and seen[part] > 1 for part in found):
                return name
    return None


def _parts(name: str, separator: str) -> set[str]:
    """Return the different parts of a name."""
    return {part.strip() for part in name.split(separator)}


def _is_list(name: str) -> bool:
    """Return whether a text is a list, as JSON or Python write it."""
    for text in (name, name.replace("'", '"')):
        try:
            return isinstance(json.loads(text), list)
        except (ValueError, RecursionError):
            continue
    return False
