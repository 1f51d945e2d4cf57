"""Bayesian Weighted Average, one class against the rest."""

import numpy as np

from .compilation import Array, compiled


@compiled
def weighted_average(
    item_starts: Array,
    workers: Array,
    labels: Array,
    set_valued: bool,
    in_favour: Array,
    weight: Array,
    prior_weight: float,
    prior_mean: float,
    out: Array,
) -> None:
    """BWA's score of one class: the average vote, weighted by worker, with one prior vote for the mean.

    `in_favour` is 1.0 for the class and 0.0 for the others: a table look-up is faster than a branch that the
    processor cannot predict.
    """
    for i in range(item_starts.size - 1):
        total = prior_weight
        favour = prior_weight * prior_mean
        for e in range(item_starts[i], item_starts[i + 1]):
            given = weight[workers[e]]
            favour += given * in_favour[labels[e]]
            if not (set_valued and e > item_starts[i] and workers[e] == workers[e - 1]):
                total += given
        out[i] = favour / total


@compiled
def squared_errors(
    item_starts: Array,
    workers: Array,
    labels: Array,
    set_valued: bool,
    in_favour: Array,
    scores: Array,
    n_workers: int,
) -> tuple[Array, float, float]:
    """Per worker, the sum of (score - vote)^2 for one class; and the sum of the scores and of their squares."""
    errors = np.zeros(n_workers)
    total = squares = 0.0
    for i in range(item_starts.size - 1):
        score = scores[i]
        total += score
        squares += score * score
        for e in range(item_starts[i], item_starts[i + 1]):
            difference = score - in_favour[labels[e]]
            error = difference * difference
            if set_valued and e > item_starts[i] and workers[e] == workers[e - 1]:
                # The vote stands as one against the class already; if it names the class, exchange that.
                error = in_favour[labels[e]] * (error - score * score)
            errors[workers[e]] += error
    return errors, total, squares


@compiled
def average_variance(
    item_starts: Array,
    workers: Array,
    labels: Array,
    set_valued: bool,
    in_favour: Array,
    scores: Array,
    weight: Array,
    evidence: Array,
    prior_weight: float,
    out: Array,
) -> None:
    """Posterior variance of BWA's score of one class: the inverse curvature with the weights integrated out.

    The curvature is prior_weight + sum_j v_j - 2 sum_j v_j^2 (z - y)^2 / evidence_j, never below the prior's.
    """
    for i in range(item_starts.size - 1):
        curvature = prior_weight
        for e in range(item_starts[i], item_starts[i + 1]):
            given = weight[workers[e]]
            difference = scores[i] - in_favour[labels[e]]
            bend = 2.0 * given * given / evidence[workers[e]]
            if set_valued and e > item_starts[i] and workers[e] == workers[e - 1]:
                exchange = difference * difference - scores[i] * scores[i]
                curvature -= in_favour[labels[e]] * bend * exchange
            else:
                curvature += given - bend * difference * difference
        out[i] = 1.0 / max(curvature, prior_weight)
