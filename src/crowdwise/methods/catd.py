r"""CATD: votes weighted by a cautious estimate of how precise each worker is.

$$ w_j = \chi^2_{\alpha/2}(n_j) \Big/ \sum_i 1[y_{ij} \neq \hat z_i] $$

Here w_j is the weight of worker j, n_j the number of its labels, y_ij the class it said of item i, and z_i the class
that wins there. The numerator is the quantile alpha/2 of the chi-squared distribution with n_j degrees of freedom, the
denominator the number of the worker's errors. So a worker that made no errors because it gave few labels gets no large
weight.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array


@dataclass(frozen=True)
class CATD(VotingMethod):
    """Votes weighted by the lower end of the confidence interval of each worker's precision.

    Use it where most workers have few labels. A worker that never disagreed with a winner would decide everything
    alone, so `smoothing` is added to the number of every worker's errors.

    `CATD.released()` is what the BWA paper compared with: almost no smoothing, and a hundred iterations.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(CATD().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "catd"
    summary: ClassVar[str] = (
        "CATD: votes weighted by the lower end of the confidence interval of each worker's precision."
    )
    paper: ClassVar[Reference] = Reference(
        "Li, Li, Gao, Su, Zhao, Demirbas, Fan and Han",
        "A Confidence-Aware Approach for Truth Discovery on Long-Tail Data",
        "PVLDB 8, 2014",
        "https://doi.org/10.14778/2735496.2735505",
    )

    level: float = parameter(0.95, "The level of the confidence interval (1 - alpha in the paper).", above=0, below=1)
    smoothing: float = parameter(0.5, "How many errors to add to the errors of every worker.", above=0)
    tolerance: float = settled_within(1e-9, "score")
    max_iterations: int = most_iterations(100)

    @classmethod
    def released(cls) -> "CATD":
        """The method as in the released code that the BWA paper compared with."""
        return cls(smoothing=1e-9, tolerance=0.0)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """M step: the chi-squared quantile divided by the number of errors; the weights are scaled to add up to one."""
        from scipy import special  # imported here because it is slow to import

        quantile = 2 * special.gammaincinv(counts.given / 2, (1 - self.level) / 2)
        weight = np.where(counts.given > 0, quantile / (counts.given - counts.agreed + self.smoothing), 0.0)
        return np.asarray(weight / weight.sum())
