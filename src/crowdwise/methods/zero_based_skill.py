r"""Zero-based skill: weights move step by step to how often each worker agrees with the winners.

$$ w_j \leftarrow w_j + \eta \Big( \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] - w_j \Big) $$

Here w_j is the weight of worker j, eta the size of a step, n_j the number of the worker's labels, y_ij the class it
said of item i, and z_i the class that wins there.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array


@dataclass(frozen=True)
class ZeroBasedSkill(VotingMethod):
    """Votes weighted by how often each worker agrees with the winners, approached in steps.

    Use it where `wawa` would be used, if its single vote is not enough: this goes on until weights and winners fit each
    other. Like `wawa`, it does not learn which classes a worker confuses.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(ZeroBasedSkill().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "zero_based_skill"
    summary: ClassVar[str] = (
        "Zero-based skill: votes weighted by how often each worker agrees with the winners, approached in steps."
    )
    paper: ClassVar[Reference] = Reference(
        "The crowd-kit developers",
        "Zero-Based Skill",
        "as described in the documentation of crowd-kit",
        "https://crowd-kit.readthedocs.io/en/latest/classification/",
    )

    step: float = parameter(
        0.5,
        "How far a weight moves in one iteration, as a share of its distance to the worker's agreement.",
        above=0,
        at_most=1,
    )
    tolerance: float = settled_within(1e-5, "score")
    max_iterations: int = most_iterations(100)

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """M step: weights a step closer to the workers' agreement; they start at what guessing would give."""
        before = np.full(len(share), 1 / n_classes) if previous is None else previous.weight
        return before + self.step * (share - before)
