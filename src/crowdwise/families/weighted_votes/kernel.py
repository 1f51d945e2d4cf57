"""A sweep of weighted votes, compiled."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating

_U = np.uint64


@allocating
def sweep_votes(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weight: Array | None,
    tolerance: float,
    scores: Array,
    changes: Array,
    given: Array,
    agreed: Array,
) -> None:
    """See model.py."""
    n_classes = scores.shape[1]
    total = np.zeros(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        if weight is not None:
            for k in range(n_classes):
                total[k] = 0.0
            for e in range(low, high):
                total[_U(labels[e])] += weight[_U(workers[e])]
            for k in range(n_classes):
                changes[k] = max(changes[k], abs(total[k] - scores[i, k]))
                scores[i, k] = total[k]
        highest = -np.inf
        for k in range(n_classes):
            highest = max(highest, scores[i, k])
        close = highest - tolerance * abs(highest)
        winners = 0
        for k in range(n_classes):
            winners += scores[i, k] >= close
        for e in range(low, high):
            given[_U(workers[e])] += 1.0
            if scores[i, _U(labels[e])] >= close:
                agreed[_U(workers[e])] += 1.0 / winners
