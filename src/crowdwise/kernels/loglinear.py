"""Log-linear confusion: a worker's matrix plus an item's, through a softmax; solved row by row by Newton's method."""

import numpy as np

from .compilation import Array, compiled
from .posteriors import _normalise

# Newton converges in a few steps on these strictly convex problems; a longer step than this is cut.
_STEPS = 20
_LONGEST = 4.0
_ENOUGH = 1e-6


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
def _softmax(row: Array, offset: Array, out: Array) -> float:
    """Write softmax(row + offset); returns the logarithm of what was divided by."""
    highest = -np.inf
    for k in range(row.size):
        out[k] = row[k] + offset[k]
        highest = max(highest, out[k])
    total = 0.0
    for k in range(row.size):
        out[k] = np.exp(out[k] - highest)
        total += out[k]
    for k in range(row.size):
        out[k] /= total
    return float(highest + np.log(total))


@compiled
def fit_matrices(
    group_starts: Array,
    entries: Array,
    item_of: Array,
    other_of: Array,
    labels: Array,
    scores: Array,
    others: Array,
    own: Array,
    centre: Array,
    ridge: float,
) -> None:
    """Fit the matrices `own` (groups, classes, classes) of workers given those of items, or the other way round.

    The labels of group g are `entries[group_starts[g]]` and on. Row k maximises the expected log likelihood of them
    under the softmax of own + others, weighted by the probability that class k is true, less ridge / 2 times the
    squared distance from `centre`.
    """
    n_classes = scores.shape[1]
    gradient = np.empty(n_classes)
    hessian = np.empty((n_classes, n_classes))
    chance = np.empty(n_classes)
    for g in range(group_starts.size - 1):
        for k in range(n_classes):
            row = own[g, k]
            for _ in range(_STEPS):
                for a in range(n_classes):
                    gradient[a] = ridge * (row[a] - centre[k, a])
                    for b in range(n_classes):
                        hessian[a, b] = ridge if a == b else 0.0
                for at in range(group_starts[g], group_starts[g + 1]):
                    e = entries[at]
                    weight = scores[item_of[e], k]
                    if weight < 1e-12:
                        continue
                    _softmax(row, others[other_of[e], k], chance)
                    gradient[labels[e]] -= weight
                    for a in range(n_classes):
                        gradient[a] += weight * chance[a]
                        hessian[a, a] += weight * chance[a]
                        for b in range(a + 1):
                            hessian[a, b] -= weight * chance[a] * chance[b]
                largest = 0.0
                for a in range(n_classes):
                    largest = max(largest, abs(gradient[a]))
                if largest < _ENOUGH:
                    break
                _solve(hessian, gradient)
                longest = 0.0
                for a in range(n_classes):
                    longest = max(longest, abs(gradient[a]))
                scale = min(1.0, _LONGEST / longest)
                for a in range(n_classes):
                    row[a] -= scale * gradient[a]


@compiled
def score_matrices(
    item_starts: Array,
    workers: Array,
    labels: Array,
    worker_matrices: Array,
    item_matrices: Array,
    log_prior: Array,
    scores: Array,
    changes: Array,
) -> float:
    """Overwrite the scores by the posteriors of the classes; returns the log likelihood."""
    n_classes = scores.shape[1]
    support, chance = np.empty(n_classes), np.empty(n_classes)
    total = 0.0
    for i in range(item_starts.size - 1):
        for k in range(n_classes):
            support[k] = log_prior[k]
            for e in range(item_starts[i], item_starts[i + 1]):
                row, offset = worker_matrices[workers[e], k], item_matrices[i, k]
                divided = _softmax(row, offset, chance)
                support[k] += row[labels[e]] + offset[labels[e]] - divided
        total += _normalise(support, scores, i, changes)
    return total
