"""`normalise` for one item, as kernels call it; see `softmax`."""

import numpy as np

from . import Array
from .compilation import compiled

_U = np.uint64


@compiled
def normalise(support: Array, scores: Array, i: int, changes: Array, negligible: float = np.inf) -> float:
    """Overwrite row i of `scores` (items, classes) by the probabilities that follow from `support` (classes).

    Raises `changes` (classes) to the largest change of a score, and overwrites `support`. A class whose support is
    `negligible` below the highest gets the probability zero. Returns the logarithm of the sum of the exponentials of
    the supports, which is what the item adds to the log likelihood; zero if all classes are impossible.
    """
    # Most methods spend most of their time here. So this compares by `if`, which is faster than `max`, and divides
    # once.
    n_classes = _U(support.size)
    highest = support[0]
    for k in range(n_classes):
        if support[k] > highest:
            highest = support[k]
    possible = highest > -np.inf
    total = 0.0
    for k in range(n_classes):
        if not possible:  # if all classes are impossible, all get the same probability
            support[k] = 1.0
        elif support[k] > highest - negligible:
            support[k] = np.exp(support[k] - highest)
        else:
            support[k] = 0.0
        total += support[k]
    inverse = 1.0 / total
    for k in range(n_classes):
        new = support[k] * inverse
        moved = abs(new - scores[i, k])
        if moved > changes[k]:
            changes[k] = moved
        scores[i, k] = new
    return highest + np.log(total) if possible else 0.0
