r"""Majority vote: every worker has one vote, and the class with the most votes wins.

$$ s_{ik} = n_{ik} / n_i $$

Here s_ik is the score of class k on item i, n_i the number of votes on the item, and n_ik how many of them name the
class.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...data.crowd import Crowd
from ...data.labels import Labels
from ...fitting.iterations import Progress
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.vote_shares import VoteShares
from ...results.contributions import Contributions
from ...results.in_parts import Inferred
from ...results.learned import Learned
from .counted_votes import CountedVotes, is_large


@dataclass(frozen=True)
class MajorityVote(VoteShares):
    """Majority vote: every worker has one vote, and the class with the most votes wins.

    Use it as the baseline, and where all workers are about equally good. It learns nothing about the workers, so the
    vote of a spammer counts as much as that of a careful worker. Scores are shares of the votes, and a worker's quality
    is its agreement with the winners.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays([1, 1, 1], ["ann", "bob", "cem"], ["cat", "cat", "dog"])
    >>> MajorityVote().fit(labels).scores.round(2).tolist()
    [[0.67, 0.33]]
    """

    key: ClassVar[str] = "mv"
    summary: ClassVar[str] = "Majority vote: every worker has one vote, and the class with the most votes wins."
    paper: ClassVar[Reference] = Reference(
        "The baseline of Li, Rubinstein and Cohn",
        "Truth Inference at Scale",
        "WWW 2019",
        "https://doi.org/10.1145/3308558.3313459",
    )

    def limits(self) -> Limits:
        """A vote for several classes is no majority vote any more."""
        return replace(super().limits(), takes_sets=False)

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Count the votes; if there are very many classes, without a table of items by classes."""
        if isinstance(labels, Labels) and labels.gold is None and is_large(labels):
            return CountedVotes.of(self, labels)
        return super().infer(labels, progress)

    def contributions(self, one: Labels, item: int, workers: Learned) -> Contributions:
        """Every vote on one item adds the same to the score of the class that it names."""
        return Contributions.of_votes(np.full(one.n_labels, 1 / one.n_labels), one.n_classes)
