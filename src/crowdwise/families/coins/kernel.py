"""Posterior probabilities of an item's classes, and the sweep for workers with one accuracy each.

The support of a class is the logarithm of its probability, up to a constant that is the same for all classes of the
item. A support of -inf means that the class is impossible. If all classes of an item are impossible, all get the same
probability.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled

_U = np.uint64


@compiled
def _normalise(support: Array, scores: Array, i: int, changes: Array, negligible: float = np.inf) -> float:
    """Overwrite row i of `scores` (items, classes) by the probabilities that follow from `support` (classes).

    Raises `changes` (classes) to the largest change of a score, and overwrites `support`. A class whose support is
    `negligible` below the highest gets the probability zero. Returns the logarithm of the sum of the exponentials of
    the supports, which is what the item adds to the log likelihood; zero if all classes are impossible.
    """
    # Most methods spend most of their time here. So this compares by `if`, which is faster than `max`, and divides
    # once.
    n_classes = _U(support.size)
    highest = support[0]
    for k in range(n_classes):
        if support[k] > highest:
            highest = support[k]
    possible = highest > -np.inf
    total = 0.0
    for k in range(n_classes):
        if not possible:  # if all classes are impossible, all get the same probability
            support[k] = 1.0
        elif support[k] > highest - negligible:
            support[k] = np.exp(support[k] - highest)
        else:
            support[k] = 0.0
        total += support[k]
    inverse = 1.0 / total
    for k in range(n_classes):
        new = support[k] * inverse
        moved = abs(new - scores[i, k])
        if moved > changes[k]:
            changes[k] = moved
        scores[i, k] = new
    return highest + np.log(total) if possible else 0.0


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
    """Score the items and count right labels, where every worker is right with a probability of its own.

    `coins` is three arrays: what a label adds to the support of the class that it names (workers); the logarithm of the
    probability of a label if another class is true (workers), which is added to the log likelihood; and the support of
    each class before any label (classes). If `coins` is None, scores stay as they are.

    Overwrites `scores` (items, classes). Raises `changes` (classes) to the largest change of a score. Adds to `right`
    (workers) the probability that each label of the worker is right, to `classes` (classes) the scores of every item,
    and to `log_likelihood` (1) the log likelihood of the labels.
    """
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
            log_likelihood[0] += wrong + _normalise(support, scores, i, changes)
        for k in range(n_classes):
            classes[k] += scores[i, k]
        for e in range(low, high):
            right[_U(workers[e])] += scores[i, _U(labels[e])]
