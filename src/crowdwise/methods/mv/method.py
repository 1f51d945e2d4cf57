r"""Majority vote: every worker has one vote, and the class with the most votes wins.

$$ s_{ik} = n_{ik} / n_i $$

Here s_ik is the score of class k on item i, n_i the number of votes on the item, and n_ik how many of them name the
class.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import as_said, shares
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...results.contributions import Contributions
from ...results.ending import Convergence, Ending
from ...results.in_parts import Inferred
from ...results.learned import Learned
from .counted_votes import CountedVotes, is_large


@dataclass(frozen=True)
class MajorityVote(SweepingMethod[Learned, tuple[()]]):
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

    measures_accuracy: ClassVar[bool] = False
    learns_sharpness: ClassVar[bool] = False
    adds_fractions: ClassVar[bool] = False
    tolerance = 0.0

    def limits(self) -> Limits:
        """There is nothing to go on from."""
        return replace(super().limits(), no_history="because it learns nothing about the workers", takes_soft=True)

    def infer(self, labels: Crowd, progress: Progress | None) -> Inferred:
        """Count the votes; if there are very many classes, without a table of items by classes."""
        if isinstance(labels, Labels) and labels.gold is None and labels.soft is None and is_large(labels):
            return CountedVotes.of(self, labels)
        return super().infer(labels, progress)

    def empty_counts(self, labels: Labels, workers: Learned | None) -> tuple[()]:
        """An empty tuple: nothing is counted."""
        return ()

    def sweep(self, labels: Labels, scores: Array, workers: Learned | None, counts: tuple[()]) -> Array:
        """Leave the scores as they start, which is as the shares of the votes, and return that nothing changed."""
        return np.zeros(labels.n_classes)

    def estimate(self, counts: tuple[()], previous: Learned | None, change: Array) -> Learned:
        """Nothing."""
        return Learned()

    def rescore(self, labels: Labels, workers: Learned) -> Array:
        """The shares of the votes, whatever else is known."""
        return shares(labels)

    def iterate(self, engine: Engine, progress: Progress | None) -> Ending:
        """Sweep once so that the engine makes the scores; there is nothing to iterate."""
        engine.sweep(None)
        return Ending(Learned(), Convergence(0, True, 0.0), np.zeros(0))

    def contributions(self, one: Labels, item: int, workers: Learned) -> Contributions:
        """Every vote on one item adds the same to the score of the class that it names."""
        weight = np.ones(one.n_labels) if one.soft is None else one.soft[:, -1]
        weight = weight / max(float(weight.sum()), np.finfo(float).tiny)
        if one.soft is None:
            return Contributions.of_votes(weight, one.n_classes)
        nothing = weight.sum() == 0
        prior = np.full(one.n_classes, 1 / one.n_classes if nothing else 0.0)
        return Contributions(prior, weight[:, None, None] * as_said(one), logarithmic=False)
