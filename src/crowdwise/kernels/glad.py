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


@compiled
def marginal_objective(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    n_classes: int,
    ability: Array,
    log_ease: Array,
    by_worker: Array,
    by_item: Array,
) -> float:
    """The negative log likelihood of the items from `first` up to `last`, summed over classes that are equally likely.

    `by_worker` and `by_item` have two rows. The first is for the gradient, the second for the information that a label
    has on the parameter where it is known whether the label is right: a curvature that is never below zero. What is by
    ability is added to `by_worker`; what is by log ease overwrites those items in `by_item`.
    """
    spread = np.log(max(n_classes - 1, 1))
    most = 0
    for i in range(first, last):
        most = max(most, item_starts[i + 1] - item_starts[i])
    chance = np.empty(most)  # that each label of an item is right, before the others are known
    support, posterior, changes = np.empty(n_classes), np.zeros((1, n_classes)), np.zeros(n_classes)
    total, product = 0.0, 1.0
    for i in range(first, last):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        ease = np.exp(log_ease[i])
        for k in range(n_classes):
            support[k] = 0.0
        for e in range(low, high):
            x = ability[_U(workers[e])] * ease
            # As above. If the label is wrong, it adds log sigmoid(-x) - spread; if it is right, x + spread more.
            t = np.exp(-abs(x))
            product *= 1.0 + t
            if product > _LARGE:
                total += np.log(product)
                product = 1.0
            total += max(x, 0.0) + spread
            support[_U(labels[e])] += x + spread
            chance[e - low] = (1.0 if x > 0 else t) / (1.0 + t)
        total -= _normalise(support, posterior, 0, changes)
        gradient, information = 0.0, 0.0
        for e in range(low, high):
            j = _U(workers[e])
            right = chance[e - low]
            slope = (posterior[0, _U(labels[e])] - right) * ease
            known = right * (1.0 - right) * ease * ease
            by_worker[0, j] -= slope
            by_worker[1, j] += known
            gradient -= slope * ability[j]
            information += known * ability[j] * ability[j]
        by_item[0, i] = gradient
        by_item[1, i] = information
    return float(total + np.log(product))
