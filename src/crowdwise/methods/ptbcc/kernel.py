"""PTBCC for large crowds: the sweep of model.py as a loop over the labels."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating
from ...numerics.softmax_kernel import normalise

_U = np.uint64


@allocating
def sweep_prototypes(
    item_starts: Array,
    workers: Array,
    labels: Array,
    log_matrix: Array,
    mixtures: tuple[Array, Array] | None,
    scores: Array,
    changes: Array,
    mixture: Array,
    matrix: Array,
    classes: Array,
    raw_mixture: Array,
    raw_matrix: Array,
) -> None:
    """See model.py."""
    n_prototypes, n_classes = log_matrix.shape[0], scores.shape[1]
    most = 0
    for i in range(item_starts.size - 1):
        most = max(most, item_starts[i + 1] - item_starts[i])
    share = np.empty((most, n_prototypes))
    support = np.zeros(n_classes)
    if mixtures is not None:
        log_mixture, log_prior = mixtures
    for i in range(item_starts.size - 1):
        low, high = item_starts[i], item_starts[i + 1]
        if mixtures is not None:
            for k in range(n_classes):
                support[k] = log_prior[k]
        for e in range(low, high):
            j, y = _U(workers[e]), _U(labels[e])
            highest, total = -np.inf, 0.0
            for s in range(n_prototypes):
                value = 0.0
                for k in range(n_classes):
                    value += scores[i, k] * log_matrix[s, y, k]
                if mixtures is not None:
                    value += log_mixture[j, s]
                share[e - low, s] = value
                highest = max(highest, share[e - low, s])
            for s in range(n_prototypes):
                if mixtures is not None:
                    share[e - low, s] = np.exp(share[e - low, s] - highest)
                if mixtures is None:
                    raw_mixture[j, s] += share[e - low, s]
                    for k in range(n_classes):
                        raw_matrix[s, y, k] += share[e - low, s] * scores[i, k]
                total += share[e - low, s]
            for s in range(n_prototypes):
                share[e - low, s] /= total
                mixture[j, s] += share[e - low, s]
                for k in range(n_classes):
                    support[k] += share[e - low, s] * log_matrix[s, y, k]
        if mixtures is not None:
            normalise(support, scores, i, changes)
        for k in range(n_classes):
            classes[k] += scores[i, k]
        for e in range(low, high):
            y = _U(labels[e])
            for s in range(n_prototypes):
                for k in range(n_classes):
                    matrix[s, y, k] += share[e - low, s] * scores[i, k]
