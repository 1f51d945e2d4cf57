"""Workers with confusion matrices: score the items, and count what each worker says of each class."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.simd import broadcast, distance, exponential, fetch, larger, largest, load, store, total, where_larger
from ...numerics.softmax_kernel import normalise

_U = np.uint64
_LARGE = 1e300
# The rows of the label that is this many labels ahead are fetched into the cache: the processor does not look so far
# ahead by itself.
_AHEAD = _U(24)


@allocating
def sweep_confusions(
    item_starts: Array,
    workers: Array,
    labels: Array,
    block: tuple[int, ...] | None,
    parameters: tuple[Array, Array] | None,
    negligible: float,
    scores: Array,
    changes: Array,
    confusion: Array,
    classes: Array,
    log_likelihood: Array,
) -> None:
    """Score every item by the posterior probabilities of its classes, and count what each worker says of each class.

    `block` is a tuple of all classes, if they are few enough for a register (see `simd.lanes`), and None if they are
    not. `parameters` is two arrays. The first (workers * said classes, true classes) is what a label adds to the
    support of each true class: the row of worker j who says class y is j times the number of classes that can be said,
    plus y. The second (true classes) is the support of each class before any label. Supports are as in `softmax`. If
    `parameters` is None, scores stay as they are. Classes whose support is `negligible` below that of the best get the
    probability zero.

    Overwrites `scores` (items, true classes). Raises `changes` (true classes) to the largest change of a score. Adds
    the scores of every item to `classes` (true classes), and for each label of the item to `confusion` (workers, said
    class, true class), in the row of its worker and the class said. Adds to `log_likelihood` (1) the log likelihood of
    the labels.
    """
    n_said, counts = confusion.shape[1], confusion.reshape(-1, scores.shape[1])
    votes = (item_starts, workers, labels)
    if block is not None:
        log_likelihood[0] += _sweep_few(*votes, block, n_said, parameters, negligible, scores, changes, counts, classes)
    if block is None:
        log_likelihood[0] += _sweep_many(*votes, n_said, parameters, negligible, scores, changes, counts, classes)


@compiled
def _sweep_few(
    item_starts: Array,
    workers: Array,
    labels: Array,
    block: tuple[int, ...],
    n_said: int,
    parameters: tuple[Array, Array] | None,
    negligible: float,
    scores: Array,
    changes: Array,
    counts: Array,
    classes: Array,
) -> float:
    """`sweep_confusions` with all classes of an item in one register; returns the log likelihood.

    `counts` is `confusion` in the shape (workers * said classes, true classes), and `n_said` the number of classes that
    can be said.
    """
    width, row_of_classes, row_of_changes = _U(n_said), classes.reshape(1, -1), changes.reshape(1, -1)
    prior = broadcast(0.0, block)
    if parameters is not None:
        rows, log_prior = parameters
        prior = load(log_prior.reshape(1, -1), _U(0), block)
    by_class, moved = load(row_of_classes, _U(0), block), load(row_of_changes, _U(0), block)
    ones, nothing, threshold = broadcast(1.0, block), broadcast(0.0, block), broadcast(-negligible, block)
    log_total, product = 0.0, 1.0
    last = _U(max(workers.size, 1) - 1)
    for i in range(_U(item_starts.size - 1)):
        low, high = _U(item_starts[i]), _U(item_starts[i + _U(1)])
        score = load(scores, i, block)
        if parameters is not None:
            support = prior
            for e in range(low, high):
                ahead = min(e + _AHEAD, last)
                row = _U(workers[ahead]) * width + _U(labels[ahead])
                fetch(rows, row, block)
                fetch(counts, row, block)
                support = support + load(rows, _U(workers[e]) * width + _U(labels[e]), block)
            highest = largest(support)
            weights = ones  # if all classes are impossible, all get the same probability
            if highest > -np.inf:
                behind = support - broadcast(highest, block)
                weights = where_larger(behind, threshold, exponential(behind, block), nothing)
                log_total += highest
                # Logarithms are slow: multiply many totals, and take one logarithm of the product before it overflows.
                product *= total(weights)
                if product > _LARGE:
                    log_total += np.log(product)
                    product = 1.0
            new = weights * broadcast(1.0 / total(weights), block)
            moved = larger(moved, distance(new, score))
            store(scores, i, new)
            score = new
        by_class = by_class + score
        for e in range(low, high):
            row = _U(workers[e]) * width + _U(labels[e])
            store(counts, row, load(counts, row, block) + score)
    store(row_of_classes, _U(0), by_class)
    store(row_of_changes, _U(0), moved)
    return float(log_total + np.log(product))


@allocating
def _sweep_many(
    item_starts: Array,
    workers: Array,
    labels: Array,
    n_said: int,
    parameters: tuple[Array, Array] | None,
    negligible: float,
    scores: Array,
    changes: Array,
    counts: Array,
    classes: Array,
) -> float:
    """`sweep_confusions` for any number of classes; arguments and return value are those of `_sweep_few`."""
    n_classes, width = _U(scores.shape[1]), _U(n_said)
    support, possible = np.empty(n_classes), np.empty(n_classes, np.uint64)
    log_total = 0.0
    if parameters is not None:
        rows, log_prior = parameters
    for i in range(_U(item_starts.size - 1)):
        low, high = _U(item_starts[i]), _U(item_starts[i + _U(1)])
        if parameters is not None:
            for k in range(n_classes):
                support[k] = log_prior[k]
            for e in range(low, high):
                row = _U(workers[e]) * width + _U(labels[e])
                for k in range(n_classes):
                    support[k] += rows[row, k]
            log_total += normalise(support, scores, i, changes, negligible)
        # Most of many classes have the probability zero: only the others are counted.
        n_possible = _U(0)
        for k in range(n_classes):
            if scores[i, k] > 0.0:
                classes[k] += scores[i, k]
                possible[n_possible] = k
                n_possible += _U(1)
        for e in range(low, high):
            row = _U(workers[e]) * width + _U(labels[e])
            for p in range(n_possible):
                counts[row, possible[p]] += scores[i, possible[p]]
    return log_total
