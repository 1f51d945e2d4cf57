"""GLAD for large crowds: the two functions of model.py as loops over the labels."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.softmax_kernel import normalise

_U = np.uint64
_LARGE = 1e300


@allocating
def e_step(
    item_starts: Array,
    workers: Array,
    labels: Array,
    gold: Array,
    ability: Array,
    log_ease: Array,
    scores: Array,
    changes: Array,
) -> None:
    """See model.py."""
    n_classes = scores.shape[1]
    log_others = np.log(max(n_classes - 1, 1))
    support = np.empty(n_classes)
    for i in range(log_ease.size):
        ease = np.exp(log_ease[i])
        for k in range(n_classes):
            support[k] = 0.0 if gold[i] < 0 or gold[i] == k else -np.inf
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            # The logarithm of the odds of a probability sigmoid(x) is x.
            support[_U(labels[e])] += ability[_U(workers[e])] * ease + log_others
        normalise(support, scores, i, changes)


@compiled
def m_step_objective(
    item_starts: Array,
    workers: Array,
    labels: Array,
    scores: Array,
    ability: Array,
    log_ease: Array,
    by_worker: Array,
    by_item: Array,
) -> float:
    """See model.py."""
    log_others = np.log(max(scores.shape[1] - 1, 1))
    total, product = 0.0, 1.0
    for i in range(log_ease.size):
        ease = np.exp(log_ease[i])
        gradient = 0.0
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            j = _U(workers[e])
            right = scores[i, _U(labels[e])]
            x = ability[j] * ease
            # With t = exp(-|x|), log sigmoid(x) is min(x, 0) - log(1 + t). Logarithms are slow, so many factors 1 + t
            # are multiplied, and one logarithm is taken of the product before it overflows.
            t = np.exp(-abs(x))
            product *= 1.0 + t
            if product > _LARGE:
                total += np.log(product)
                product = 1.0
            total += (1.0 - right) * (x + log_others) - min(x, 0.0)
            slope = (right - (1.0 if x > 0 else t) / (1.0 + t)) * ease
            by_worker[j] -= slope
            gradient -= slope * ability[j]
        by_item[i] = gradient
    return float(total + np.log(product))
