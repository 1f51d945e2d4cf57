"""`lower_agreement`: whether items of known class are more disputed than others, so that they look chosen.

An item of known class counts as several in what is learned about workers, which is right if such items are drawn at
random. If they were chosen because workers differ on them, those who are outvoted would look worse than they are. What
is counted once is right however items were chosen, as long as they were chosen by their labels.
"""

import math
from typing import Final

import numpy as np
import polars as pl

from ..crowd.knowledge import NOTHING_KNOWN
from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..crowd.votes import shares
from ..numerics import Array
from .engines.base import count_labels

# Gold was chosen if the share of the most frequent answer is lower in it by so many standard errors.
_CLEARLY_DISPUTED: Final = 2.5


def lower_agreement(crowd: Crowd, gold: pl.DataFrame) -> tuple[float, float] | None:
    """Return the share of votes of the most frequent answer, in gold items and in others, if it is clearly lower.

    None if it is not clearly lower, or if there is nothing to compare. `gold` has the columns item and code.
    """
    ((known, others),) = count_labels(crowd.with_known(gold, NOTHING_KNOWN), _count_agreement, "looking at gold")
    if min(known[0], others[0]) < 2:
        return None
    means = known[1] / known[0], others[1] / others[0]
    variance = max(others[2] / others[0] - means[1] ** 2, 0.0)
    error = math.sqrt(variance * (1 / known[0] + 1 / others[0]))
    return means if means[0] < means[1] - _CLEARLY_DISPUTED * error else None


def _count_agreement(labels: Labels) -> tuple[Array]:
    """Return (2, 3), for the gold items of a part and for its others: how many there are, and two sums over them.

    These are of the share of votes that the most frequent answer has, and of its square.
    """
    largest = shares(labels).max(axis=1, initial=0.0)
    is_gold = np.zeros(labels.n_items, bool) if labels.gold is None else labels.gold >= 0
    return (np.array([[one.size, one.sum(), (one**2).sum()] for one in (largest[is_gold], largest[~is_gold])]),)
