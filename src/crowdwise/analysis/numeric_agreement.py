r"""Krippendorff's alpha for numbers: how much the workers agree with each other, corrected for chance.

$$ \alpha = 1 - D_o / D_e, \quad D_o = \frac{2}{n} \sum_i \frac{n_i}{n_i - 1} \sum_j (y_{ij} - \bar y_i)^2, \quad
   D_e = \frac{2}{n - 1} \sum_{ij} (y_{ij} - \bar y)^2 $$

where item i has n_i labels with the mean ȳ_i; n and ȳ are over all items with at least two labels. This is alpha for
interval data; see `analysis/agreement.py` for the sources.
"""

import numpy as np

from ..crowd.labels import Labels
from ..numerics import Array
from .agreement import Agreement, drawn_groups


def interval_alpha(numbers: Labels, seed: int = 0) -> Agreement:
    """Return Krippendorff's alpha of numeric labels, with an interval from a bootstrap over the items.

    Args:
        numbers: The labels.
        seed: The seed of the random numbers for the bootstrap.

    >>> from crowdwise import Numbers
    >>> numbers = Numbers.from_arrays([1, 1, 2, 2, 3, 3], list("ababab"), [1.0, 1.0, 2.0, 3.0, 5.0, 5.0])
    >>> round(interval_alpha(numbers).value, 3)
    0.95
    """
    sizes = np.diff(numbers.item_starts)
    paired = np.flatnonzero(sizes > 1)
    if not len(paired):
        return Agreement(np.nan, np.nan, np.nan)
    values = numbers.labels - numbers.labels.mean()  # so that squares of large numbers keep their digits
    item_of = numbers.item_of
    totals = np.bincount(item_of, values, numbers.n_items)
    away = values - (totals / sizes)[item_of]
    within = np.bincount(item_of, away**2, numbers.n_items)
    counts = np.column_stack([sizes, totals, np.bincount(item_of, values**2, numbers.n_items), sizes * within])
    counts[paired, 3] /= sizes[paired] - 1
    group_of, drawn = drawn_groups(len(paired), seed)
    grouped = np.zeros((drawn.shape[1], 4))
    np.add.at(grouped, group_of, counts[paired])
    low, high = np.quantile(_alpha(drawn @ grouped), [0.025, 0.975])
    return Agreement(float(_alpha(grouped.sum(axis=0))), float(low), float(high))


def _alpha(counts: Array) -> Array:
    """Return alpha for counts (..., 4): labels, their sum, the sum of their squares, and the observed disagreement."""
    labels, total, squares, observed = np.moveaxis(counts, -1, 0)
    expected = (squares - total**2 / labels) * labels / (labels - 1)
    return np.asarray(1 - np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0))
