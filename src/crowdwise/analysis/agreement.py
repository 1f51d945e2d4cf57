r"""Krippendorff's alpha: how much the workers agree with each other, corrected for chance.

$$ \alpha = 1 - D_o / D_e, \quad D_o = \frac{1}{n} \sum_i \sum_k \frac{n_{ik} (n_i - n_{ik})}{n_i - 1}, \quad
   D_e = \frac{1}{n (n - 1)} \sum_k n_k (n - n_k) $$

where item i has n_i labels, n_ik of them for class k; n_k and n are the sums over all items with at least two labels.
This is alpha for nominal data. Krippendorff, "Content Analysis", 2004; Hayes and Krippendorff, "Answering the Call
for a Standard Reliability Measure for Coding Data", 2007, https://doi.org/10.1080/19312450709336664.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array

# The bootstrap resamples groups of items if there are more items than this. The items are put into this many groups at
# random. The interval is about the same, but takes less time.
_MAX_GROUPS: Final = 2000
_RESAMPLES: Final = 1000


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha: 1 is perfect agreement, 0 is as much as by chance, below 0 is systematic disagreement.

    Attributes:
        value: Alpha. NaN if no item has two labels; 1 if all labels name the same class.
        low: The lower end of its 95 % bootstrap interval.
        high: The upper end of the interval.
    """

    value: float
    low: float
    high: float


def krippendorff(labels: Labels, seed: int = 0) -> Agreement:
    """Return Krippendorff's alpha with an interval from a bootstrap over the items.

    A vote that names several classes counts as several labels.

    Args:
        labels: The labels.
        seed: The seed of the random numbers for the bootstrap.

    >>> labels = Labels.from_arrays([1, 1, 2, 2, 3, 3], list("ababab"), ["x", "x", "x", "y", "y", "y"])
    >>> round(krippendorff(labels).value, 3)
    0.444
    """
    random = np.random.default_rng(seed)
    paired = np.flatnonzero(np.diff(labels.item_starts) > 1)
    if not len(paired):
        return Agreement(np.nan, np.nan, np.nan)
    groups = min(len(paired), _MAX_GROUPS)
    group_of = np.zeros(labels.n_items, np.int32)
    group_of[paired] = random.permutation(len(paired)) % groups if len(paired) > groups else np.arange(groups)
    counts = kernels.pair_counts(labels.item_starts, labels.labels, group_of, groups, labels.n_classes)
    counts = counts[:, [True, *(counts[:, 1:].sum(axis=0) > 0)]]  # leave out classes that have no labels
    drawn = random.multinomial(groups, np.full(groups, 1 / groups), _RESAMPLES).astype(float)
    low, high = np.quantile(_alpha(drawn @ counts), [0.025, 0.975])
    return Agreement(float(_alpha(counts.sum(axis=0))), float(low), float(high))


def _alpha(counts: Array) -> Array:
    """Return alpha for counts (..., 1 + classes): first the observed disagreement, then the labels of each class."""
    observed, by_class = counts[..., 0], counts[..., 1:]
    total = by_class.sum(axis=-1)
    expected = (by_class * (total[..., None] - by_class)).sum(axis=-1) / (total - 1)
    return np.asarray(1 - np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0))
