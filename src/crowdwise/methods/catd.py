r"""CATD: votes weighted by the lower end of the confidence interval of each worker's precision.

$$ w_j = \chi^2_{\alpha/2}(n_j) \Big/ \sum_i 1[y_{ij} \neq \hat z_i] $$

so that a worker with few labels is not trusted for having had no chance to err. Li, Li, Gao, Su, Zhao, Demirbas, Fan
and Han, "A Confidence-Aware Approach for Truth Discovery on Long-Tail Data", PVLDB 8, 2014,
https://doi.org/10.14778/2735496.2735505.
"""

from dataclasses import dataclass

import numpy as np

from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class CATD(VotingMethod):
    """Confidence-aware votes.

    Use it where most workers have few labels. A worker that never disagreed would decide alone: `smoothing` errors are
    added to everybody.

    Args:
        level: 1 - alpha, of the confidence interval.
        smoothing: Errors added to every worker's.
        tolerance: Stop when no score moves by more than this.
        max_iterations: Stop then at the latest.

    `CATD.released()` is what the BWA paper compared with: next to no smoothing, a hundred iterations.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(CATD().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    level: float = 0.95
    smoothing: float = 0.5
    tolerance: float = 1e-9
    max_iterations: int = 100

    @classmethod
    def released(cls) -> "CATD":
        """The implementation in the BWA paper's comparison."""
        return cls(smoothing=1e-9, tolerance=0.0)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """The chi-squared quantile over the errors, scaled to add up to one."""
        from scipy import special  # slow to import: not before it is needed

        quantile = 2 * special.gammaincinv(counts.given / 2, (1 - self.level) / 2)
        weight = np.where(counts.given > 0, quantile / (counts.given - counts.agreed + self.smoothing), 0.0)
        return np.asarray(weight / weight.sum())
