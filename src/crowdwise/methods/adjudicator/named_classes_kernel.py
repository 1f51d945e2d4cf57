"""Which classes were named on an item, and which of them it may pull towards.

In arrays of one item, classes have places: their numbers in the order in which they were first named. A target is a
place that the item may pull towards.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled


@compiled
def most_named(item_starts: Array, labels: Array, place: Array) -> int:
    """How many classes were named on the item with the most of them. `place` (classes) is -1 before and after."""
    most = 1
    for i in range(item_starts.size - 1):
        n = 0
        for e in range(item_starts[i], item_starts[i + 1]):
            if place[labels[e]] < 0:
                place[labels[e]] = n
                n += 1
        for e in range(item_starts[i], item_starts[i + 1]):
            place[labels[e]] = -1
        most = max(most, n)
    return most


@compiled
def name_classes(low: int, high: int, labels: Array, named: Array, votes: Array, place: Array) -> int:
    """Write the classes that labels name, how often each is named, and their places. Returns how many there are."""
    n = 0
    for e in range(low, high):
        if place[labels[e]] < 0:
            place[labels[e]] = n
            named[n] = labels[e]
            votes[n] = 0
            n += 1
        votes[place[labels[e]]] += 1
    return n


@allocating
def choose_targets(votes: Array, n: int, targets: Array) -> int:
    """Write the places of the classes that were named most often, and return how many these are.

    If there are too many, those are left out that tie with the first one too many, so that no order decides.
    """
    least = 0
    if n > targets.size:
        least = np.sort(votes[:n])[n - targets.size - 1]
    n_targets = 0
    for p in range(n):
        if votes[p] > least:
            targets[n_targets] = p
            n_targets += 1
    return n_targets
