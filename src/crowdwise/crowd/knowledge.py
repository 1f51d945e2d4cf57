"""`PriorKnowledge`: what is known of a crowd besides its labels: the classes of some items, and earlier labels."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..numerics import Array
from .ids import codes_of

if TYPE_CHECKING:  # labels.py imports this module
    from .labels import Labels


@dataclass(frozen=True, eq=False)
class PriorKnowledge:
    """What is known of a crowd beforehand, besides the classes of items.

    Attributes:
        gold_weight: How many items each item with a known class counts as in what is learned about the workers.
        earlier: What a method counted in earlier labels, by name and with workers in the order of their numbers; None
            if there are none.
        other_workers: The same of workers who gave none of these labels, and which items were counted; a `History`, or
            None.
        label_counts: (2, 3, workers), how right workers were in earlier labels; see `Quality`. None if unknown.
        recalibration: What the gold of earlier labels taught about confidence; a `Recalibration`, or None.
        followers: (pairs, 4), which workers copied others in earlier labels: the number of the follower, the number of
            its leader, how often they agreed, and about how many items. None if nothing is known.
        initial_workers: The workers' parameters that the iterations begin with, because the known classes speak for
            them; workers are in the order of their numbers. None for the method's own start.
        sharpness: (workers), the power that turns the probabilities in the votes of each worker into what they are
            worth; None to take them as they are.
    """

    gold_weight: float = 1.0
    earlier: Mapping[str, Array] | None = None
    other_workers: Any = None
    label_counts: Array | None = None
    recalibration: Any = None
    followers: Array | None = None
    initial_workers: Any = None
    sharpness: Array | None = None

    def with_workers(self, numbers: Array) -> "PriorKnowledge":
        """Return the same with the sharpness of workers in another order."""
        return self if self.sharpness is None else replace(self, sharpness=self.sharpness[numbers])


NOTHING_KNOWN: Final = PriorKnowledge()


class GoldSplit(NamedTuple):
    """Labels split by whether the class of their item is known.

    Attributes:
        open_items: The codes of the items whose class is not known.
        open: The labels of these items.
        gold: For every class that some item is known to have: the class, the codes of these items, and their labels.
    """

    open_items: Array
    open: "Labels"
    gold: "list[tuple[int, Array, Labels]]"

    @classmethod
    def of(cls, labels: "Labels") -> "GoldSplit":
        """Split labels; copies are made only if the class of an item is known."""
        gold = labels.gold
        if gold is None or (gold < 0).all():
            return cls(np.arange(labels.n_items), replace(labels, gold=None), [])
        open_items = np.flatnonzero(gold < 0)
        by_class = [(int(k), np.flatnonzero(gold == k)) for k in np.unique(gold[gold >= 0])]
        parts = [(k, items, replace(labels.select(items), gold=None)) for k, items in by_class]
        return cls(open_items, replace(labels.select(open_items), gold=None), parts)


def gold_classes(items: pl.Series, gold: pl.DataFrame) -> Array:
    """Return the known class of every item, -1 where it is not known; `gold` has the columns item and code."""
    rows = codes_of(items, gold["item"])
    codes = np.append(gold["code"].to_numpy(), -1)
    return np.asarray(codes[rows], np.int64)  # the row -1 is the last one
