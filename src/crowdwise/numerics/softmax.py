r"""`softmax`, its logarithm and `normalise`: probabilities from their logarithms, the end of every E step.

$$ p_k = e^{s_k} / \sum_l e^{s_l} $$

The support s of a class is the logarithm of its probability, up to a constant that is the same for all classes of the
item. A support of -inf means that the class is impossible. If all classes of an item are impossible, all get the same
probability.
"""

import numpy as np

from . import Array


def softmax(logarithms: Array) -> Array:
    """Probabilities that add up to one along the last axis, given their logarithms up to a common constant."""
    weights = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def log_softmax(logits: Array) -> Array:
    """Return the logarithms of `softmax`."""
    lower = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(lower - np.log(np.exp(lower).sum(axis=-1, keepdims=True)))


def log_sum_exp(logarithms: Array) -> Array:
    """Return the logarithm of the sum of the numbers with these logarithms."""
    highest = logarithms.max(axis=-1, keepdims=True)
    return np.asarray(highest[..., 0] + np.log(np.exp(logarithms - highest).sum(axis=-1)))


def normalise(support: Array, scores: Array, changes: Array, negligible: float = np.inf) -> Array:
    """Overwrite `scores` (items, classes) by the probabilities that follow from `support` (items, classes).

    Raises `changes` (classes) to the largest change of a score. A class whose support is `negligible` below the highest
    gets the probability zero. Returns (items), the logarithms of the sums of the exponentials of the supports, which
    are what the items add to the log likelihood; zero if all classes are impossible. Kernels have the function of the
    same name in `softmax_kernel`, for one item.
    """
    by_class = np.ascontiguousarray(support.T)  # NumPy is faster along the long axis
    highest = by_class.max(axis=0)
    possible = highest > -np.inf
    behind = by_class - np.where(possible, highest, 0.0)
    weights = np.where(possible, np.where(behind > -negligible, np.exp(behind), 0.0), 1.0)
    total = weights.sum(axis=0)
    new = weights / total
    np.maximum(changes, np.abs(new - scores.T).max(axis=1, initial=0.0), out=changes)
    scores[:] = new.T
    return np.asarray(np.where(possible, highest + np.log(total), 0.0))
