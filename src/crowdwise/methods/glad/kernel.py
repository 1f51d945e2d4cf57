"""GLAD: scores, objectives and gradients from the abilities of workers and the eases of items.

A label is right with the probability sigmoid(ability of its worker * ease of its item). `ability` is (workers), and
`log_ease` (items) is the logarithm of the ease. All kernels work on the items from `first` up to, not including,
`last`. `gold` (items) is the class of an item if it is known, and -1 if it is not.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.softmax_kernel import normalise

_U = np.uint64
_LARGE = 1e300


@allocating
def score_abilities(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    gold: Array,
    ability: Array,
    log_ease: Array,
    scores: Array,
    changes: Array,
) -> None:
    """Overwrite the rows of these items in `scores` (items, classes) by the posterior probabilities of their classes.

    Before any label, all classes are equally likely. Raises `changes` (classes) to the largest change of a score.
    """
    n_classes = scores.shape[1]
    spread = np.log(max(n_classes - 1, 1))
    support = np.empty(n_classes)
    for i in range(first, last):
        ease = np.exp(log_ease[i])
        for k in range(n_classes):
            support[k] = 0.0 if gold[i] < 0 or gold[i] == k else -np.inf
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            # The logarithm of the odds of a probability sigmoid(x) is x.
            support[_U(labels[e])] += ability[_U(workers[e])] * ease + spread
        normalise(support, scores, i, changes)


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
    """Return the negative expected log likelihood of these items under `scores` (items, classes); compute its gradient.

    The gradient by ability is added to `by_worker` (workers). The gradient by log ease overwrites these items in
    `by_item` (items).
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
            # With t = exp(-|x|), log sigmoid(x) is min(x, 0) - log(1 + t). Logarithms are slow, so many factors 1 + t
            # are multiplied, and one logarithm is taken of the product before it overflows.
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


@allocating
def marginal_objective(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    gold: Array,
    n_classes: int,
    ability: Array,
    log_ease: Array,
    by_worker: Array,
    by_item: Array,
) -> float:
    """Return the negative log likelihood of these items, summed over the classes, which are equally likely a priori.

    Also computes its gradient and an estimate of its second derivatives: the Fisher information that the labels would
    have if it were known which of them are right. That is never below zero. The derivatives by ability are added to
    `by_worker` (2, workers), and the derivatives by log ease overwrite these items in `by_item` (2, items): row 0 has
    the gradient, row 1 the second derivatives.
    """
    spread = np.log(max(n_classes - 1, 1))
    most = 0
    for i in range(first, last):
        most = max(most, item_starts[i + 1] - item_starts[i])
    chance = np.empty(most)  # for each label of one item, the probability that it is right if no other label is known
    support, posterior, changes = np.empty(n_classes), np.zeros((1, n_classes)), np.zeros(n_classes)
    total, product = 0.0, 1.0
    for i in range(first, last):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        ease = np.exp(log_ease[i])
        for k in range(n_classes):
            support[k] = 0.0 if gold[i] < 0 or gold[i] == k else -np.inf
        for e in range(low, high):
            x = ability[_U(workers[e])] * ease
            # As in `ability_objective`. To the log likelihood, a wrong label adds log sigmoid(-x) - spread, and a right
            # label adds x + spread more than that.
            t = np.exp(-abs(x))
            product *= 1.0 + t
            if product > _LARGE:
                total += np.log(product)
                product = 1.0
            total += max(x, 0.0) + spread
            support[_U(labels[e])] += x + spread
            chance[e - low] = (1.0 if x > 0 else t) / (1.0 + t)
        total -= normalise(support, posterior, 0, changes)
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
