"""How many labels of every worker are expected to be right, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating

_U = np.uint64


@allocating
def expected_right(
    item_starts: Array, workers: Array, labels: Array, evidence: Array, prior: Array
) -> tuple[Array, Array]:
    """See `quality.expected_right`. Classes that an item's labels do not name have the rest of the prior."""
    right = np.zeros(evidence.size)
    variance = np.zeros(evidence.size)
    support = np.zeros(prior.size)
    chance = np.zeros(prior.size)
    named = np.zeros(prior.size + 1, np.int64)
    seen = np.zeros(prior.size, np.int64)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        distinct = 0
        for e in range(low, high):
            k = _U(labels[e])
            support[k] += evidence[_U(workers[e])]
            # Write the class at the end of the list, and lengthen the list only if the class is new. There is no `if`,
            # because the processor could not predict its outcome.
            named[distinct] = k
            distinct += seen[k] == 0
            seen[k] = 1
        unnamed, total = 1.0, 0.0
        for at in range(distinct):
            k = _U(named[at])
            # A support of 600 is as good as certain, and its exponential does not overflow.
            chance[k] = prior[k] * np.exp(min(support[k], 600.0))
            unnamed -= prior[k]
            total += chance[k]
            support[k] = 0.0
            seen[k] = 0
        scale = 1.0 / (total + max(unnamed, 0.0))
        for e in range(low, high):
            j = _U(workers[e])
            share = chance[_U(labels[e])] * scale
            right[j] += share
            variance[j] += share * (1.0 - share)
    return right, variance
