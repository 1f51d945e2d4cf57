"""`CoinMethod`: the base of methods in which every worker has one number, its accuracy.

Such a worker is called a coin. It says the true class with a probability of its own; when it is wrong, it says each of
the other classes equally often.
"""

from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...numerics.elementary import softmax
from ...results.contributions import Contributions
from ...results.learned import ClassAxes, Learned, PerWorker, Shared, Trust
from . import model

# Accuracies are kept this far from 0 and 1. If two workers who are certainly right said different classes of one item,
# every class of that item would be impossible.
_MARGIN: Final = 1e-12


class CoinCounts(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together."""

    right: PerWorker  # (workers): the sum over the worker's labels of the probability that the label is right
    # (classes): the sum over the items of the probability that the item is of this class
    classes: Annotated[Shared, ClassAxes((0,))]
    log_likelihood: Array  # (1): the log likelihood of the labels
    given: PerWorker  # (workers): how many labels each worker gave


@dataclass(frozen=True, eq=False)
class Coins(Learned):
    """How often every worker is right."""

    accuracy: PerWorker  # (workers), the probability that a label of the worker is right
    log_prior: Array  # (classes), the logarithms of the classes' probabilities before any label
    objective: Array  # the negative log likelihood of the labels under the parameters of the iteration before

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return softmax(self.log_prior)

    def trust(self) -> Trust:
        """A worker is trusted by its accuracy."""
        return Trust(self.accuracy, "Accuracy")


class CoinMethod(SweepingMethod[Coins, CoinCounts]):
    """The base of methods with one accuracy per worker: a subclass says how to estimate the accuracies."""

    def empty_counts(self, labels: Labels, workers: Coins | None) -> CoinCounts:
        """Zeros, which `sweep` adds to."""
        n_workers, n_classes = labels.n_workers, labels.n_classes
        return CoinCounts(np.zeros(n_workers), np.zeros(n_classes), np.zeros(1), np.zeros(n_workers))

    def sweep(self, labels: Labels, scores: Array, workers: Coins | None, counts: CoinCounts) -> Array:
        """E step: the posterior probabilities of the classes. Count how often each worker is right, for the M step."""
        changes = np.zeros(labels.n_classes)
        coins = None if workers is None else (*_evidence(workers.accuracy, labels.n_classes), workers.log_prior)
        model.sweep_coins(labels, coins, scores, changes, counts.right, counts.classes, counts.log_likelihood)
        counts.given[:] += np.bincount(labels.workers, minlength=labels.n_workers)
        return changes

    def contributions(self, one: Labels, item: int, workers: Coins) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of the class that it names."""
        return coin_contributions(one, workers)


def coin_contributions(one: Labels, workers: Coins) -> Contributions:
    """What each label of one item adds to the logarithm of the probability of the class that it names.

    A function of its own because BWA uses it too: with the logistic link, what it learned are `Coins`.
    """
    evidence, _ = _evidence(workers.accuracy[one.workers], one.n_classes)
    return Contributions(workers.log_prior, np.tile(evidence[:, None], one.n_classes), logarithmic=True)


def _evidence(accuracy: Array, n_classes: int) -> tuple[Array, Array]:
    """Two logarithms for every worker.

    The first is what a label adds to the support of the class that it names, compared with any other class. The second
    is the logarithm of the probability of this label if another class is true.
    """
    bounded = np.clip(accuracy, _MARGIN, 1 - _MARGIN)
    against = np.log1p(-bounded) - np.log(max(n_classes - 1, 1))
    return np.log(bounded) - against, against
