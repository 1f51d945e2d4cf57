"""Workers with one accuracy each: score the items, and count right labels."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating
from ...numerics.softmax_kernel import normalise

_U = np.uint64


@allocating
def sweep_coins(
    item_starts: Array,
    workers: Array,
    labels: Array,
    coins: tuple[Array, Array, Array] | None,
    scores: Array,
    changes: Array,
    right: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """See model.py."""
    n_classes = scores.shape[1]
    support = np.empty(n_classes)
    if coins is not None:
        evidence, against, log_prior = coins
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        if coins is not None:
            wrong = 0.0
            for k in range(n_classes):
                support[k] = log_prior[k]
            for e in range(low, high):
                support[_U(labels[e])] += evidence[_U(workers[e])]
                wrong += against[_U(workers[e])]
            log_likelihood[0] += wrong + normalise(support, scores, i, changes)
        for k in range(n_classes):
            classes[k] += scores[i, k]
        for e in range(low, high):
            right[_U(workers[e])] += scores[i, _U(labels[e])]
