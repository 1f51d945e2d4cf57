"""GLAD: the sigmoid of a worker's ability times an item's ease."""

import numpy as np

from .compilation import Array, compiled
from .posteriors import _normalise

_U = np.uint64


@compiled
def _log_sigmoid(x: float) -> float:
    """The logarithm of 1 / (1 + exp(-x)), without overflow."""
    return float(-np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x)))


@compiled
def score_abilities(
    item_starts: Array, workers: Array, labels: Array, ability: Array, log_ease: Array, scores: Array, changes: Array
) -> float:
    """Overwrite the scores by the posteriors of the classes, all equally likely before; returns the log likelihood."""
    n_classes = scores.shape[1]
    spread = np.log(max(n_classes - 1, 1))
    support = np.empty(n_classes)
    total = 0.0
    for i in range(item_starts.size - 1):
        ease = np.exp(log_ease[i])
        wrong = 0.0
        for k in range(n_classes):
            support[k] = -np.log(n_classes)
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            x = ability[_U(workers[e])] * ease
            against = _log_sigmoid(-x) - spread
            support[_U(labels[e])] += _log_sigmoid(x) - against
            wrong += against
        total += wrong + _normalise(support, scores, i, changes)
    return total


@compiled
def ability_objective(
    item_starts: Array,
    workers: Array,
    labels: Array,
    scores: Array,
    ability: Array,
    log_ease: Array,
    prior_precision: float,
    gradient: Array,
) -> float:
    """The negative expected log likelihood and its gradient, by ability and then by log ease.

    With a prior precision, both have a normal prior around one.
    """
    n_workers, n_classes = ability.size, scores.shape[1]
    spread = np.log(max(n_classes - 1, 1))
    total = 0.0
    for p in range(gradient.size):
        gradient[p] = 0.0
    for i in range(item_starts.size - 1):
        ease = np.exp(log_ease[i])
        by_item = 0.0
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            j = _U(workers[e])
            right = scores[i, _U(labels[e])]
            x = ability[j] * ease
            yes = _log_sigmoid(x)
            total -= right * yes + (1.0 - right) * (yes - x - spread)
            slope = (right - np.exp(yes)) * ease
            gradient[j] -= slope
            by_item -= slope * ability[j]
        gradient[n_workers + i] += by_item
        total += 0.5 * prior_precision * (log_ease[i] - 1.0) ** 2
        gradient[n_workers + i] += prior_precision * (log_ease[i] - 1.0)
    for p in range(n_workers):
        total += 0.5 * prior_precision * (ability[p] - 1.0) ** 2
        gradient[p] += prior_precision * (ability[p] - 1.0)
    return total
