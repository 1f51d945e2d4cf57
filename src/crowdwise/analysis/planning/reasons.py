"""Say in words why an item is on the list of those to ask."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from ...crowd.labels import Labels
from ...errors import shortened
from ...numerics import Array
from ...results.result import Result

# The most characters of the name of a class in a reason.
_LONGEST_NAME: Final = 40
# The quality of a worker is unknown if the interval of it is wider than this, and poor if it is in the lowest part
# between a guess and always right.
_UNKNOWN: Final = 0.3
_POOR: Final = 0.25
# The most classes that are counted in a reason.
_MOST_CLASSES: Final = 3


def reasons(result: Result, labels: Labels, items: Sequence[int]) -> list[str]:
    """Say what the votes on these items are, and what is known of those who gave them.

    Args:
        result: The result of a method.
        labels: The labels that it is from.
        items: The codes of the items.
    """
    classes = [f"'{shortened(name, _LONGEST_NAME)}'" for name in result.names.classes.cast(pl.String).to_list()]
    known = _how_known(result)
    said = []
    for item in items:
        rows = slice(int(labels.item_starts[item]), int(labels.item_starts[item + 1]))
        votes = _votes(labels.labels[rows], classes)
        said.append(votes + _by_whom(known[labels.workers[rows]]))
    return said


def _votes(given: Array, classes: list[str]) -> str:
    """Say what was said about an item."""
    counts = np.bincount(given, minlength=len(classes))
    order = np.argsort(-counts, kind="stable")
    named = [(int(counts[k]), classes[k]) for k in order if counts[k]]
    total = len(given)
    if total == 1:
        return f"one label only, {named[0][1]}"
    if len(named) == 1:
        return f"{total} labels, {'both' if total == 2 else 'all'} {named[0][1]}"
    if len(named) == 2:
        (more, first), (less, second) = named
        return f"{more} {first} against {less} {second}"
    listed = ", ".join(f"{count} {name}" for count, name in named[:_MOST_CLASSES])
    return f"{total} labels in {len(named)} classes: {listed}" + (", ..." if len(named) > _MOST_CLASSES else "")


def _how_known(result: Result) -> Array:
    """(workers), 2 for a worker of known and sufficient quality, 1 for a poor one, 0 for one of unknown quality."""
    quality, guess = result.quality, 1 / len(result.names.classes)
    value = np.nan_to_num(quality.value, nan=guess)
    known = np.where((value - guess) / max(1 - guess, 1e-9) < _POOR, 1, 2)
    if quality.each_alone is None:
        return known
    low, high = quality.each_alone
    wide = np.nan_to_num(high, nan=1.0) - np.nan_to_num(low, nan=0.0) > _UNKNOWN
    return np.where(wide, 0, known)


def _by_whom(known: Array) -> str:
    """Say what is known of the workers of an item; nothing if all are known and good enough."""
    one = len(known) == 1
    if (known == 0).all():
        return f", by {'a worker' if one else 'workers'} of unknown quality"
    if (known == 1).all():
        return f", by {'a poor worker' if one else 'poor workers'}"
    if (known < 2).all():
        return ", by workers of poor or unknown quality"
    return ""
