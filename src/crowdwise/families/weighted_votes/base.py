"""`VotingMethod`: the base of methods that weight votes by how often a worker agrees with the winners.

The winner of an item is the class with the highest score.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.sweeping import Finished, SweepingMethod
from ...numerics import Array
from ...results.contributions import Contributions
from ...results.learned import Learned, PerWorker, Trust
from ...results.quality import share_right
from ...results.result import Scale
from ...results.scores import TIE
from . import model


class VoteCounts(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together."""

    given: PerWorker  # (workers): how many votes each worker gave
    agreed: PerWorker  # (workers): how many of them name the winner; if n classes are tied, a vote for one counts 1/n


@dataclass(frozen=True, eq=False)
class VoteWeights(Learned):
    """The weight of every worker's votes."""

    weight: PerWorker

    def trust(self) -> Trust:
        """A worker is trusted by the weight of its votes."""
        return Trust(self.weight, "Weight of a vote")


class VotingMethod(SweepingMethod[VoteWeights, VoteCounts]):
    """The base of methods with weighted votes: a subclass says how a worker's weight follows from its agreement.

    It starts from majority vote. Where n classes are tied, a vote for one of them counts as 1/n agreement; released
    implementations choose one of them at random instead. So the same data always give the same answer.
    """

    # "weight": the scores of an item are divided by their sum. "margin", for weights that may be negative: they are
    # not.
    scale: ClassVar[Scale] = "weight"

    def start(self, labels: Labels) -> tuple[Array, None]:
        """Start from majority vote: score all items with the same weight for every vote."""
        return model.weight_sums(labels, np.ones(labels.n_workers)), None

    def finish(self, labels: Labels, scores: Array, workers: VoteWeights | None) -> Finished:
        """The scores of each item divided by their sum, unless they are margins.

        Where all votes on an item weigh nothing, its classes get equal scores.
        """
        if self.scale == "margin":
            return Finished(scores)
        total = scores.sum(axis=1, keepdims=True)
        out = np.full_like(scores, 1 / scores.shape[1])
        return Finished(np.divide(scores, total, out=out, where=total > 0))

    @abstractmethod
    def weights(self, share: Array, counts: VoteCounts, previous: VoteWeights | None, n_classes: int) -> Array:
        """(workers), the weight of every worker's votes.

        `share` (workers) is the share of its votes that agree with the winners, computed from `counts`. `previous` is
        None after the first sweep.
        """

    def empty_counts(self, labels: Labels, workers: VoteWeights | None) -> VoteCounts:
        """Zeros, which `sweep` adds to."""
        return VoteCounts(np.zeros(labels.n_workers), np.zeros(labels.n_workers))

    def sweep(self, labels: Labels, scores: Array, workers: VoteWeights | None, counts: VoteCounts) -> Array:
        """E step: sums of the weights of votes. Count how often each worker names the winner, for the M step."""
        changes = np.zeros(labels.n_classes)
        model.sweep_votes(labels, None if workers is None else workers.weight, TIE, scores, changes, *counts)
        return changes

    def contributions(self, one: Labels, item: int, workers: VoteWeights) -> Contributions:
        """What each vote on one item adds to the score of the class that it names."""
        weight, classes = workers.weight[one.workers], one.n_classes
        if self.scale == "weight":
            total = weight.sum()
            if not total > 0:
                return Contributions(np.full(classes, 1 / classes), np.zeros((len(weight), classes)), logarithmic=False)
            weight = weight / total
        return Contributions.of_votes(weight, classes)

    def estimate(self, counts: VoteCounts, previous: VoteWeights | None, change: Array) -> VoteWeights:
        """M step: the weights that follow from how often each worker agrees with the winners."""
        share = share_right(counts.agreed, counts.given)
        return VoteWeights(self.weights(share, counts, previous, len(change)))
