"""Counts of votes, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating, compiled

_U = np.uint64


@allocating
def votes_per_item(item_starts: Array, continued: Array | None) -> Array:
    """(items): how many votes every item has."""
    votes = np.empty(item_starts.size - 1, np.int32)
    for i in range(votes.size):
        votes[i] = item_starts[i + 1] - item_starts[i]
        if continued is not None:
            for e in range(item_starts[i], item_starts[i + 1]):
                votes[i] -= continued[e]
    return votes


@allocating
def votes_per_worker(workers: Array, continued: Array | None, n_workers: int) -> Array:
    """(workers): how many votes every worker gave."""
    votes = np.zeros(n_workers, np.int64)
    for e in range(workers.size):
        votes[_U(workers[e])] += 1
        if continued is not None:
            votes[_U(workers[e])] -= continued[e]
    return votes


@compiled
def vote_shares(item_starts: Array, labels: Array, votes: Array, out: Array) -> None:
    """Overwrite `out` (items, classes) by the share of the item's votes that name the class; `votes` is (items)."""
    for i in range(votes.size):
        out[i] = 0.0
        for e in range(item_starts[i], item_starts[i + 1]):
            out[i, labels[e]] += 1.0
        # Whole numbers are divided, so that equal shares are equal to the last bit.
        for k in range(out.shape[1]):
            out[i, k] /= votes[i]


@allocating
def disagreement(item_starts: Array, labels: Array, votes: Array, n_classes: int) -> Array:
    """(classes): the sum over the items of n s (1 - s), for an item with n labels, s of whose votes name the class.

    s is a share, from 0 to 1. `votes` (items) is how many votes every item has.
    """
    total = np.zeros(n_classes)
    named = np.zeros(n_classes)
    for i in range(votes.size):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            named[_U(labels[e])] += 1.0
        for e in range(low, high):
            k = _U(labels[e])
            share = named[k] / votes[i]
            total[k] += (item_starts[i + 1] - item_starts[i]) * share * (1.0 - share)
            named[k] = 0.0  # this class is done: further labels of it add nothing
    return total


@allocating
def agreements(item_starts: Array, workers: Array, labels: Array, answers: Array, n_workers: int) -> Array:
    """(workers): how many labels of every worker name the answer to their item; `answers` (items) is a class each."""
    agreed = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            agreed[_U(workers[e])] += labels[e] == answers[i]
    return agreed
