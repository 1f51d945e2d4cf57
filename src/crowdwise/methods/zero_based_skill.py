r"""The model of `ZeroBasedSkill`.

$$ w_j \leftarrow w_j + \eta \Big( \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] - w_j \Big) $$
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inference.method import Reference
from ..inference.parameters import parameter
from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class ZeroBasedSkill(VotingMethod):
    """Votes weighted by agreement, approached in steps.

    Use it where `wawa` is used and its single step does not settle: it ends where weights and winners agree.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(ZeroBasedSkill().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "zero_based_skill"
    summary: ClassVar[str] = (
        "Zero-based skill: weights start at guessing and step towards how often each worker agrees with the winners."
    )
    paper: ClassVar[Reference] = Reference(
        "The crowd-kit developers",
        "Zero-Based Skill",
        "as described in the documentation of crowd-kit",
        "https://crowd-kit.readthedocs.io/en/latest/classification/",
    )

    step: float = parameter(0.5, "eta, how far weights go towards agreement in one iteration.", above=0, at_most=1)
    tolerance: float = parameter(1e-5, "Stop when no score moves by more than this.", at_least=0)
    max_iterations: int = parameter(100, "Stop then at the latest.", at_least=1)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """A step towards agreement."""
        before = np.full(len(share), 1 / n_classes) if previous is None else previous.weight
        return before + self.step * (share - before)
