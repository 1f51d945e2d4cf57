r"""The model of `Wawa`.

$$ w_j = \frac{1}{n_j} \sum_i 1[y_{ij} = \hat z_i] $$
"""

from dataclasses import dataclass
from typing import ClassVar

from ..inference.method import Reference
from ..inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from ..kernels import Array


@dataclass(frozen=True)
class Wawa(VotingMethod):
    """One weighted vote.

    Use it as a better baseline than majority vote that takes no time: it breaks ties and plays down spammers.

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

    @property
    def tolerance(self) -> float:  # type: ignore[override]  # a constant here, a parameter elsewhere
        """One vote is the end, however far it moved the scores."""
        return float("inf")

    @property
    def max_iterations(self) -> int:  # type: ignore[override]  # the same
        """One weighted vote."""
        return 1

    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """Agreement itself."""
        return share
