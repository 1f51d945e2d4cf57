"""Posterior probabilities of the classes of an item from their supports, and the sweep of workers that are coins.

Supports are logarithms: -inf, an impossible class, is allowed, and an item
for which every class is impossible gets the same probability for each.
"""

import numpy as np

from .compilation import Array, compiled

_U = np.uint64


@compiled
def _normalise(support: Array, scores: Array, i: int, changes: Array, negligible: float = np.inf) -> float:
    """Write the probabilities that go with `support` as row i; returns the logarithm of what they were divided by.

    A class that is `negligible` nats behind the best is impossible.
    """
    # Comparing by `if` instead of by `max` and dividing once: this is where most of the time of most methods goes.
    n_classes = _U(support.size)
    highest = support[0]
    for k in range(n_classes):
        if support[k] > highest:
            highest = support[k]
    possible = highest > -np.inf
    total = 0.0
    for k in range(n_classes):
        if not possible:  # where all is impossible, all is equally likely
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


@compiled
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
    """Score and count where every worker is right with a probability of its own.

    `coins` is three arrays: `evidence[j]`, what a label of worker j adds to the support of its class; `against[j]`,
    what the label would be worth if it were wrong, added to the log likelihood; and `log_prior[k]`, the support of
    class k before any label. Without coins, scores stay as they are.

    Adds to `right` the probability that each label is right, by worker, and to `classes` the scores by item.
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
