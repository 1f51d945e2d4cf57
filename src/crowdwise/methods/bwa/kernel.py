"""BWA for large crowds: the sweep of model.py, as a compiled loop over the labels.

The loop computes a block of classes at once. A block is a tuple of classes; the place of a class in it is called a lane
(see `simd.lanes`). The length of the block, known when it is compiled, is the number of lanes. Every label is read once
for each block.

Some of the code looks odd for speed. `one_hot` is a table (classes, lanes) with 1.0 in the lane of the class said and
0.0 in the others, because reading it is faster than an `if` whose outcome the processor cannot predict. Indices are
unsigned, because with signed ones Numba checks for negative numbers. `is not None` is in an `if` of its own, because
only then Numba removes it when it compiles.
"""

import numpy as np

from ...numerics import Array, elementary
from ...numerics.compilation import allocating
from ...numerics.simd import any_larger, broadcast, distance, fetch, gather, larger, load, scatter, store
from .weights import MOST_LANES

_U = np.uint64
# Tables of more numbers than this do not fit in the cache next to the processor. Then rows are fetched into it so many
# items before they are needed; that takes time, so it is not done for smaller tables.
_FAR, _AHEAD = 1 << 18, 3


def sweep(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    classes: tuple[int, ...],
    weights: tuple[Array, Array] | None,
    lam: float,
    floor: float,
    mirrored: bool,
    scores: Array,
    errors: Array,
    sums: Array,
) -> Array:
    """See model.py."""
    changes = np.zeros((1, scores.shape[1]))
    votes = item_starts, workers, labels, continued
    if 0 < len(classes) <= MOST_LANES:
        given = None if weights is None else (weights[0], weights[1][None])
        sweep_block(*votes, classes, given, lam, floor, mirrored, scores, changes, errors, sums)
        return np.asarray(changes[0])
    for first in range(0, len(classes), MOST_LANES):
        columns = tuple(range(first, first + MOST_LANES))
        block = classes[first : first + MOST_LANES]
        given = None if weights is None else (elementary.columns(weights[0], columns), weights[1][None, columns])
        counted = elementary.columns(errors, columns), elementary.columns(sums, columns)
        sweep_block(*votes, block, given, lam, floor, mirrored, scores, changes, *counted)
        errors[:, columns], sums[:, columns] = counted
    return np.asarray(changes[0])


@allocating
def _one_hot(block: tuple[int, ...], n_classes: int) -> Array:
    """(classes, lanes): 1.0 where the lane is that of the class, 0.0 elsewhere."""
    table = np.zeros((n_classes, len(block)))
    for lane in range(len(block)):
        table[block[lane], lane] = 1.0
    return table


@allocating
def sweep_block(
    item_starts: Array,
    workers: Array,
    labels: Array,
    continued: Array | None,
    block: tuple[int, ...],
    weights: tuple[Array, Array] | None,
    lam: float,
    floor: float,
    mirrored: bool,
    scores: Array,
    changes: Array,
    errors: Array,
    sums: Array,
) -> None:
    """The sweep of the classes in `block`; weights and errors are (workers, lanes), the mean score is (1, lanes).

    Overwrites the columns of these classes in `changes` (1, classes). The rest is as in model.py.
    """
    one_hot = _one_hot(block, scores.shape[1])
    nothing = broadcast(0.0, block)
    prior_total = broadcast(lam, block)
    prior_favour = nothing
    if weights is not None:
        weight, prior_mean = weights
        prior_favour = prior_total * load(prior_mean, _U(0), block)
    floors, change, mirrored_change = broadcast(floor, block), nothing, 0.0
    total_score, total_square = load(sums, _U(0), block), load(sums, _U(1), block)
    is_far = errors.size > _FAR
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        score = gather(scores, i, block)
        if weights is not None:
            if is_far:
                coming = min(i + _AHEAD, item_starts.size - 2)
                for e in range(_U(item_starts[coming]), _U(item_starts[coming + 1])):
                    fetch(weight, _U(workers[e]), block)
                    fetch(errors, _U(workers[e]), block)
            total, favour = prior_total, prior_favour
            for e in range(low, high):
                given = load(weight, _U(workers[e]), block)
                favour = favour + given * load(one_hot, _U(labels[e]), block)
                if continued is not None:
                    if continued[e]:
                        given = nothing
                total = total + given
            new = favour / total
            moved, size = distance(new, score), new + floors
            # Multiplying is faster than dividing, and there is rarely a new maximum.
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
            vote = load(one_hot, _U(labels[e]), block)
            error = (score - vote) * (score - vote)
            if continued is not None:
                # The first row of this vote has counted it as a vote against the class. If this row names the class,
                # replace that by a vote for it.
                if continued[e]:
                    error = vote * (error - square)
            store(errors, j, load(errors, j, block) + error)
    scatter(changes, 0, block, change)
    if mirrored:
        changes[0, 1] = mirrored_change
    store(sums, _U(0), total_score)
    store(sums, _U(1), total_square)
