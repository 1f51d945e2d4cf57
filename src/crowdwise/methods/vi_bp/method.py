r"""Belief propagation: for two classes; items and workers tell each other what they believe, each without the other.

$$ x_{i \to j} = \sum_{j' \ne j} m_{j' \to i}, \quad
   m_{j \to i} = \log \frac{E[P(y_{ij} \mid z_i = 1, q_j)]}{E[P(y_{ij} \mid z_i = 0, q_j)]} $$

The model is that of `vi_mf`. The message x from an item to a worker is the logarithm of the odds of its classes by the
labels of the other workers. The message m from a worker to an item is what the worker's label says, where how often the
worker is right (q_j) is averaged over its prior and over the other items of the worker, whose classes are as probable
as their messages say. KOS and majority vote are belief propagation with other priors.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final, Literal

import numpy as np

from ...data.labels import Labels
from ...families.confusion_matrices.base import right_and_wrong
from ...fitting.in_memory import InMemoryMethod
from ...fitting.iterations import Step, Steps
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, settled_within
from ...numerics import Array
from ...results.learned import Learned, PerWorker, Trust, share_right
from ..vi_mf import COINS, PAPER, PRIOR_RIGHT, PRIOR_WRONG, rates
from .model import judge_labels

# What a label says at first, as a logarithm of odds: its worker is right two times of three.
_FIRST_MESSAGE: Final = float(np.log(2.0))
# Beliefs beyond these odds, as logarithms, are certain.
_CERTAIN: Final = 600.0


@dataclass(frozen=True, eq=False)
class Rates(Learned):
    """How often the workers are right.

    Attributes:
        matrices: (workers, true class, said class), the probability of what a worker says.
    """

    matrices: PerWorker

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says."""
        return self.matrices

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.matrices)


@dataclass(frozen=True)
class BeliefPropagation(InMemoryMethod):
    """For two classes: belief propagation between items and workers, with a Beta prior on how often workers are right.

    Use it with two classes, where workers have few labels each on random items. It keeps a message for every label, so
    it needs all labels in memory, and the time grows faster than the labels where one worker has many thousands. Where
    one class is rare, a method that learns how common classes are, such as `ibcc` or `ds`, is better.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(BeliefPropagation().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "vi_bp"
    summary: ClassVar[str] = (
        "Belief propagation (VI-BP): for two classes; a label counts by what its worker's labels on other items say."
    )
    paper: ClassVar[Reference] = PAPER

    coins: Literal["two", "one"] = parameter("two", COINS)
    prior_right: float = parameter(2.0, PRIOR_RIGHT, above=0)
    prior_wrong: float = parameter(1.0, PRIOR_WRONG, above=0)
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(100)

    def limits(self) -> Limits:
        """It is for two classes and takes no gold."""
        return replace(
            super().limits(),
            most_classes=2,
            no_gold="because its messages have no place for a class that is known",
            unexplained="a worker's vote weighs differently on every item, and those messages are not kept",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, messages from items to workers (E step), then from workers to items (M step)."""
        items, given = labels.item_of, np.bincount(labels.workers, minlength=labels.n_workers)
        order = np.lexsort((labels.labels, labels.workers))
        worker_starts = np.concatenate([[0], np.cumsum(given)])
        prior = np.array([self.prior_right, self.prior_wrong])
        said = labels.labels[order]
        sign = np.where(said == 1, 1.0, -1.0)
        messages = np.where(labels.labels == 1, _FIRST_MESSAGE, -_FIRST_MESSAGE)
        odds = _sums(labels, messages)
        while True:
            right = _chance(sign * (odds[items] - messages)[order])
            messages[order] = sign * judge_labels(worker_starts, right, said, prior, self.coins == "two")
            new_odds = _sums(labels, messages)
            change = float(np.abs(_chance(new_odds) - _chance(odds)).max())
            odds = new_odds
            yield Step(change, partial(self._finish, labels, odds))

    def _finish(self, labels: Labels, odds: Array) -> tuple[Array, Rates]:
        """The probabilities of the classes, and how often workers are right by them."""
        scores = np.stack([_chance(-odds), _chance(odds)], axis=1)[:, : labels.n_classes]
        if labels.n_classes == 1:
            scores = np.ones_like(scores)
        counts = np.zeros((labels.n_workers, labels.n_classes, labels.n_classes))
        cells = labels.workers * np.int64(labels.n_classes) + labels.labels
        for k in range(labels.n_classes):
            said = np.bincount(cells, scores[labels.item_of, k], labels.n_workers * labels.n_classes)
            counts[:, k] = said.reshape(labels.n_workers, labels.n_classes)
        right, wrong = right_and_wrong(counts, self.coins == "one")
        return scores, Rates(rates(right + self.prior_right, wrong + self.prior_wrong))


def _sums(labels: Labels, messages: Array) -> Array:
    """(items), the sum of the messages to every item."""
    return np.bincount(labels.item_of, messages, minlength=labels.n_items)


def _chance(odds: Array) -> Array:
    """The probabilities of these logarithms of odds."""
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -_CERTAIN, _CERTAIN))))
