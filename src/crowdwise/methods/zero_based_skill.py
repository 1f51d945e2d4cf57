r"""Zero-based skill: weights start at guessing and step towards how often each worker agrees with the winners.

$$ w_j \leftarrow w_j + \eta \Big( \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] - w_j \Big) $$

Described in the documentation of crowd-kit, https://crowd-kit.readthedocs.io/en/latest/classification/.
"""

from dataclasses import dataclass

import numpy as np

from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class ZeroBasedSkill(VotingMethod):
    """Votes weighted by agreement, approached in steps.

    Use it where `wawa` is used and its single step does not settle: it ends where weights and winners agree.

    Args:
        step: eta, how far weights go towards agreement in one iteration.
        tolerance: Stop when no score moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(ZeroBasedSkill().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    step: float = 0.5
    tolerance: float = 1e-5
    max_iterations: int = 100

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """A step towards agreement."""
        before = np.full(len(share), 1 / n_classes) if previous is None else previous.weight
        return before + self.step * (share - before)
