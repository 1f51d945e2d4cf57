r"""The model of `IterativeWeightedMajorityVote`.

$$ w_j = K \cdot \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] - 1 $$

and the winners are chosen anew with these weights, until nothing changes.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..inference.method import Reference
from ..inference.parameters import parameter
from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array
from ..results.result import Scale


@dataclass(frozen=True)
class IterativeWeightedMajorityVote(VotingMethod):
    """Votes weighted by agreement above guessing; a worker worse than guessing votes against what it says.

    Use it for speed: it is nearly optimal for coins and takes a few passes. Scores are margins: sums of weights, which
    may be negative.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IterativeWeightedMajorityVote().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "iwmv"
    summary: ClassVar[str] = (
        "Iterative weighted majority vote: a vote weighs what its worker's agreement exceeds guessing by."
    )
    paper: ClassVar[Reference] = Reference(
        "Li and Yu",
        "Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing",
        "2014",
        "https://arxiv.org/abs/1411.4086",
    )

    tolerance: float = parameter(1e-9, "Stop when no score moves by more than this.", at_least=0)
    max_iterations: int = parameter(20, "Stop then at the latest.", at_least=1)

    scale: ClassVar[Scale] = "margin"

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """What agreement exceeds guessing by."""
        return n_classes * share - 1
