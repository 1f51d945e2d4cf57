r"""The model of `CRH`.

$$ w_j = -\log \Big( d_j / \max_{j'} d_{j'} \Big), \quad d_j = \frac{1}{n_j} \sum_i 1[y_{ij} \neq \hat z_i] $$
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inference.method import Reference
from ..inference.parameters import parameter
from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class CRH(VotingMethod):
    """Votes weighted by errors relative to the worst worker's.

    Use it for comparison; the worst worker has no weight at all, and one hopeless worker makes all others alike.

    `CRH.released()` is what the BWA paper compared with: ten iterations, errors not divided.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(CRH().fit(crowd.labels), crowd.truth) > 0.8
    True
    """

    key: ClassVar[str] = "crh"
    summary: ClassVar[str] = "CRH: votes weighted by the negative logarithm of each worker's share in all errors."
    paper: ClassVar[Reference] = Reference(
        "Li, Li, Gao, Zhao, Fan and Han",
        "Resolving Conflicts in Heterogeneous Data by Truth Discovery and Source Reliability Estimation",
        "SIGMOD 2014",
        "https://doi.org/10.1145/2588555.2610509",
    )

    per_label: bool = parameter(
        True,
        "Whether errors are divided by the worker's labels. Without it prolific workers are penalised.",
    )
    tolerance: float = parameter(1e-9, "Stop when no score moves by more than this.", at_least=0)
    max_iterations: int = parameter(100, "Stop then at the latest.", at_least=1)

    @classmethod
    def released(cls) -> "CRH":
        """The implementation in the BWA paper's comparison."""
        return cls(per_label=False, tolerance=0.0, max_iterations=10)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """The released constants keep the logarithm finite and the worst worker's weight above zero."""
        errors = counts.given - counts.agreed
        if self.per_label:
            errors = errors / np.maximum(counts.given, 1)
        errors = np.where(errors > 0, errors, 1e-8)
        return np.asarray(-np.log(errors / errors.max() + 1e-7) + 1e-7)
