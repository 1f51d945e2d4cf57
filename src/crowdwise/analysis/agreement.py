r"""How far a crowd agrees, corrected for chance: Krippendorff's alpha for nominal data.

$$ \alpha = 1 - D_o / D_e, \quad D_o = \frac{1}{n} \sum_i \sum_k \frac{n_{ik} (n_i - n_{ik})}{n_i - 1}, \quad
   D_e = \frac{1}{n (n - 1)} \sum_k n_k (n - n_k) $$

over items with at least two labels. Krippendorff, "Content Analysis", 2004; Hayes and Krippendorff, "Answering the Call
for a Standard Reliability Measure for Coding Data", 2007, https://doi.org/10.1080/19312450709336664.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array

# Items beyond this many are resampled in as many random groups: the spread is the same, and the work stays small.
_GROUPS: Final = 2000
_RESAMPLES: Final = 1000


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha: 1 is perfect agreement, 0 what chance would give, below 0 systematic disagreement.

    Attributes:
        value: Alpha; NaN where no item has two labels, and 1 where nobody ever said a second class.
        low: The lower end of its 95 % bootstrap interval over items.
        high: The upper end.
    """

    value: float
    low: float
    high: float


def krippendorff(labels: Labels, seed: int = 0) -> Agreement:
    """Alpha with a bootstrap interval over items.

    Every label counts, also where one vote names several classes.

    Args:
        labels: What the workers said.
        seed: Of the bootstrap.

    >>> labels = Labels.from_arrays([1, 1, 2, 2, 3, 3], list("ababab"), ["x", "x", "x", "y", "y", "y"])
    >>> round(krippendorff(labels).value, 3)
    0.444
    """
    random = np.random.default_rng(seed)
    paired = np.flatnonzero(np.diff(labels.item_starts) > 1)
    if not len(paired):
        return Agreement(np.nan, np.nan, np.nan)
    groups = min(len(paired), _GROUPS)
    group_of = np.zeros(labels.n_items, np.int32)
    group_of[paired] = random.permutation(len(paired)) % groups if len(paired) > groups else np.arange(groups)
    counts = kernels.pair_counts(labels.item_starts, labels.labels, group_of, groups, labels.n_classes)
    counts = counts[:, [True, *(counts[:, 1:].sum(axis=0) > 0)]]  # a class that nobody said adds nothing
    drawn = random.multinomial(groups, np.full(groups, 1 / groups), _RESAMPLES).astype(float)
    low, high = np.quantile(_alpha(drawn @ counts), [0.025, 0.975])
    return Agreement(float(_alpha(counts.sum(axis=0))), float(low), float(high))


def _alpha(counts: Array) -> Array:
    """Alpha from (..., disagreement and labels by class)."""
    observed, by_class = counts[..., 0], counts[..., 1:]
    total = by_class.sum(axis=-1)
    expected = (by_class * (total[..., None] - by_class)).sum(axis=-1) / (total - 1)
    return np.asarray(1 - np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0))
