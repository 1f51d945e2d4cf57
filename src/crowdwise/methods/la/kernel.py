"""LA: decide the items one by one, and count how often each worker was right."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import compiled

_U = np.uint64


@compiled
def stream_votes(
    item_starts: Array,
    workers: Array,
    labels: Array,
    order: Array,
    tolerance: float,
    right: Array,
    given: Array,
    scores: Array,
) -> None:
    """Overwrite `scores` (items, classes) by weighted votes; a vote weighs how often its worker was right so far.

    Items are decided in the order of `order`, a permutation of their numbers. `given` (workers) is how many labels of a
    worker have been looked at, and `right` (workers) how many of them name the winner; a vote weighs `right / given`.
    After each item, the labels of its workers are added to both. Classes tie if their scores differ by no more than
    `tolerance`, relative to the highest; where n classes are tied, a label of one of them adds 1/n to `right`.
    """
    n_classes = scores.shape[1]
    for at in range(order.size):
        i = _U(order[at])
        low, high = _U(item_starts[i]), _U(item_starts[i + _U(1)])
        for k in range(n_classes):
            scores[i, k] = 0.0
        for e in range(low, high):
            j = _U(workers[e])
            scores[i, _U(labels[e])] += right[j] / given[j]
        highest = 0.0
        for k in range(n_classes):
            highest = max(highest, scores[i, k])
        close = highest * (1.0 - tolerance)
        winners = 0
        for k in range(n_classes):
            winners += scores[i, k] >= close
        for e in range(low, high):
            j = _U(workers[e])
            given[j] += 1.0
            if scores[i, _U(labels[e])] >= close:
                right[j] += 1.0 / winners
