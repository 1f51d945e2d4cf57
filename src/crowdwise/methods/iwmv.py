r"""Iterative weighted majority vote: votes weighted by how much better than guessing a worker is.

$$ w_j = K \cdot \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] - 1 $$

Here w_j is the weight of worker j, K the number of classes, n_j the number of the worker's labels, y_ij the class it
said of item i, and z_i the class that wins there. With these weights the winners are chosen again, until nothing
changes.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, settled_within
from ..numerics import Array
from ..results.result import Scale


@dataclass(frozen=True)
class IterativeWeightedMajorityVote(VotingMethod):
    """Votes weighted by how much more often a worker agrees with the winners than by guessing.

    Use it where speed matters: it needs few iterations, and is nearly optimal if each worker is equally good at all
    classes. A worker worse than guessing has a negative weight, so its votes count against the class that they name.
    Scores are margins: sums of weights, which may be negative.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IterativeWeightedMajorityVote().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "iwmv"
    summary: ClassVar[str] = (
        "Iterative weighted majority vote: votes weighted by how much more often a worker agrees with the winners than "
        "by guessing."
    )
    paper: ClassVar[Reference] = Reference(
        "Li and Yu",
        "Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing",
        "2014",
        "https://arxiv.org/abs/1411.4086",
    )

    tolerance: float = settled_within(1e-9, "score")
    max_iterations: int = most_iterations(20)

    scale: ClassVar[Scale] = "margin"

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """M step: zero for agreement as by guessing, above zero for more, and below zero for less."""
        return n_classes * share - 1
