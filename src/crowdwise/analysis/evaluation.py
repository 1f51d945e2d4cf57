"""Measure a result against known truth."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ..data.reading import read_truth
from ..errors import DataError
from ..kernels import Array
from ..results.inferred import Inferred
from ..results.result import TIE, Result

# The normal quantile of a 95 % interval.
NORMAL: Final = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Matched:
    """Truths on a result's codes.

    Attributes:
        items: The items whose truth is known and that have an answer.
        truths: Their true classes; -1 where nobody ever said the true class.
        unanswered: How many items of the truth have no answer because they have no label.
    """

    items: Array
    truths: Array
    unanswered: int


def accuracy(result: Inferred, truth: Any) -> float:
    """The share of items whose inferred label is the true one; of tied classes each counts its part.

    Items without a known truth and truths of items without a label do not count. A true class that nobody ever said
    counts as an error.

    Args:
        result: What a method found.
        truth: A path, a table, or a mapping from item to class.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> accuracy(cw.MajorityVote().fit(labels), {1: "dog", 2: "cat"})
    0.75
    """
    known = read_truth(truth)
    measured = result.about(known["item"])
    return float(hits(measured, match(measured, known)).mean())


def hits(result: Result, matched: Matched) -> Array:
    """For every item with a known truth, whether its inferred label is the true one; in part where classes are tied."""
    best = result.confidence[matched.items, None]
    scores = result.scores[matched.items]
    winners = scores >= best - TIE * np.abs(best)
    true = winners[np.arange(len(winners)), matched.truths] & (matched.truths >= 0)
    return np.asarray(true / winners.sum(axis=1))


def wilson(right: Any, count: Any) -> tuple[Any, Any, Any]:
    """A share, or an array of them, with its 95 % interval (Wilson, 1927, https://doi.org/10.1080/01621459.1927.10502953).

    >>> [round(float(value), 3) for value in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    share, unit = right / np.maximum(count, 1), NORMAL**2 / np.maximum(count, 1)
    middle = (share + unit / 2) / (1 + unit)
    half = np.sqrt(unit * share * (1 - share) + unit**2 / 4) / (1 + unit)
    # Rounding must not push an end past the share itself.
    return share, np.minimum(share, middle - half), np.maximum(share, middle + half)


def match(result: Result, truth: Any) -> Matched:
    """Find the truths' items and classes among the result's."""
    table = read_truth(truth)
    items = _codes(table["item"], result.names.items)
    if (items < 0).all():
        raise DataError(
            f"The truth shares no item with the labels: it has {table['item'][0]!r}, for example, the labels have "
            f"{result.names.items[0]!r}."
        )
    truths = _codes(table["truth"], result.names.classes)
    answered = items >= 0
    if (truths[answered] < 0).all():
        raise DataError(
            f"The truth shares no class with the labels: it has {table['truth'][0]!r}, for example, the labels have "
            f"{result.names.classes[0]!r}."
        )
    return Matched(items[answered], truths[answered], int((~answered).sum()))


def _codes(values: pl.Series, names: pl.Series) -> Array:
    """The code of every value among the names, -1 where it is not one; as text if the types differ."""
    both_integers = values.dtype.is_integer() and names.dtype.is_integer()
    if values.dtype != names.dtype and not both_integers:
        values, names = values.cast(pl.String), names.cast(pl.String)
    elif both_integers:
        values, names = values.cast(pl.Int64), names.cast(pl.Int64)
    table = pl.DataFrame({"value": names}).with_row_index("code")
    codes = pl.DataFrame({"value": values}).join(table, on="value", how="left", maintain_order="left")["code"]
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()
