r"""The model of `CATD`.

$$ w_j = \chi^2_{\alpha/2}(n_j) \Big/ \sum_i 1[y_{ij} \neq \hat z_i] $$

so that a worker with few labels is not trusted for having had no chance to err.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inference.method import Reference
from ..inference.parameters import parameter
from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class CATD(VotingMethod):
    """Confidence-aware votes.

    Use it where most workers have few labels. A worker that never disagreed would decide alone: `smoothing` errors are
    added to everybody.

    `CATD.released()` is what the BWA paper compared with: next to no smoothing, a hundred iterations.

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

    level: float = parameter(0.95, "1 - alpha, of the confidence interval.", above=0, below=1)
    smoothing: float = parameter(0.5, "Errors added to every worker's.", above=0)
    tolerance: float = parameter(1e-9, "Stop when no score moves by more than this.", at_least=0)
    max_iterations: int = parameter(100, "Stop then at the latest.", at_least=1)

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
