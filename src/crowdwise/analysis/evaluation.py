"""`accuracy`: the share of items whose inferred label is the true one, given a known truth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..crowd.ids import codes_of
from ..crowd.reading_report import several
from ..errors import DataError, quoted
from ..numerics import Array
from ..reading.read_truth import read_truth
from ..results.gold import Share
from ..results.in_parts import Inferred
from ..results.result import Result
from .pairing import require_result


@dataclass(frozen=True, eq=False)
class Matched:
    """A known truth as codes, which are positions among the names of a result.

    Attributes:
        items: The codes of the items whose truth is known and that have an answer.
        truths: The codes of their true classes; -1 if no label in the whole crowd names that class.
        unanswered: The number of items whose truth is known but that have no answer, because they have no label.
        gold: The number of items that are left out because their class was given to the method as gold.
    """

    items: Array
    truths: Array
    unanswered: int
    gold: int = 0


class Accuracy(float):
    """A share of right labels: a number that also has an interval, which a notebook shows.

    Attributes:
        low: The lower end of the 95 % interval.
        high: The upper end.
        items: The number of items that were compared.

    >>> found = Accuracy.of(np.array([1.0, 1.0, 0.5, 0.0]))
    >>> found
    0.6250 (95% interval 0.2194 to 0.9081, 4 items)
    >>> print(found, found > 0.6)
    0.625 True
    """

    low: float
    high: float
    items: int

    def __new__(cls, value: float, low: float, high: float, items: int) -> "Accuracy":
        """Make one of the share, the ends of its interval, and the number of items."""
        made = super().__new__(cls, value)
        made.low, made.high, made.items = low, high, items
        return made

    @classmethod
    def of(cls, right: Array) -> "Accuracy":
        """Return the share of right labels; (items), 1 or 0 for each, or a fraction where classes are tied."""
        share = Share.of(right)
        return cls(share.value, share.low, share.high, len(right))

    def __getnewargs__(self) -> tuple[float, float, float, int]:  # type: ignore[override]  # for copies and pickles
        return float(self), self.low, self.high, self.items

    def __repr__(self) -> str:
        compared = several(self.items, "item", "items")
        return f"{float(self):.4f} (95% interval {self.low:.4f} to {self.high:.4f}, {compared})"

    __str__ = float.__repr__  # so that it is written to files as a number


def accuracy(result: Inferred, truth: Any) -> Accuracy:
    """Return the share of items whose inferred label is the true one, with an interval.

    If m classes are tied and the true class is one of them, the item counts as 1/m. Only items that have a label and a
    known truth count, except those whose class was given to the method as gold. If no worker ever named the true class,
    the answer is wrong.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.

    Returns:
        A number with the ends of its 95 % interval as `low` and `high`: how often labels of other items like these
        would be right (Wilson, 1927). An item that counts as a fraction varies less than one that is right or wrong, so
        that with many ties the interval is rather too wide than too narrow.

    Raises:
        DataError: The truth has no item or no class in common with the labels.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> accuracy(cw.MajorityVote().fit(labels), {1: "dog", 2: "cat"})
    0.7500 (95% interval 0.1979 to 0.9733, 2 items)
    """
    require_result(result)
    known = read_truth(truth)
    measured = result.about(known["item"])
    return Accuracy.of(hits(measured, match(measured, known)))


def hits(result: Result, matched: Matched) -> Array:
    """Return, for every item with a known truth, 1 if its inferred label is the true one and 0 if it is not.

    If m classes are tied and the true class is one of them, the value is 1/m.
    """
    return result.wins(matched.items, matched.truths)


def match(result: Result, truth: Any) -> Matched:
    """Find the items and classes of a truth among those of a result.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.

    Raises:
        DataError: The truth has no item or no class in common with the labels.
    """
    table = read_truth(truth)
    items = codes_of(table["item"], result.names.items)
    if (items < 0).all():
        raise DataError(
            f"The truth shares no item with the labels: it has {quoted(table['item'][0])}, for example, the "
            f"labels have {quoted(result.names.items[0])}."
        )
    truths = result.names.class_codes(table["truth"])
    answered = items >= 0
    given = answered & (result.gold[items] >= 0) if result.gold is not None else np.zeros(len(items), bool)
    answered &= ~given
    if not answered.any():
        raise DataError(
            f"All {given.sum():,} items of the truth that have labels were given to the method as gold, and so are "
            "left out of the evaluation: name other items in the truth."
        )
    if (truths[answered] < 0).all():
        raise DataError(
            f"The truth shares no class with the labels: it has {quoted(table['truth'][0])}, for example, the "
            f"labels have {quoted(result.names.classes[0])}."
        )
    return Matched(items[answered], truths[answered], int((items < 0).sum()), int(given.sum()))
