"""`worker_values`: what a label of each worker is worth under costs.

This is the quality of a worker of Get-Another-Label (Ipeirotis, Provost and Wang, 2010,
https://doi.org/10.1145/1837885.1837906; Wang, Ipeirotis and Provost, 2017, https://doi.org/10.1287/isre.2016.0661). Of
an item about which nothing is known, class k is true with probability q_k, the prior. The best decision about it costs

    cost(prior) = min over d of  sum_k q_k C[k, d]

A worker with confusion matrix M says s with probability sum_k q_k M[k, s]. After that the best decision costs, on
average over what the worker says,

    cost(worker) = sum_s  min over d of  sum_k q_k M[k, s] C[k, d]

which is never more. The label saves the difference, and the value is this saving as a share of cost(prior).
"""

from typing import Final, NamedTuple

import numpy as np

from ..numerics import Array

# How many numbers are worked on at once; what is computed does not depend on it.
_AT_ONCE: Final = 1 << 18
# What is saved is nothing below this share of the cost, because sums are not more exact.
_ROUNDING: Final = 1e-12


class WorkerValues(NamedTuple):
    """What a label of each worker is worth.

    Attributes:
        value: (workers), the share of the cost without labels that one label saves; NaN where it is not known, and for
            all workers if that cost is zero.
        per_label: (workers), what one label on a new item saves, in the unit of the costs; NaN where it is not known.
    """

    value: Array
    per_label: Array


def expected_costs(probabilities: Array, costs: Array) -> Array:
    """Return (rows, decisions): what each decision is expected to cost, given what is true with which probability.

    Terms are added in the order of the classes, so that a row's costs do not depend on the other rows to the last bit;
    those of a product of matrices may.

    Args:
        probabilities: (rows, classes).
        costs: (classes, decisions).

    >>> expected_costs(np.array([[0.75, 0.25]]), np.array([[0.0, 8.0], [1.0, 0.0]])).tolist()
    [[0.25, 6.0]]
    """
    total = np.zeros((len(probabilities), costs.shape[1]))
    step = max(1, _AT_ONCE // costs.shape[1])
    for first in range(0, len(total), step):
        part, sums = probabilities[first : first + step], total[first : first + step]
        for k, row in enumerate(costs):
            sums += part[:, k, None] * row
    return total


def worker_values(costs: Array, prior: Array, confusion: Array) -> WorkerValues:
    """Return what a label of each worker is worth; see the module.

    Args:
        costs: (classes, decisions).
        prior: (classes), how common each class is.
        confusion: (workers, true class, said class).

    >>> found = worker_values(1 - np.eye(2), np.array([0.5, 0.5]), np.array([np.eye(2), np.full((2, 2), 0.5)]))
    >>> found.value.tolist(), found.per_label.tolist()
    ([1.0, 0.0], [0.5, 0.0])
    """
    n_workers, n_classes = confusion.shape[:2]
    without = expected_costs(prior[None], costs).min()
    after = np.zeros(n_workers)
    step = max(1, _AT_ONCE // n_classes**2)
    for first in range(0, n_workers, step):
        # How probable it is that a worker says s and k is true, by worker, s and k.
        joint = (prior[:, None] * confusion[first : first + step]).swapaxes(1, 2)
        best = expected_costs(joint.reshape(-1, n_classes), costs).min(axis=1)
        after[first : first + step] = best.reshape(-1, n_classes).sum(axis=1)
    return _values(without, after)


def coin_values(costs: Array, prior: Array, quality: Array) -> WorkerValues:
    """Return what a label of each worker is worth, where errors are spread evenly over the wrong classes.

    Args:
        costs: (classes, decisions).
        prior: (classes), how common each class is.
        quality: (workers), the probability that a label is right; NaN if it is not known.

    >>> found = coin_values(1 - np.eye(2), np.array([0.5, 0.5]), np.array([1.0, 0.75, 0.5]))
    >>> found.value.tolist(), found.per_label.tolist()
    ([1.0, 0.5, 0.0], [0.5, 0.25, 0.0])
    """
    n_classes = len(prior)
    of_prior = expected_costs(prior[None], costs)[0]
    after = np.zeros(len(quality))
    for worker, right in enumerate(np.clip(quality, 0.0, 1.0) if n_classes > 1 else np.ones(len(quality))):
        wrong = (1 - right) / max(n_classes - 1, 1)
        # (said class, decision): what every class costs if it is said in error, and the said class as if always right.
        by_said = wrong * of_prior + (right - wrong) * (prior[:, None] * costs)
        after[worker] = by_said.min(axis=1).sum()
    return _values(of_prior.min(), after)


def _values(without: float, after: Array) -> WorkerValues:
    """Return what labels are worth, given the cost without a label, and (workers) that after a label."""
    saved = without - after
    saved[saved < _ROUNDING * without] = 0.0  # also where rounding makes the cost after a label larger
    return WorkerValues(saved / without if without > 0 else np.full(len(after), np.nan), saved)
