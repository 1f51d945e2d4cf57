"""CATD and CRH with ties broken at random, as released; the library shares a tie among its classes instead."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import crowdwise as cw
from crowdwise.inference.weighted_votes import VoteCounts, VoteWeights, VotingMethod
from crowdwise.kernels import Array
from crowdwise.results.result import TIE


@dataclass(frozen=True, eq=False)
class _Drawn(VoteWeights):
    """Weights that know their iteration, so that every iteration draws anew."""

    iteration: int


def _draws(items: Array, n_classes: int, *keys: int) -> Array:
    """A number between 1 and 2 for every item and class, by hashing them with the keys (SplitMix64).

    A draw does not depend on the other items, so that slices and threads change nothing.
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
    seed: int

    def sweep(self, labels: cw.Labels, scores: Array, workers: VoteWeights | None, counts: VoteCounts) -> Array:
        """As in the library, except that agreement is with one of the tied classes."""
        changes = super().sweep(labels, scores, workers, counts)
        highest = scores.max(axis=1, keepdims=True)
        winners = scores >= highest - TIE * np.abs(highest)
        is_tied = winners.sum(axis=1) > 1
        tied = winners[is_tied]
        iteration = workers.iteration if isinstance(workers, _Drawn) else 0
        items = labels.names.items.to_numpy()[is_tied]
        chosen = (tied * _draws(items, labels.n_classes, self.seed, iteration)).argmax(axis=1)
        lengths = np.diff(labels.item_starts)
        votes = np.repeat(is_tied, lengths)
        said, rows = labels.labels[votes], np.repeat(np.arange(len(tied)), lengths[is_tied])
        too_much = tied[rows, said] / tied.sum(axis=1)[rows] - (said == chosen[rows])
        agreed = counts.agreed - np.bincount(labels.workers[votes], too_much, labels.n_workers)
        counts.agreed[:] = np.rint(agreed)  # whole again: nothing is shared any more
        return changes

    def estimate(self, counts: VoteCounts, previous: VoteWeights | None, change: Array) -> VoteWeights:
        """As in the library."""
        estimated = super().estimate(counts, previous, change)
        iteration = previous.iteration + 1 if isinstance(previous, _Drawn) else 1
        return _Drawn(estimated.weight, estimated.objective, iteration)


@dataclass(frozen=True)
class CATD(_RandomTies, cw.CATD):
    """CATD as released: a hundred iterations, whether they settle or not."""

    smoothing: float = 1e-9
    tolerance: float = -1.0
    seed: int = 0


@dataclass(frozen=True)
class CRH(_RandomTies, cw.CRH):
    """CRH as released: ten iterations, errors not divided by labels."""

    per_label: bool = False
    tolerance: float = -1.0
    max_iterations: int = 10
    seed: int = 0
