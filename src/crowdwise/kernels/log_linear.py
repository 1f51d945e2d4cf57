"""Log-linear confusion: a worker's matrix plus an item's, through a softmax; solved row by row by Newton's method.

The exponential of a sum is a product: with the exponentials of both matrices, which are few beside the labels, what a
label adds takes products and one division.
"""

import numpy as np

from .compilation import Array, compiled
from .posteriors import _normalise

_U = np.uint64
# Newton converges in a few steps on these strictly convex problems; a longer step than this is cut.
_STEPS = 20
_LONGEST = 4.0
# A label that says less than this of a class is left out.
_NEGLIGIBLE = 1e-12
# After a step this short the next one would be about its square.
_SHORT = 1e-3


@compiled
def _solve(matrix: Array, vector: Array) -> None:
    """Overwrite `vector` by the solution of a positive definite system; `matrix` becomes its Cholesky factor."""
    size = vector.size
    for a in range(size):
        for b in range(a + 1):
            total = matrix[a, b]
            for c in range(b):
                total -= matrix[a, c] * matrix[b, c]
            matrix[a, b] = np.sqrt(total) if a == b else total / matrix[b, b]
    for a in range(size):
        for b in range(a):
            vector[a] -= matrix[a, b] * vector[b]
        vector[a] /= matrix[a, a]
    for a in range(size - 1, -1, -1):
        for b in range(a + 1, size):
            vector[a] -= matrix[b, a] * vector[b]
        vector[a] /= matrix[a, a]


@compiled
def _weigh(row: Array, weights: Array) -> None:
    """Write the exponentials of a row, relative to the largest."""
    highest = -np.inf
    for a in range(row.size):
        highest = max(highest, row[a])
    for a in range(row.size):
        weights[a] = np.exp(row[a] - highest)


@compiled
def fit_matrices(
    first: int,
    last: int,
    group_starts: Array,
    items: Array,
    others: Array,
    labels: Array,
    scores: Array,
    other_weights: Array,
    own: Array,
    own_weights: Array,
    centre: Array,
    ridge: float,
) -> None:
    """Fit the matrices `own` (groups, classes, classes) of workers given those of items, or the other way round.

    Groups are workers or items, and the labels of group g are those from `group_starts[g]` on; only groups from `first`
    up to `last` are fitted. Row k maximises the expected log likelihood of them under the softmax of own + others,
    weighted by the probability that class k is true, less ridge / 2 times the squared distance from `centre`. Weights
    are exponentials; those of `own` are kept up with it.
    """
    n_classes = scores.shape[1]
    gradient, named = np.empty(n_classes), np.empty(n_classes)
    hessian = np.empty((n_classes, n_classes))
    chance = np.empty(n_classes)
    most = 0
    for g in range(first, last):
        most = max(most, group_starts[g + 1] - group_starts[g])
    # What every step reads, in the order it is read: the others' weights are far apart in memory.
    share, near = np.empty(most), np.empty((most, n_classes))
    for g in range(first, last):
        for k in range(n_classes):
            count = _U(0)
            for a in range(n_classes):
                named[a] = 0.0
            for e in range(_U(group_starts[g]), _U(group_starts[g + 1])):
                score = scores[_U(items[e]), k]
                if score >= _NEGLIGIBLE:
                    named[_U(labels[e])] += score
                    share[count] = score
                    for a in range(n_classes):
                        near[count, a] = other_weights[_U(others[e]), k, a]
                    count += _U(1)
            row, weights = own[g, k], own_weights[g, k]
            for _ in range(_STEPS):
                for a in range(n_classes):
                    gradient[a] = ridge * (row[a] - centre[k, a]) - named[a]
                    for b in range(a):
                        hessian[a, b] = 0.0
                    hessian[a, a] = ridge
                for e in range(count):
                    total = 0.0
                    for a in range(n_classes):
                        chance[a] = weights[a] * near[e, a]
                        total += chance[a]
                    inverse = 1.0 / total
                    for a in range(n_classes):
                        chance[a] *= inverse
                        part = share[e] * chance[a]
                        gradient[a] += part
                        hessian[a, a] += part
                        for b in range(a + 1):
                            hessian[a, b] -= part * chance[b]
                _solve(hessian, gradient)
                longest = 0.0
                for a in range(n_classes):
                    longest = max(longest, abs(gradient[a]))
                scale = min(1.0, _LONGEST / max(longest, _SHORT))
                for a in range(n_classes):
                    row[a] -= scale * gradient[a]
                _weigh(row, weights)
                if longest < _SHORT:
                    break


@compiled
def score_matrices(
    first: int,
    last: int,
    item_starts: Array,
    workers: Array,
    labels: Array,
    worker_weights: Array,
    item_weights: Array,
    log_prior: Array,
    scores: Array,
    changes: Array,
) -> float:
    """Overwrite the scores of items from `first` up to `last` by the posteriors; returns the log likelihood."""
    n_classes = scores.shape[1]
    support = np.empty(n_classes)
    log_likelihood = 0.0
    for i in range(first, last):
        for k in range(n_classes):
            support[k] = log_prior[k]
            for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
                j, y = _U(workers[e]), _U(labels[e])
                total = 0.0
                for a in range(n_classes):
                    total += worker_weights[j, k, a] * item_weights[i, k, a]
                support[k] += np.log(worker_weights[j, k, y] * item_weights[i, k, y] / total)
        log_likelihood += _normalise(support, scores, i, changes)
    return log_likelihood
