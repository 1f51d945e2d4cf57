"""Methods whose workers are coins: right with a probability of their own, else wrong evenly over the other classes."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust, chances
from .loop import IterativeMethod

# A worker is never believed to be always right or always wrong: two such would contradict each other beyond repair.
_SURE: Final = 1e-12


class CoinCounts(NamedTuple):
    """Sufficient statistics; they add up over disjoint items."""

    right: Array  # (workers): sum of the probabilities that a label is right
    classes: Array  # (classes): sum of the probabilities over items
    log_likelihood: Array  # (1)
    given: Array  # (workers): labels


@dataclass(frozen=True, eq=False)
class Coins(Learned):
    """How often every worker is right.

    Attributes:
        accuracy: (workers).
        log_prior: (classes), logarithms of the classes' probabilities.
        objective: The log likelihood of the labels, negative, that the previous parameters gave.
    """

    accuracy: Array
    log_prior: Array
    objective: Array

    @property
    def class_prior(self) -> Array:
        """How common each class is expected to be."""
        return chances(self.log_prior)

    def trust(self) -> Trust:
        """A worker's accuracy."""
        return Trust(self.accuracy, "Accuracy")


class CoinMethod(IterativeMethod[Coins, CoinCounts]):
    """An iterative method over coins: subclasses say how to estimate them."""

    def empty_counts(self, labels: Labels, workers: Coins | None) -> CoinCounts:
        """Nothing counted yet."""
        n_workers, n_classes = labels.n_workers, labels.n_classes
        return CoinCounts(np.zeros(n_workers), np.zeros(n_classes), np.zeros(1), np.zeros(n_workers))

    def sweep(self, labels: Labels, scores: Array, workers: Coins | None, counts: CoinCounts) -> Array:
        """Posterior probabilities of the classes, and right answers counted by them."""
        changes = np.zeros(labels.n_classes)
        coins = None if workers is None else (*_evidence(workers.accuracy, labels.n_classes), workers.log_prior)
        kernels.sweep_coins(
            labels.item_starts,
            labels.workers,
            labels.labels,
            coins,
            scores,
            changes,
            counts.right,
            counts.classes,
            counts.log_likelihood,
        )
        counts.given[:] += np.bincount(labels.workers, minlength=labels.n_workers)
        return changes

    def contributions(self, one: Labels, item: int, workers: Coins) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of the class it names."""
        return coin_contributions(one, workers)


def coin_contributions(one: Labels, workers: Coins) -> Contributions:
    """What each label of one item adds, whichever method has these coins."""
    evidence, _ = _evidence(workers.accuracy[one.workers], one.n_classes)
    return Contributions(workers.log_prior, np.tile(evidence[:, None], one.n_classes), logarithmic=True)


def _evidence(accuracy: Array, n_classes: int) -> tuple[Array, Array]:
    """What a label is worth to the class it names over any other, and what it is worth to those."""
    sure = np.clip(accuracy, _SURE, 1 - _SURE)
    against = np.log1p(-sure) - np.log(max(n_classes - 1, 1))
    return np.log(sure) - against, against
