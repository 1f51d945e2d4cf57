"""CATD and CRH with ties broken at random, as in their released implementations.

The versions in the library share a tie equally among the tied classes instead.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import crowdwise as cw
from crowdwise.families.weighted_votes.base import VoteCounts, VoteWeights, VotingMethod
from crowdwise.numerics import Array
from crowdwise.results.scores import TIE


@dataclass(frozen=True, eq=False)
class _NumberedWeights(VoteWeights):
    """Weights with the number of their iteration, so that every iteration has other random numbers."""

    iteration: int


def _draws(items: Array, n_classes: int, *keys: int) -> Array:
    """Return (items, classes): random numbers between 1 and 2.

    They are hashes of the item, the class and the keys (SplitMix64). Therefore they do not depend on how the items are
    cut into slices for threads.

    Args:
        items: The numbers of the items.
        n_classes: The number of classes.
        keys: Further numbers that the random numbers depend on.
    """
    classes = np.arange(n_classes, dtype=np.uint64)
    state: NDArray[np.uint64] = items.astype(np.uint64)[:, None] * np.uint64(n_classes) + classes
    for key in keys:
        state = (state + np.uint64(key + 1)) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state = state ^ (state >> np.uint64(31))
    return np.asarray(1 + (state >> np.uint64(11)) * 2.0**-53)


class _RandomTies(VotingMethod):
    """A mixin that breaks ties at random when it counts how often a worker agrees with the answers."""

    seed: int

    def sweep(self, labels: cw.Labels, scores: Array, workers: VoteWeights | None, counts: VoteCounts) -> Array:
        """Score and count as the library does, but count agreement with one of the tied classes only."""
        changes = super().sweep(labels, scores, workers, counts)
        highest = scores.max(axis=1, keepdims=True)
        winners = scores >= highest - TIE * np.abs(highest)
        is_tied = winners.sum(axis=1) > 1
        tied = winners[is_tied]
        iteration = workers.iteration if isinstance(workers, _NumberedWeights) else 0
        items = labels.names.items.to_numpy()[is_tied]
        chosen = (tied * _draws(items, labels.n_classes, self.seed, iteration)).argmax(axis=1)
        lengths = np.diff(labels.item_starts)
        votes = np.repeat(is_tied, lengths)
        said, rows = labels.labels[votes], np.repeat(np.arange(len(tied)), lengths[is_tied])
        too_much = tied[rows, said] / tied.sum(axis=1)[rows] - (said == chosen[rows])
        agreed = counts.agreed - np.bincount(labels.workers[votes], too_much, labels.n_workers)
        counts.agreed[:] = np.rint(
            agreed
        )  # whole numbers, because no tie is shared any more; this removes rounding errors
        return changes

    def estimate(self, counts: VoteCounts, previous: VoteWeights | None, change: Array) -> VoteWeights:
        """Estimate the weights as the library does, and number them."""
        estimated = super().estimate(counts, previous, change)
        iteration = previous.iteration + 1 if isinstance(previous, _NumberedWeights) else 1
        return _NumberedWeights(estimated.weight, iteration)


@dataclass(frozen=True)
class CATD(_RandomTies, cw.CATD):
    """CATD as released: always a hundred iterations, even if the scores stop changing earlier."""

    smoothing: float = 1e-9
    tolerance: float = -1.0
    seed: int = 0


@dataclass(frozen=True)
class CRH(_RandomTies, cw.CRH):
    """CRH as released: ten iterations; a worker's errors are not divided by its number of labels."""

    per_label: bool = False
    tolerance: float = -1.0
    max_iterations: int = 10
    seed: int = 0
