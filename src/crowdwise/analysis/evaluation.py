"""`accuracy`: the share of items whose inferred label is the true one, given a known truth."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ..data.ids import comparable
from ..data.reading import read_truth
from ..errors import CallError, DataError
from ..kernels import Array
from ..results.inferred import Inferred
from ..results.result import TIE, Result

# The quantile of the normal distribution that gives a 95 % interval.
NORMAL: Final = 1.959963984540054


@dataclass(frozen=True, eq=False)
class Matched:
    """A known truth as codes, which are positions among the names of a result.

    Attributes:
        items: The codes of the items whose truth is known and that have an answer.
        truths: The codes of their true classes; -1 if no label in the whole crowd names that class.
        unanswered: The number of items whose truth is known but that have no answer, because they have no label.
    """

    items: Array
    truths: Array
    unanswered: int


def accuracy(result: Inferred, truth: Any) -> float:
    """Return the share of items whose inferred label is the true one.

    If m classes are tied and the true class is one of them, the item counts as 1/m. Only items that have a label and a
    known truth count. If no worker ever named the true class, the answer is wrong.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.

    Raises:
        DataError: The truth has no item or no class in common with the labels.

    >>> import crowdwise as cw
    >>> labels = cw.Labels.from_arrays([1, 1, 2], ["ann", "bob", "ann"], ["cat", "dog", "cat"])
    >>> accuracy(cw.MajorityVote().fit(labels), {1: "dog", 2: "cat"})
    0.75
    """
    if not hasattr(result, "about"):
        raise CallError(f"result is a {type(result).__name__}, and has to be what fit returns.")
    known = read_truth(truth)
    measured = result.about(known["item"])
    return float(hits(measured, match(measured, known)).mean())


def hits(result: Result, matched: Matched) -> Array:
    """Return, for every item with a known truth, 1 if its inferred label is the true one and 0 if it is not.

    If m classes are tied and the true class is one of them, the value is 1/m.
    """
    best = result.confidence[matched.items, None]
    scores = result.scores[matched.items]
    winners = scores >= best - TIE * np.abs(best)
    true = winners[np.arange(len(winners)), matched.truths] & (matched.truths >= 0)
    return np.asarray(true / winners.sum(axis=1))


def wilson(right: Any, count: Any) -> tuple[Any, Any, Any]:
    """Return the share right / count and the two ends of its 95 % interval; the arguments may be arrays.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953.

    >>> [round(float(value), 3) for value in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    share, unit = right / np.maximum(count, 1), NORMAL**2 / np.maximum(count, 1)
    middle = (share + unit / 2) / (1 + unit)
    half = np.sqrt(unit * share * (1 - share) + unit**2 / 4) / (1 + unit)
    # Without this, rounding errors could make the lower end larger than the share, or the upper end smaller.
    return share, np.minimum(share, middle - half), np.maximum(share, middle + half)


def match(result: Result, truth: Any) -> Matched:
    """Find the items and classes of a truth among those of a result.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.

    Raises:
        DataError: The truth has no item or no class in common with the labels.
    """
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
    """Return the position of every value among the names, or -1; they may be of different data types."""
    values, names = comparable(values, names)
    table = pl.DataFrame({"value": names}).with_row_index("code")
    codes = pl.DataFrame({"value": values}).join(table, on="value", how="left", maintain_order="left")["code"]
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()
