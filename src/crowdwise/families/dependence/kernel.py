"""The kernel of `compare_workers`, for large crowds."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating

_U = np.uint64


@allocating
def compare_workers(
    item_starts: Array, workers: Array, labels: Array, n_workers: int, n_classes: int
) -> tuple[Array, Array]:
    """See `pairs.compare_workers`."""
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
