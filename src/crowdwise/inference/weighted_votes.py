"""Methods that weigh votes by how often the voter agrees with the winners."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust
from ..results.quality import share_right
from ..results.result import TIE, Scale
from .loop import IterativeMethod


class VoteCounts(NamedTuple):
    """Sufficient statistics; they add up over disjoint items."""

    given: Array  # (workers): votes
    agreed: Array  # (workers): votes for the winner, or a part of one where several are tied


@dataclass(frozen=True, eq=False)
class VoteWeights(Learned):
    """What every worker's vote weighs."""

    weight: Array
    objective: Array

    def trust(self) -> Trust:
        """What a worker's vote weighs."""
        return Trust(self.weight, "Weight of a vote")


class VotingMethod(IterativeMethod[VoteWeights, VoteCounts]):
    """An iterative method over weighted votes, from majority vote: subclasses make weights of agreement.

    Ties are part of the winner each, where released implementations choose at random: the same data give the same
    answer.
    """

    # Scores are divided by the sum of the weights of an item's votes; where weights may be negative, they are margins.
    scale: ClassVar[Scale] = "weight"

    def start(self, labels: Labels) -> tuple[Array, None]:
        """One sweep with equal weights, which is majority vote; the loop counts what it finds."""
        votes = np.zeros((labels.n_items, labels.n_classes))
        equal = VoteWeights(np.ones(labels.n_workers), np.zeros(0))
        self.sweep(labels, votes, equal, self.empty_counts(labels, equal))
        return votes, None

    def finish(self, scores: Array) -> Array:
        """Shares of the weights, unless the scores are margins."""
        if self.scale == "margin":
            return scores
        total = scores.sum(axis=1, keepdims=True)
        out = np.full_like(scores, 1 / scores.shape[1])
        return np.asarray(np.divide(scores, total, out=out, where=total > 0))

    @abstractmethod
    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """The weight of every worker from the share of its votes that agree with the winners."""

    def empty_counts(self, labels: Labels, workers: VoteWeights | None) -> VoteCounts:
        """Nothing counted yet."""
        return VoteCounts(np.zeros(labels.n_workers), np.zeros(labels.n_workers))

    def sweep(self, labels: Labels, scores: Array, workers: VoteWeights | None, counts: VoteCounts) -> Array:
        """Weighted votes, and agreement with the winners."""
        changes = np.zeros(labels.n_classes)
        kernels.sweep_votes(
            labels.item_starts,
            labels.workers,
            labels.labels,
            None if workers is None else workers.weight,
            TIE,
            scores,
            changes,
            *counts,
        )
        return changes

    def contributions(self, one: Labels, item: int, workers: VoteWeights) -> Contributions:
        """What each vote on one item adds to the score of the class it names."""
        weight, classes = workers.weight[one.workers], one.n_classes
        if self.scale == "weight":
            total = weight.sum()
            if not total > 0:
                return Contributions(np.full(classes, 1 / classes), np.zeros((len(weight), classes)), logarithmic=False)
            weight = weight / total
        return Contributions.of_votes(weight, classes)

    def estimate(self, counts: VoteCounts, previous: VoteWeights | None, change: Array) -> VoteWeights:
        """Weights from agreement."""
        share = share_right(counts.agreed, counts.given)
        return VoteWeights(self.weights(share, counts, previous, len(change)), np.zeros(0))
