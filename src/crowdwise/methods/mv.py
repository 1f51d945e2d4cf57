r"""Majority vote: every worker has one vote, and the class with most votes wins.

$$ s_{ik} = n_{ik} / n_i $$

where $n_{ik}$ of the $n_i$ votes on item i name class k. The baseline of Li, Rubinstein and Cohn, "Truth Inference
at Scale", WWW 2019, https://doi.org/10.1145/3308558.3313459.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..loop import Inferring


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
