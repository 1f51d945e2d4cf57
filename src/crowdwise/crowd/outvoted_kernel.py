"""What most others say of every item, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating


@allocating
def said_by_others(item_starts: Array, workers: Array, labels: Array, n_classes: int) -> Array:
    """See `outvoted.said_by_others`."""
    said = np.full(labels.size, -1, np.int32)
    counts = np.zeros(n_classes, np.int64)
    for i in range(item_starts.size - 1):
        first, last = item_starts[i], item_starts[i + 1]
        for e in range(first, last):
            counts[labels[e]] += 1
        for e in range(first, last):
            counts[labels[e]] -= 1
            most, tied = labels[e], last - first == 1
            for f in range(first, last):  # only classes that are said on the item
                if counts[labels[f]] > counts[most]:
                    most = labels[f]
            for f in range(first, last):
                tied |= labels[f] != most and counts[labels[f]] == counts[most]
            counts[labels[e]] += 1
            if not tied:
                said[e] = most
        for e in range(first, last):
            counts[labels[e]] = 0
    return said
