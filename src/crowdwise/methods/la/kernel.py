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
    """See method.py."""
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
