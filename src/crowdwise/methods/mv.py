r"""Majority vote: every worker has one vote, and the class with most votes wins.

$$ s_{ik} = n_{ik} / n_i $$

where $n_{ik}$ of the $n_i$ votes on item i name class k. The baseline of Li, Rubinstein and Cohn, "Truth Inference
at Scale", WWW 2019, https://doi.org/10.1145/3308558.3313459.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.labels import Labels
from ..inference.loop import Inferring
from ..results.contributions import Support


@dataclass(frozen=True)
class MajorityVote(Inferring):
    """Vote shares as scores; a worker's quality is its agreement with the winners.

    Use it as the baseline, and where every worker is about as good as every other. It has no model of workers, so
    it cannot tell a careful one from a spammer.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays([1, 1, 1], ["ann", "bob", "cem"], ["cat", "cat", "dog"])
    >>> MajorityVote().fit(labels).scores.round(2).tolist()
    [[0.67, 0.33]]
    """

    coins: ClassVar[bool] = False

    def support(self, one: Labels, item: int, workers: None) -> Support:
        """Every vote on one item adds the same to the score of the class it names."""
        return Support.of_votes(np.full(one.n_labels, 1 / one.n_labels), one.n_classes)
