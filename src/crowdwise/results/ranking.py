"""The best two classes of every item, and how close two scores are that are taken for the same."""

from typing import Final

import numpy as np

from ..numerics import Array
from ..numerics.twins import exact_twin

# Two scores are tied if they differ by less than this, relative to the larger one. Equal scores may differ by rounding
# errors, which depend on the order of addition and grow with the iterations.
TIE: Final = 1e-7


@exact_twin("crowdwise.results.ranking_kernel")
def best_two(scores: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Return three arrays (items): the best class, the second best, and whether the two are tied.

    The second best is -1 if there is only one class. Scores that differ by no more than `tolerance`, relative to the
    larger, count as equal, because rounding must not break a tie. Of equal classes, the one with the lower number comes
    first.
    """
    n_items, n_classes = scores.shape
    if n_classes < 2:
        return np.zeros(n_items, np.int32), np.full(n_items, -1, np.int32), np.zeros(n_items, np.bool_)
    items, best = np.arange(n_items), scores.argmax(axis=1)
    others = scores.copy()
    others[items, best] = -np.inf
    highest, second = scores[items, best], others.max(axis=1)
    tied = second >= highest - tolerance * abs(highest)
    limit = np.where(tied, highest, second)
    near = scores >= (limit - tolerance * abs(limit))[:, None]
    best[tied] = near[tied].argmax(axis=1)
    near[items, best] = False
    return best.astype(np.int32), near.argmax(axis=1).astype(np.int32), tied
