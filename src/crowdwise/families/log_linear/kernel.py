"""Log-linear methods: fit the matrices of workers and items, and score the items.

When class k is true, the probabilities of what is said are the softmax of row k of the worker's matrix plus row k of
the item's. The exponential of a sum is a product. So the exponentials of all matrices are kept, and called weights:
then a label takes products and one division, and no exponentials.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.small_matrices import solve
from ...numerics.softmax_kernel import normalise
from .model import LONGEST, NEGLIGIBLE, SHORT, STEPS

_U = np.uint64


@compiled
def _fit_row(
    row: Array,
    weights: Array,
    centre: Array,
    ridge: float,
    found: tuple[Array, Array, Array, int],
    gradient: Array,
    hessian: Array,
    chance: Array,
) -> None:
    """Overwrite one `row` of a matrix by the one that fits its labels best, and `weights` by its exponentials.

    The row is drawn to `centre` by the penalty `ridge`. `found` is what there is to fit: the probability of each label
    that the row's class is true; the weights that each label has from the other side (labels, columns); how often each
    column was named; and how many labels there are. The last three arrays are overwritten.
    """
    share, other_rows, named, count = found
    size = row.size
    for _ in range(STEPS):
        for a in range(size):
            gradient[a] = ridge * (row[a] - centre[a]) - named[a]
            for b in range(a):
                hessian[a, b] = 0.0
            hessian[a, a] = ridge
        for e in range(count):
            total = 0.0
            for a in range(size):
                chance[a] = weights[a] * other_rows[e, a]
                total += chance[a]
            inverse = 1.0 / total
            for a in range(size):
                chance[a] *= inverse
                part = share[e] * chance[a]
                gradient[a] += part
                hessian[a, a] += part
                for b in range(a + 1):
                    hessian[a, b] -= part * chance[b]
        solve(hessian, gradient)
        longest = 0.0
        for a in range(size):
            longest = max(longest, abs(gradient[a]))
        scale = min(1.0, LONGEST / max(longest, SHORT))
        highest = -np.inf
        for a in range(size):
            row[a] -= scale * gradient[a]
            highest = max(highest, row[a])
        for a in range(size):
            weights[a] = np.exp(row[a] - highest)  # divided by the largest, so that none overflows
        if longest < SHORT:
            break


@allocating
def fit_matrices(
    group_starts: Array,
    others: Array,
    labels: Array,
    items: Array,
    first: int,
    last: int,
    scores: Array,
    other_weights: Array,
    own: Array,
    own_weights: Array,
    centre: Array,
    ridge: float,
) -> None:
    """Fit the matrices of workers, given those of items; or the matrices of items, given those of workers.

    A group is a worker or an item, whichever is fitted. The labels of group g are those from `group_starts[g]` up to,
    not including, `group_starts[g + 1]`. `items` (labels) is the item of each label; `others` (labels) is its item if
    workers are fitted, and its worker if items are. Only groups from `first` up to, not including, `last` are fitted.

    Overwrites the matrices `own` (groups, true class, said class) and their weights `own_weights`. `other_weights`
    (others, true class, said class) are the weights of the other matrices. Row k of a matrix maximises the expected log
    likelihood of the group's labels, each weighted by the probability in `scores` (items, classes) that class k is true
    on its item, minus ridge / 2 times the squared distance from row k of `centre` (true class, said class).
    """
    n_classes = scores.shape[1]
    gradient, named = np.empty(n_classes), np.empty(n_classes)
    hessian = np.empty((n_classes, n_classes))
    chance = np.empty(n_classes)
    most = 0
    for g in range(first, last):
        most = max(most, group_starts[g + 1] - group_starts[g])
    # Copies of what every step reads, in the order in which it is read: the originals are far apart in memory.
    share, other_rows = np.empty(most), np.empty((most, n_classes))
    for g in range(first, last):
        for k in range(n_classes):
            count = _U(0)
            for a in range(n_classes):
                named[a] = 0.0
            for e in range(_U(group_starts[g]), _U(group_starts[g + 1])):
                score = scores[_U(items[e]), k]
                if score >= NEGLIGIBLE:
                    named[_U(labels[e])] += score
                    share[count] = score
                    for a in range(n_classes):
                        other_rows[count, a] = other_weights[_U(others[e]), k, a]
                    count += _U(1)
            found = (share, other_rows, named, int(count))
            _fit_row(own[g, k], own_weights[g, k], centre[k], ridge, found, gradient, hessian, chance)


@allocating
def score_matrices(
    item_starts: Array,
    workers: Array,
    labels: Array,
    first: int,
    last: int,
    worker_weights: Array,
    item_weights: Array,
    log_prior: Array,
    scores: Array,
    changes: Array,
) -> float:
    """Score the items from `first` up to, not including, `last`, and return the log likelihood of their labels.

    Overwrites their rows of `scores` (items, classes) by the posterior probabilities of the classes, and raises
    `changes` (classes) to the largest change of a score. `worker_weights` (workers, true class, said class) and
    `item_weights` (items, true class, said class) are the exponentials of the matrices; `log_prior` (classes) is the
    logarithm of the classes' probabilities before any label, up to a constant.
    """
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
        log_likelihood += normalise(support, scores, i, changes)
    return log_likelihood
