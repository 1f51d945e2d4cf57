r"""CRH: votes weighted by how much smaller a worker's error rate is than that of the worst worker.

$$ w_j = -\log \Big( d_j / \max_{j'} d_{j'} \Big), \quad d_j = \frac{1}{n_j} \sum_i 1[y_{ij} \neq \hat z_i] $$

Here w_j is the weight of worker j, d_j its error rate, n_j the number of its labels, y_ij the class it said of item i,
and z_i the class that wins there.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array


@dataclass(frozen=True)
class CRH(VotingMethod):
    """Votes weighted by each worker's error rate relative to that of the worst worker.

    Use it to compare other methods with. Weights depend on the worst worker: that worker gets next to no weight, and if
    it is much worse than all others, they all get nearly the same weight.

    `CRH.released()` is what the BWA paper compared with: ten iterations, and numbers of errors instead of error rates.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(CRH().fit(crowd.labels), crowd.truth) > 0.8
    True
    """

    key: ClassVar[str] = "crh"
    summary: ClassVar[str] = (
        "CRH: votes weighted by the negative logarithm of each worker's error rate relative to the worst worker's."
    )
    paper: ClassVar[Reference] = Reference(
        "Li, Li, Gao, Zhao, Fan and Han",
        "Resolving Conflicts in Heterogeneous Data by Truth Discovery and Source Reliability Estimation",
        "SIGMOD 2014",
        "https://doi.org/10.1145/2588555.2610509",
    )

    per_label: bool = parameter(
        True,
        "Whether a worker's errors are divided by the number of its labels. If not, workers with many labels get too "
        "little weight.",
    )
    tolerance: float = settled_within(1e-9, "score")
    max_iterations: int = most_iterations(100)

    @classmethod
    def released(cls) -> "CRH":
        """The method as in the released code that the BWA paper compared with."""
        return cls(per_label=False, tolerance=0.0, max_iterations=10)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """M step: the negative logarithm of the error rate relative to the highest.

        Small constants, as in the released code, keep the logarithm finite and the worst worker's weight above zero.
        """
        errors = counts.given - counts.agreed
        if self.per_label:
            errors = errors / np.maximum(counts.given, 1)
        errors = np.where(errors > 0, errors, 1e-8)
        return np.asarray(-np.log(errors / errors.max() + 1e-7) + 1e-7)
