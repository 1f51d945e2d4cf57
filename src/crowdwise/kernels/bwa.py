"""Bayesian Weighted Average, each class against the rest, a block of classes at a time.

A block is a tuple of classes: its length, known when a kernel is compiled, is the number of lanes (see `lanes`), and it
may repeat its last class to be full. Every label is read once for a block. `in_favour` is 1.0 in the lane of the class
said and 0.0 in the others: a table look-up beats a branch that the processor cannot predict. Indices are made unsigned,
because Numba looks for negative ones otherwise. Whether a vote continues is asked in an `if` of its own: Numba removes
`is not None` only where it stands alone.
"""

import numpy as np

from .compilation import Array, compiled
from .simd import any_larger, distance, gather, larger, load, scatter, spread, store

_U = np.uint64


@compiled
def _in_favour(block: tuple[int, ...], n_classes: int) -> Array:
    table = np.zeros((n_classes, len(block)))
    for lane in range(len(block)):
        table[block[lane], lane] = 1.0
    return table


@compiled
def sweep_averages(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    block: tuple[int, ...],
    weights: tuple[Array, Array] | None,
    prior_weight: float,
    floor: float,
    mirrored: bool,
    scores: Array,
    changes: Array,
    errors: Array,
    sums: Array,
) -> None:
    """Score the classes in `block` and count the errors, item by item: nothing is read from memory twice.

    A score is the average vote. `weights` is two arrays: what each worker's vote weighs (workers, lanes), and the prior
    mean (1, lanes), which weighs `prior_weight`. Overwrites the classes' columns of `scores`, and of `changes` (1,
    classes) by the largest change there, relative to the new score plus `floor`; if `mirrored`, class 1 gets what is
    missing to one in class 0. Without weights, scores stay as they are.

    Adds to `errors` (workers, lanes) the squares of (score - vote), and to `sums` (2, lanes) the scores and their
    squares.
    """
    in_favour = _in_favour(block, scores.shape[1])
    nothing = spread(0.0, block)
    prior_total = spread(prior_weight, block)
    prior_favour = nothing
    if weights is not None:
        weight, prior_mean = weights
        prior_favour = prior_total * load(prior_mean, _U(0), block)
    floors, change, mirrored_change = spread(floor, block), nothing, 0.0
    total_score, total_square = load(sums, _U(0), block), load(sums, _U(1), block)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        score = gather(scores, i, block)
        if weights is not None:
            total, favour = prior_total, prior_favour
            for e in range(low, high):
                given = load(weight, _U(workers[e]), block)
                favour = favour + given * load(in_favour, _U(labels[e]), block)
                if continued is not None:
                    if continued[e]:
                        given = nothing
                total = total + given
            new = favour / total
            moved, size = distance(new, score), new + floors
            # Multiplying beats dividing, and a new maximum is rare.
            if any_larger(moved, change * size):
                change = larger(change, moved / size)
            scatter(scores, i, block, new)
            score = new
            if mirrored:
                rest = 1.0 - scores[i, 0]
                rest_moved = abs(rest - scores[i, 1])
                if rest_moved > mirrored_change * (rest + floor):
                    mirrored_change = rest_moved / (rest + floor)
                scores[i, 1] = rest
        square = score * score
        total_score, total_square = total_score + score, total_square + square
        for e in range(low, high):
            j = _U(workers[e])
            vote = load(in_favour, _U(labels[e]), block)
            error = (score - vote) * (score - vote)
            if continued is not None:
                # The vote stands as one against the class already; if it names the class, exchange that.
                if continued[e]:
                    error = vote * (error - square)
            store(errors, j, load(errors, j, block) + error)
    scatter(changes, 0, block, change)
    if mirrored:
        changes[0, 1] = mirrored_change
    store(sums, _U(0), total_score)
    store(sums, _U(1), total_square)


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
