"""`VoteShares`: the shares of the votes as a method, which is majority vote and what others are compared with."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..data.labels import Labels
from ..data.votes import shares
from ..numerics import Array
from ..results.ending import Convergence, Ending
from ..results.learned import Learned
from .engines.base import Engine
from .iterations import Progress
from .limits import Limits
from .sweeping import SweepingMethod


@dataclass(frozen=True)
class VoteShares(SweepingMethod[Learned, tuple[()]]):
    """The score of a class is its share of the votes on the item; nothing is learned about the workers."""

    measures_accuracy: ClassVar[bool] = False
    adds_fractions: ClassVar[bool] = False
    tolerance = 0.0

    def limits(self) -> Limits:
        """Shares are defined where votes name several classes; there is nothing to go on from."""
        return replace(super().limits(), takes_sets=True, no_history="because it learns nothing about the workers")

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
