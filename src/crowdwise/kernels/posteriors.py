"""Posterior probabilities of the classes of every item, for workers with confusion matrices and for coins.

Both sweeps score and count item by item. Supports are logarithms: -inf, an impossible class, is allowed, and an item
for which every class is impossible gets the same probability for each.
"""

import numpy as np

from .compilation import Array, compiled
from .lanes import load, store

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
def sweep_confusions(
    item_starts: Array,
    workers: Array,
    labels: Array,
    block: tuple[int, ...] | None,
    evidence: Array,
    log_prior: Array,
    rescore: bool,
    negligible: float,
    scores: Array,
    changes: Array,
    confusion: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """Score and count with a confusion matrix for every worker.

    `evidence` (workers, said class, true class) is what a label adds to the support of each class. Overwrites `scores`
    (unless not `rescore`) and the largest change of each class; adds to `confusion`, of the same shape, the
    probabilities of the true classes by worker and label, to `classes` those by item, and the log likelihood. Classes
    that are `negligible` nats behind the best get no probability. `block` is a tuple of all classes if they are few
    enough to be kept in registers (see `lanes`), or None.
    """
    n_classes, n_said = _U(scores.shape[1]), _U(evidence.shape[1])
    rows, counts = evidence.reshape(-1, scores.shape[1]), confusion.reshape(-1, scores.shape[1])
    prior, support = log_prior.reshape(1, -1), np.empty((1, scores.shape[1]))
    possible = np.empty(n_classes, np.uint64)
    log_total = 0.0
    for i in range(_U(item_starts.size - 1)):
        low, high = _U(item_starts[i]), _U(item_starts[i + _U(1)])
        if rescore:
            if block is not None:
                sums = load(prior, _U(0), block)
                for e in range(low, high):
                    sums = sums + load(rows, _U(workers[e]) * n_said + _U(labels[e]), block)
                store(support, _U(0), sums)
            if block is None:
                for k in range(n_classes):
                    support[0, k] = log_prior[k]
                for e in range(low, high):
                    row = _U(workers[e]) * n_said + _U(labels[e])
                    for k in range(n_classes):
                        support[0, k] += rows[row, k]
            log_total += _normalise(support[0], scores, i, changes, negligible)
        for k in range(n_classes):
            classes[k] += scores[i, k]
        if block is not None:
            score = load(scores, i, block)
            for e in range(low, high):
                row = _U(workers[e]) * n_said + _U(labels[e])
                store(counts, row, load(counts, row, block) + score)
        if block is None:
            # Most items have settled on few of many classes: the others need no counting.
            n_possible = _U(0)
            for k in range(n_classes):
                if scores[i, k] > 0.0:
                    possible[n_possible] = k
                    n_possible += _U(1)
            for e in range(low, high):
                row = _U(workers[e]) * n_said + _U(labels[e])
                for p in range(n_possible):
                    counts[row, possible[p]] += scores[i, possible[p]]
    log_likelihood[0] += log_total


@compiled
def sweep_coins(
    item_starts: Array,
    workers: Array,
    labels: Array,
    evidence: Array,
    against: Array,
    log_prior: Array,
    rescore: bool,
    scores: Array,
    changes: Array,
    right: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """Score and count where a label of worker j adds `evidence[j]` to the support of its class.

    `against[j]` is added to the log likelihood: what the label would be worth if it were wrong. Adds to `right` the
    probability that each label is right, by worker, and to `classes` the scores by item.
    """
    n_classes = scores.shape[1]
    support = np.empty(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        if rescore:
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
