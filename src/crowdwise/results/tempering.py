"""`tempered`: make probabilities less certain, or more."""

import numpy as np

from ..numerics import Array
from .pooling import MOST_CLASSES
from .ties import TIE


def tempered(probabilities: Array, power: float) -> Array:
    """Return probabilities raised to a power and divided by their sum; below 1 they become less certain.

    Powers of many small probabilities would together outweigh a large one. So if there are more than 16 classes and the
    power is below 1, all but the 15 best of an item are taken for one class, whose part they share as before. Equal
    probabilities stay equal, and larger ones larger.

    Args:
        probabilities: (items, classes), the probabilities of every item; they add up to one.
        power: The power.

    >>> tempered(np.array([[0.9, 0.1]]), 0.5).round(2).tolist()
    [[0.75, 0.25]]
    """
    if power == 1 or len(probabilities) == 0:
        return probabilities
    n_classes = probabilities.shape[1]
    if n_classes <= MOST_CLASSES or power > 1:
        # Relative to the best class, so that no power is too small for a number.
        raised = (probabilities / probabilities.max(axis=1, keepdims=True)) ** power
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))
    last = np.partition(probabilities, n_classes - MOST_CLASSES, axis=1)[:, n_classes - MOST_CLASSES, None]
    # Classes that are tied with the last one are all among the rest, also if rounding makes them differ.
    best = probabilities > last * (1 + TIE)
    rest = np.where(best, 0.0, probabilities).sum(axis=1, keepdims=True)
    # Without anything left for the others, they keep nothing.
    shared = np.divide(rest**power, rest, out=np.zeros_like(rest), where=rest > 0)
    raised = np.where(best, probabilities**power, probabilities * shared)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
