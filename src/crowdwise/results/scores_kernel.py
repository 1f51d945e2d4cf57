"""The best two classes of every item, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating, compiled


@compiled
def _first_from(scores: Array, least: float, other: int) -> int:
    """The first class other than `other` whose score is at least `least`; -1 if there is none."""
    for k in range(scores.size):
        if k != other and scores[k] >= least:
            return k
    return -1


@allocating
def best_two(scores: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """See `scores.best_two`."""
    n_items, n_classes = scores.shape
    # NumPy's `zeros` and `full` would take longer to compile than all of this function.
    best, second, tied = np.empty(n_items, np.int32), np.empty(n_items, np.int32), np.empty(n_items, np.bool_)
    for i in range(n_items):
        tied[i] = False
        first, runner = 0, -1
        for k in range(1, n_classes):
            if scores[i, k] > scores[i, first]:
                first, runner = k, first
            elif runner < 0 or scores[i, k] > scores[i, runner]:
                runner = k
        if runner >= 0:
            close = scores[i, first] - tolerance * abs(scores[i, first])
            if scores[i, runner] >= close:
                tied[i] = True
                first = _first_from(scores[i], close, -1)
            else:
                close = scores[i, runner] - tolerance * abs(scores[i, runner])
            runner = _first_from(scores[i], close, first)
        best[i] = first
        second[i] = runner
    return best, second, tied
