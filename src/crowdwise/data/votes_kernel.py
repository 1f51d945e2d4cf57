"""How far the labels of items disagree, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating

_U = np.uint64


@allocating
def disagreement(item_starts: Array, workers: Array, labels: Array, votes: Array, out: Array) -> None:
    """See `votes.disagreement`; this form needs no table of items and classes."""
    total, named = np.zeros(out.size), np.zeros(out.size)
    for i in range(votes.size):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            named[_U(labels[e])] += 1.0
        for e in range(low, high):
            k = _U(labels[e])
            share = named[k] / votes[i]
            total[k] += (item_starts[i + 1] - item_starts[i]) * share * (1.0 - share)
            named[k] = 0.0  # this class is done: further labels of it add nothing
    out += total
