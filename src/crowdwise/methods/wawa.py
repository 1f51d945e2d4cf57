r"""Wawa, worker agreement with aggregate: votes weighted by agreement with the majority.

$$ w_j = \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] $$

Here w_j is the weight of worker j, n_j the number of its labels, y_ij the class it said of item i, and z_i the class
that wins there by majority vote.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from ..fitting.method import Reference
from ..numerics import Array


@dataclass(frozen=True)
class Wawa(VotingMethod):
    """Majority vote, and then one vote weighted by how often each worker agreed with the majority.

    Use it as a better baseline than majority vote that is nearly as fast: it breaks ties, and gives spammers less
    weight. It cannot correct errors that most workers make, because a worker's weight depends on the majority alone.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(Wawa().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "wawa"
    summary: ClassVar[str] = (
        "Worker agreement with aggregate: majority vote, then one more vote weighted by how often each worker agreed"
        " with it."
    )
    paper: ClassVar[Reference] = Reference(
        "Appen",
        "Worker Agreement With Aggregate",
        "as described in the documentation of crowd-kit",
        "https://crowd-kit.readthedocs.io/en/latest/classification/",
    )

    # There is one weighted vote, and whatever it changes, the method has converged then.
    tolerance: ClassVar[float] = float("inf")  # type: ignore[misc]  # no parameter here
    max_iterations: ClassVar[int] = 1  # type: ignore[misc]

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """M step: the share of a worker's votes that agree with the majority."""
        return share
