"""GLAD: the sigmoid of a worker's ability times an item's ease."""

import numpy as np

from .compilation import Array, compiled
from .posteriors import _normalise

_U = np.uint64
_LARGE = 1e300


@compiled
def score_abilities(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    ability: Array,
    log_ease: Array,
    scores: Array,
    changes: Array,
) -> None:
    """Overwrite the scores of items from `first` up to `last` by the posteriors of classes equally likely before."""
    n_classes = scores.shape[1]
    spread = np.log(max(n_classes - 1, 1))
    support = np.empty(n_classes)
    for i in range(first, last):
        ease = np.exp(log_ease[i])
        for k in range(n_classes):
            support[k] = 0.0
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            # The log odds of a sigmoid are its argument.
            support[_U(labels[e])] += ability[_U(workers[e])] * ease + spread
        _normalise(support, scores, i, changes)


@compiled
def ability_objective(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    scores: Array,
    ability: Array,
    log_ease: Array,
    by_worker: Array,
    by_item: Array,
) -> float:
    """The negative expected log likelihood of the items from `first` up to `last`, and its gradient.

    The gradient by ability is added to `by_worker`; that by log ease overwrites those items in `by_item`.
    """
    spread = np.log(max(scores.shape[1] - 1, 1))
    total, product = 0.0, 1.0
    for i in range(first, last):
        ease = np.exp(log_ease[i])
        gradient = 0.0
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            j = _U(workers[e])
            right = scores[i, _U(labels[e])]
            x = ability[j] * ease
            # With t = exp(-|x|), log sigmoid(x) is min(x, 0) - log(1 + t): one logarithm for many factors of at most 2.
            t = np.exp(-abs(x))
            product *= 1.0 + t
            if product > _LARGE:
                total += np.log(product)
                product = 1.0
            total += (1.0 - right) * (x + spread) - min(x, 0.0)
            slope = (right - (1.0 if x > 0 else t) / (1.0 + t)) * ease
            by_worker[j] -= slope
            gradient -= slope * ability[j]
        by_item[i] = gradient
    return float(total + np.log(product))
