"""Compiled loops over plain arrays: the only hot code.

Kernels know nothing of labels, names or methods. Axes: items are rows of a compressed sparse row layout, the
labels of item i are `item_starts[i]` to `item_starts[i + 1]`, within an item sorted by worker. They release the
interpreter lock, so that slices of items run on threads.

`set_valued` says that neighbouring rows of one worker on one item are a single vote for several classes.
"""

from .averages import average_variance, squared_errors, weighted_average
from .compilation import Array
from .encoding import (
    KEEP_ALL,
    KEEP_FIRST,
    KEEP_LAST,
    KEEP_NONE,
    encode,
    group_by_item,
    resolve_repeats,
)
from .votes import (
    agreements,
    best_two,
    expected_right,
    largest_change,
    vote_shares,
    votes_per_item,
    votes_per_worker,
)

__all__ = [
    "KEEP_ALL",
    "KEEP_FIRST",
    "KEEP_LAST",
    "KEEP_NONE",
    "Array",
    "agreements",
    "average_variance",
    "best_two",
    "encode",
    "expected_right",
    "group_by_item",
    "largest_change",
    "resolve_repeats",
    "squared_errors",
    "vote_shares",
    "votes_per_item",
    "votes_per_worker",
    "weighted_average",
]
