r"""Majority vote: every worker has one vote, and the class with most votes wins.

$$ s_{ik} = n_{ik} / n_i $$

where $n_{ik}$ of the $n_i$ votes on item i name class k. The baseline of Li, Rubinstein and Cohn, "Truth Inference
at Scale", WWW 2019, https://doi.org/10.1145/3308558.3313459.
"""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..kernels import Array
from ..labels import Labels
from ..loop import Progress
from ..result import Convergence, Result
from ..support import Support


@dataclass(frozen=True)
class MajorityVote:
    """Vote shares as scores; a worker's quality is its agreement with the winners.

    Use it as the baseline, and where every worker is about as good as every other. It has no model of workers, so
    it cannot tell a careful one from a spammer.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays([1, 1, 1], ["ann", "bob", "cem"], ["cat", "cat", "dog"])
    >>> MajorityVote().fit(labels).scores.round(2).tolist()
    [[0.67, 0.33]]
    """

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Count the votes.

        Args:
            labels: What the workers said.
            progress: Not called: there is nothing to wait for.
        """
        labels.require_single_votes("MajorityVote")
        return Result.build(self, labels, shares(labels), "probability", convergence=Convergence(0, True, 0.0))

    def support(self, one: Labels, item: int, workers: None) -> Support:
        """Every vote on one item adds the same to the score of the class it names."""
        return Support.of_votes(np.full(one.n_labels, 1 / one.n_labels), one.n_classes)


def shares(labels: Labels) -> Array:
    """The share of the votes on every item that name each class."""
    votes = kernels.votes_per_item(labels.item_starts, labels.continued)
    out = np.empty((labels.n_items, labels.n_classes))
    kernels.vote_shares(labels.item_starts, labels.labels, votes, out)
    return out
