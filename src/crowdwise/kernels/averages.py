"""Bayesian Weighted Average, each class against the rest, a block of classes at a time.

A block is a tuple of classes: its length, known when a kernel is compiled, is the number of lanes (see `lanes`), and it
may repeat its last class to be full. Every label is read once for a block. `in_favour` is 1.0 in the lane of the class
said and 0.0 in the others: a table look-up beats a branch that the processor cannot predict. Indices are made unsigned,
because Numba looks for negative ones otherwise. Whether a vote continues is asked in an `if` of its own: Numba removes
`is not None` only where it stands alone.
"""

import numpy as np

from .compilation import Array, compiled
from .lanes import any_larger, distance, gather, larger, load, scatter, spread, store

_U = np.uint64


@compiled
def _in_favour(block: tuple[int, ...], n_classes: int) -> Array:
    table = np.zeros((n_classes, len(block)))
    for lane in range(len(block)):
        table[block[lane], lane] = 1.0
    return table


@compiled
def weighted_averages(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    block: tuple[int, ...],
    weight: Array,
    prior_weight: float,
    prior_mean: Array,
    floor: float,
    scores: Array,
    changes: Array,
) -> None:
    """The scores of the classes in `block`: the average vote, with `prior_weight` for the mean.

    `weight` is (workers, lanes), `prior_mean` (1, lanes). Overwrites the classes' columns of `scores`, and of `changes`
    (1, classes) by the largest change there, relative to the new score plus `floor`.
    """
    in_favour = _in_favour(block, scores.shape[1])
    nothing = spread(0.0, block)
    prior_total = spread(prior_weight, block)
    prior_favour = prior_total * load(prior_mean, _U(0), block)
    floors, change = spread(floor, block), spread(0.0, block)
    for i in range(item_starts.size - 1):
        total, favour = prior_total, prior_favour
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            given = load(weight, _U(workers[e]), block)
            favour = favour + given * load(in_favour, _U(labels[e]), block)
            if continued is not None:
                if continued[e]:
                    given = nothing
            total = total + given
        new = favour / total
        moved, size = distance(new, gather(scores, i, block)), new + floors
        # Multiplying beats dividing, and a new maximum is rare.
        if any_larger(moved, change * size):
            change = larger(change, moved / size)
        scatter(scores, i, block, new)
    scatter(changes, 0, block, change)


@compiled
def mirror(scores: Array, floor: float) -> float:
    """Make the score of class 1 what is missing to one in that of class 0; returns the largest change of it."""
    change = 0.0
    for i in range(scores.shape[0]):
        new = 1.0 - scores[i, 0]
        change = max(change, abs(new - scores[i, 1]) / (new + floor))
        scores[i, 1] = new
    return change


@compiled
def squared_errors(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    block: tuple[int, ...],
    scores: Array,
    errors: Array,
    sums: Array,
) -> None:
    """For the classes in `block`: squares of (score - vote) added up by worker, and sums of scores and their squares.

    Adds to `errors` (workers, lanes) and overwrites `sums` (2, lanes).
    """
    in_favour = _in_favour(block, scores.shape[1])
    total = squares = spread(0.0, block)
    for i in range(item_starts.size - 1):
        score = gather(scores, i, block)
        square = score * score
        total = total + score
        squares = squares + square
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            j = _U(workers[e])
            vote = load(in_favour, _U(labels[e]), block)
            error = (score - vote) * (score - vote)
            if continued is not None:
                # The vote stands as one against the class already; if it names the class, exchange that.
                if continued[e]:
                    error = vote * (error - square)
            store(errors, j, load(errors, j, block) + error)
    store(sums, _U(0), total)
    store(sums, _U(1), squares)


@compiled
def average_variances(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    block: tuple[int, ...],
    scores: Array,
    weight: Array,
    bend: Array,
    prior_weight: float,
    out: Array,
) -> None:
    """Posterior variance of the scores: the inverse curvature of the likelihood with the weights integrated out.

    The curvature is prior_weight + sum_j v_j - sum_j bend_j (z - y)^2, never below the prior's; `weight` and `bend`,
    which is 2 v_j^2 / (a + n_j), are (workers, lanes).
    """
    in_favour = _in_favour(block, scores.shape[1])
    one, prior = spread(1.0, block), spread(prior_weight, block)
    for i in range(item_starts.size - 1):
        score = gather(scores, i, block)
        curvature = prior
        for e in range(_U(item_starts[i]), _U(item_starts[i + 1])):
            j = _U(workers[e])
            given = load(weight, j, block)
            vote = load(in_favour, _U(labels[e]), block)
            error = (score - vote) * (score - vote)
            if continued is not None:
                if continued[e]:
                    error = vote * (error - score * score)
                    curvature = curvature - given
            curvature = curvature + given - load(bend, j, block) * error
        scatter(out, i, block, one / larger(curvature, prior))
