"""Comparisons of every two workers: what they said about the same items, and how far that is beyond one common truth.

A comparison is a vote of one worker and a vote of another worker on the same item. `shared` is (workers, workers,
classes): `shared[j, k, a]` is the number of comparisons of workers j and k in which j says class a. `compared` and
`agreed` are (workers, workers): the number of all comparisons, and of those in which both say the same.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled

_U = np.uint64


@allocating
def compare_workers(
    item_starts: Array, workers: Array, labels: Array, n_workers: int, n_classes: int
) -> tuple[Array, Array]:
    """Compare the votes of every two workers on the same items.

    Returns `shared` and `agreed`. Nobody is compared with itself.
    """
    shared = np.zeros((n_workers, n_workers, n_classes), np.int32)
    agreed = np.zeros((n_workers, n_workers), np.int32)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            # All comparisons of one vote are counted in one row of each array, which stays in the processor's cache.
            said = _U(labels[e])
            shared_row, agreed_row = shared[_U(workers[e])], agreed[_U(workers[e])]
            for f in range(low, high):
                shared_row[_U(workers[f]), said] += 1
                agreed_row[_U(workers[f])] += _U(labels[f]) == said
    for j in range(n_workers):
        agreed[j, j] = 0
        shared[j, j] = 0
    return shared, agreed


@compiled
def _chance(shared: Array, shares: Array, j: int, k: int, compared: float, least: float) -> tuple[float, float]:
    """How often two workers would agree if what they say had nothing to do with each other, and the scale of more.

    The first is the sum over the classes of the product of their shares; agreement above it, divided by the second, is
    a correlation. The shares are those on the items of both, because items come in batches that differ. Two labels of
    the worker's usual `shares` (workers, classes) are added, for workers who have few items in common. `least` is the
    least spread of what a worker says: without it, agreement of workers who say nearly always the same class would
    count for very much.
    """
    chance, one, other = 0.0, 1.0, 1.0
    for a in range(shares.shape[1]):
        first = (shared[j, k, a] + 2.0 * shares[j, a]) / (compared + 2.0)
        second = (shared[k, j, a] + 2.0 * shares[k, a]) / (compared + 2.0)
        chance += first * second
        one -= first * first
        other -= second * second
    return chance, np.sqrt(max(one, least)) * np.sqrt(max(other, least))


@allocating
def correlate_workers(shared: Array, agreed: Array, compared: Array, shares: Array, least: float) -> Array:
    """(workers, workers): how much more often than by chance two workers agree, as a correlation from -1 to 1.

    It is 0 for workers who have no item in common, and on the diagonal. See `_chance` for `shares` and `least`.
    """
    correlation = np.zeros(agreed.shape)
    for j in range(agreed.shape[0]):
        for k in range(j):
            if compared[j, k] > 0:
                count = float(compared[j, k])
                chance, scale = _chance(shared, shares, j, k, count, least)
                beyond = (agreed[j, k] / count - chance) * count / (count + 2.0)
                correlation[j, k] = min(max(beyond / scale, -1.0), 1.0)
                correlation[k, j] = correlation[j, k]
    return correlation


@allocating
def expect_agreement(shared: Array, compared: Array, shares: Array, least: float, common: Array) -> Array:
    """(workers, workers): which share of the comparisons would agree if workers had nothing but the truth in common.

    `common` (workers) is the correlation of every worker with the truth. This is `correlate_workers` turned around.
    """
    agreement = np.zeros(compared.shape)
    for j in range(compared.shape[0]):
        for k in range(j):
            if compared[j, k] > 0:
                count = float(compared[j, k])
                chance, scale = _chance(shared, shares, j, k, count, least)
                expected = chance + common[j] * common[k] * scale * (count + 2.0) / count
                agreement[j, k] = min(max(expected, 0.0), 1.0)
                agreement[k, j] = agreement[j, k]
    return agreement


@allocating
def fit_common_truth(
    correlation: Array, compared: Array, common: Array, prior: float, strength: float, deviation: float
) -> Array:
    """(workers): the correlation of every worker with the truth, given those of the others in `common` (workers).

    It is fitted to the worker's correlations with others by least squares, weighted by how many comparisons these are
    from; `prior` is worth `strength` comparisons. Correlations that are far above the product of the two workers'
    own count less: there, workers have more in common than the truth. Far is in units of twice the standard error,
    which has `deviation` added, for what no number of comparisons would remove.
    """
    fitted = np.empty(common.size)
    for j in range(common.size):
        top, bottom = strength * prior, strength
        for k in range(common.size):
            count = float(compared[j, k])
            # The square of the excess over twice the standard error, with its fractions multiplied out.
            excess = max(correlation[j, k] - common[j] * common[k], 0.0)
            scale = 4.0 + 4.0 * deviation * deviation * count
            weight = count * scale / (scale + excess * excess * count)
            top += weight * correlation[j, k] * common[k]
            bottom += weight * common[k] * common[k]
        fitted[j] = top / bottom
    return fitted


@allocating
def compare_outside(
    item_starts: Array, workers: Array, labels: Array, block_of: Array, n_blocks: int, n_classes: int
) -> tuple[Array, Array, Array]:
    """Compare members of blocks with workers outside, and these with each other, where members are compared.

    `block_of` (workers) is the block of every worker, -1 for none. An item counts as often as there are comparisons of
    members on it, and only if it has two votes from outside or more.

    Returns (blocks, 3) the number of comparisons, and how many of those of members with others and of others with each
    other agree; and (blocks, classes) how often members, and others, say each class.
    """
    counts = np.zeros((n_blocks, 3))
    inside, outside = np.zeros((n_blocks, n_classes)), np.zeros((n_blocks, n_classes))
    said = np.zeros(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            block = block_of[_U(workers[e])]
            if block < 0:
                continue
            members, others = 0.0, 0.0
            said[:] = 0.0
            for f in range(low, high):
                if block_of[_U(workers[f])] != block:
                    others += 1.0
                    said[_U(labels[f])] += 1.0
                elif workers[f] != workers[e]:
                    members += 1.0
            if members == 0.0 or others < 2.0:
                continue
            counts[block, 0] += members
            counts[block, 1] += members * said[_U(labels[e])] / others
            inside[block, _U(labels[e])] += members
            for a in range(n_classes):
                counts[block, 2] += members * said[a] * (said[a] - 1.0) / (others * (others - 1.0))
                outside[block, a] += members * said[a] / others
    return counts, inside, outside


@allocating
def cross_tabulate(
    item_starts: Array, workers: Array, labels: Array, place_of: Array, n_places: int, n_classes: int
) -> Array:
    """(places, places, classes, classes): in how many comparisons of two workers each of them says which class.

    `place_of` (workers) is the place of every worker who is compared, -1 for others.
    """
    counts = np.zeros((n_places, n_places, n_classes, n_classes), np.int64)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            first = place_of[_U(workers[e])]
            for f in range(low, high):
                second = place_of[_U(workers[f])]
                if first >= 0 and second >= 0 and first != second:
                    counts[first, second, _U(labels[e]), _U(labels[f])] += 1
    return counts


@allocating
def leave_out_followers(item_starts: Array, workers: Array, leader_of: Array, weights: Array) -> None:
    """Set the weight of a label to zero if the worker has a leader who labelled the item, too.

    `leader_of` (workers) is the leader of every worker, -1 for none. Overwrites some of `weights` (labels).
    """
    labelled = np.full(leader_of.size, -1)  # the last item of every worker
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        for e in range(low, high):
            labelled[_U(workers[e])] = i
        for e in range(low, high):
            leader = leader_of[_U(workers[e])]
            if leader >= 0 and labelled[leader] == i:
                weights[e] = 0.0
