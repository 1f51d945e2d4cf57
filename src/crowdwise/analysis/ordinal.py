"""`Ordinal`: classes that have an order, and how far apart they are.

Numbers are where they say: 5 is as far from 3 as 3 is from 1. Classes in a given order are one step apart. The label of
an item is then decided as by costs (decisions.py), where the cost of a label is its distance from the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import polars as pl

from ..crowd.ids import as_number, as_series, codes_of
from ..errors import CallError, DataError, did_you_mean, require_room, shown
from ..numerics import Array
from .costs import Costs

Distance = Literal["absolute", "squared"]
# What is expected of a label: its distance from the truth, or the square of that.
Measure = Literal["distance", "squared_distance"]
# The largest number that is a class: the squares of larger ones could leave the range of numbers.
_LARGEST: Final = 1e100


@dataclass(frozen=True)
class Ordinal:
    """How classes are ordered, as the user said it; `ordinal` makes it.

    Attributes:
        order: The classes from the lowest to the highest; None if classes are numbers.
        distance: What is to be small: the distance from the truth, or its square.
    """

    order: tuple[Any, ...] | None = None
    distance: Distance = "absolute"

    @property
    def measure(self) -> Measure:
        """What is expected to be least of the label of an item."""
        return "distance" if self.distance == "absolute" else "squared_distance"

    def positions(self, classes: pl.Series, whose: str = "labels") -> Array:
        """Return (classes), where each class is on the scale.

        Args:
            classes: The classes.
            whose: Whose classes these are, for messages.

        Raises:
            DataError: A class is no number, or the order lacks it.

        >>> Ordinal().positions(pl.Series([1, 2, 5])).tolist()
        [1.0, 2.0, 5.0]
        >>> Ordinal(("low", "medium", "high")).positions(pl.Series(["high", "low"])).tolist()
        [2.0, 0.0]
        """
        if self.order is None:
            return _as_numbers(classes, whose)
        known = as_series("order", list(self.order))
        codes = codes_of(classes, known)
        if (codes < 0).any():
            lacking = classes[int((codes < 0).argmax())]
            hint = did_you_mean(str(lacking), known.cast(pl.String).to_list())
            raise DataError(f"The order lacks the class {shown(lacking)} of the {whose}: name all classes in it.{hint}")
        return codes.astype(float)

    def costs(self, classes: pl.Series) -> Costs:
        """Return the distance of every class from every other, or its square, as costs."""
        count = len(classes)
        require_room(
            16 * count**2, f"The distances of {count:,} classes from each other", "Put numbers into fewer classes."
        )
        places = self.positions(classes)
        apart = np.abs(places[:, None] - places)
        return Costs(apart if self.distance == "absolute" else apart**2, classes.alias("label"))


def ordinal(
    ordered: bool | Ordinal = False, order: Sequence[Any] | None = None, distance: str | None = None
) -> Ordinal | None:
    """Return how classes are ordered, if the arguments say that they are; None if not.

    Args:
        ordered: Whether classes are ordered, even without `order`; or what an earlier call returned.
        order: The classes from the lowest to the highest; None if they are numbers.
        distance: "absolute" or "squared"; "absolute" if None.

    Raises:
        CallError: An argument is not allowed.

    >>> ordinal(order=["low", "high"])
    Ordinal(order=('low', 'high'), distance='absolute')
    """
    if isinstance(ordered, Ordinal):
        return ordered
    if distance is not None and distance not in get_args(Distance):
        raise CallError(f"distance={shown(distance)} is not one of {', '.join(map(repr, get_args(Distance)))}.")
    if order is None and not ordered:
        if distance is not None:
            raise CallError(f"distance={distance} is for ordered classes: say ordinal, or give their order.")
        return None
    if order is not None:
        _check_order(order)
    return Ordinal(None if order is None else tuple(order), "squared" if distance == "squared" else "absolute")


def _check_order(order: Sequence[Any]) -> None:
    """Raise `CallError` if an order is no sequence of different classes."""
    if isinstance(order, str) or not isinstance(order, Sequence) or not len(order):
        raise CallError('order is a sequence of all classes from the lowest to the highest, such as ["low", "high"].')
    seen = set()
    for one in order:
        if one is None or str(one) == "":
            raise CallError("The order has an empty class; name all classes from the lowest to the highest.")
        if str(one) in seen:
            raise CallError(f"The order names the class {shown(one)} twice.")
        seen.add(str(one))


def _as_numbers(classes: pl.Series, whose: str) -> Array:
    """Return classes as numbers. Raises `DataError` if one of them is none."""
    found = np.empty(len(classes))
    for at, one in enumerate(classes):
        number = None if isinstance(one, bool) else as_number(one)
        if number is None or not abs(number) <= _LARGEST:
            raise DataError(
                f"The class {shown(one)} of the {whose} is no number, so its place among the others is not known: give "
                "the order of all classes with order=['low', 'medium', 'high'] (--order low,medium,high)."
            )
        found[at] = number
    return found
