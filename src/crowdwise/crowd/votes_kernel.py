"""The functions of votes.py of the same names, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating

_U = np.uint64


@allocating
def count_votes(item_starts: Array, workers: Array, labels: Array, continued: Array | None, n_workers: int) -> Array:
    """See `votes.votes_per_worker`."""
    votes = np.zeros(n_workers, np.int64)
    for e in range(workers.size):
        votes[_U(workers[e])] += 1
        if continued is not None:
            votes[_U(workers[e])] -= continued[e]
    return votes


@allocating
def count_agreements(item_starts: Array, workers: Array, labels: Array, answers: Array, n_workers: int) -> Array:
    """See `votes.agreements`."""
    agreed = np.zeros(n_workers, np.int64)
    for i in range(item_starts.size - 1):
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            agreed[_U(workers[e])] += labels[e] == answers[i]
    return agreed


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


@allocating
def said_by_others(item_starts: Array, workers: Array, labels: Array, n_classes: int) -> Array:
    """See `votes.said_by_others`."""
    said = np.full(labels.size, -1, np.int32)
    counts = np.zeros(n_classes, np.int64)
    for i in range(item_starts.size - 1):
        first, last = item_starts[i], item_starts[i + 1]
        for e in range(first, last):
            counts[labels[e]] += 1
        for e in range(first, last):
            counts[labels[e]] -= 1
            most, tied = labels[e], last - first == 1
            for f in range(first, last):  # only classes that are said on the item
                if counts[labels[f]] > counts[most]:
                    most = labels[f]
            for f in range(first, last):
                tied |= labels[f] != most and counts[labels[f]] == counts[most]
            counts[labels[e]] += 1
            if not tied:
                said[e] = most
        for e in range(first, last):
            counts[labels[e]] = 0
    return said
