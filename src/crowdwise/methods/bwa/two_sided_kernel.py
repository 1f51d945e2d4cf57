"""BWA with weights per label: votes for a class and votes against it have different weights."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating

_U = np.uint64


@allocating
def sweep_two_sided(
    item_starts: Array,
    workers: Array,
    labels: Array,
    weights: tuple[Array, Array, Array] | None,
    mean_weight: float,
    change_floor: float,
    scores: Array,
    errors_for: Array,
    errors_against: Array,
    sums: Array,
) -> Array:
    """See two_sided.py."""
    n_classes = scores.shape[1]
    changes, support, total = np.zeros(n_classes), np.empty(n_classes), np.empty(n_classes)
    if weights is not None:
        weight_for, weight_against, mean = weights
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        if weights is not None:
            for k in range(n_classes):
                support[k] = mean_weight * mean[k]
                total[k] = mean_weight
            for e in range(low, high):
                j, y = _U(workers[e]), _U(labels[e])
                for k in range(n_classes):
                    total[k] += weight_against[j, k]
                total[y] += weight_for[j, y] - weight_against[j, y]
                support[y] += weight_for[j, y]
            for k in range(n_classes):
                new = support[k] / total[k]
                changes[k] = max(changes[k], abs(new - scores[i, k]) / (abs(new) + change_floor))
                scores[i, k] = new
                votes_for = support[k] - mean_weight * mean[k]
                votes_against = total[k] - mean_weight - votes_for
                sums[1, k] += (votes_for * (1.0 - new) + votes_against * new) / total[k]
        for k in range(n_classes):
            sums[0, k] += scores[i, k]
        for e in range(low, high):
            j, y = _U(workers[e]), _U(labels[e])
            for k in range(n_classes):
                errors_against[j, k] += scores[i, k] ** 2
            errors_against[j, y] -= scores[i, y] ** 2
            errors_for[j, y] += (1.0 - scores[i, y]) ** 2
    return changes
