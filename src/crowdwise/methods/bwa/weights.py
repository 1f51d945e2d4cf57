"""What BWA learns of the workers: their weights, and the errors that these follow from."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...numerics import Array, elementary
from ...results.learned import Learned, PerWorker, Trust

# The most classes that the kernel computes at once; see `lanes`.
MOST_LANES: Final = 8


class Errors(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together.

    z is the score of an item, and y is 1 if a vote names the class and 0 if it does not. The last four never change, so
    they are counted in the first sweep only and empty after that.
    """

    errors: PerWorker  # (workers, computed classes): the sum of (z - y)^2 over the worker's votes
    sums: Array  # (2, computed classes): the sum of z over the items, and the sum of z^2
    votes: PerWorker  # (workers): how many votes each worker gave
    disagreement: Array  # (classes): the sum over the items of n s (1 - s), with n labels and s the class's vote share
    items: Array  # (1): how many items there are
    set_votes: Array  # (1): how many rows continue the vote of the row before, because a vote names several classes


@dataclass(frozen=True, eq=False)
class Weights(Learned):
    """The weight of every worker for each class, and what it was learned from.

    Attributes:
        weight: (workers, classes), the expected weight v of a worker's vote.
        errors: (workers, classes), the sum of squared errors that the weight was learned from.
        mean: (classes), the mean score, which has the weight `mean_weight` in every item's average.
        prior_errors: (classes), b in the formulas: how many errors the prior expects in `prior_strength` votes.
        prior_strength: a in the formulas: how many votes the prior is worth.
        votes: (workers), how many votes each worker gave.
        items: How many items there are; not a whole number if items of a known class count as more than one.
        set_valued: Whether some vote names several classes.
        disagreement: (classes), see `Errors`.
        running: (classes), which classes have not converged yet.
        objective: (classes), the negative log likelihood, up to a constant, of the scores that `errors` came from.
        scores_are_known: Whether a sweep leaves scores as they are, because the classes of the items are known.
    """

    weight: PerWorker
    errors: PerWorker
    mean: Array
    prior_errors: Array
    prior_strength: float
    votes: PerWorker
    items: float
    set_valued: bool
    disagreement: Array
    running: Array
    objective: Array
    scores_are_known: bool = False

    @property
    def class_prior(self) -> Array:
        """(classes), the mean score of each class, divided by the sum of all."""
        return np.asarray(self.mean / self.mean.sum())

    def trust(self) -> Trust:
        """A worker is trusted by the weight of its votes, the mean over the classes."""
        return Trust(self.weight.mean(axis=1), "Weight of a vote, mean over classes")

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """(workers, classes) twice: the lower and the upper end of the central posterior interval of every weight.

        It follows from v (b + errors), which is chi-squared distributed with a + votes degrees of freedom.

        Args:
            level: The probability that a weight is within its interval.
        """
        from scipy import special  # imported here because it is slow to import

        half = (self.prior_strength + self.votes)[:, None] / 2
        tail = (1 - level) / 2
        rate = (self.prior_errors + self.errors) / 2
        return special.gammaincinv(half, tail) / rate, special.gammaincinv(half, 1 - tail) / rate

    @property
    def mirrored(self) -> bool:
        """Whether the scores of class 1 are one minus those of class 0, so that only class 0 need be computed.

        So it is with two classes, if every vote names one class and neither class has converged.
        """
        return mirrored(len(self.running), self.set_valued) and bool(self.running.all())

    @cached_property
    def computed(self) -> tuple[int, ...]:
        """The classes that a sweep computes: those that have not converged, and only class 0 if `mirrored`."""
        return (0,) if self.mirrored else lanes(np.flatnonzero(self.running).tolist(), len(self.running))

    @cached_property
    def computed_weight(self) -> Array:
        """(workers, computed classes), the weights of the computed classes; made once for all slices."""
        return elementary.columns(self.weight, self.computed)

    def counted(self, counts: Errors) -> tuple[Array, Array, Array, Array]:
        """The classes that have not converged, their errors (workers, these), and sums of their scores and squares."""
        classes = np.flatnonzero(self.running)
        these = slice(1 if self.mirrored else len(classes))  # without those that are repeated
        errors, (total, squares) = counts.errors[:, these], counts.sums[:, these]
        if self.mirrored:
            errors = np.repeat(errors, 2, axis=1)
            squares = np.append(squares, self.items - 2 * total + squares)
            total = np.append(total, self.items - total)
        return classes, errors, total, squares


def mirrored(n_classes: int, set_valued: bool) -> bool:
    """Whether the scores of one class are one minus those of the other: two classes, and every vote names one class."""
    return n_classes == 2 and not set_valued


def first_computed(n_classes: int, set_valued: bool) -> tuple[int, ...]:
    """The classes that the first sweep computes."""
    return (0,) if mirrored(n_classes, set_valued) else lanes(range(n_classes), n_classes)


def lanes(classes: Iterable[int], n_classes: int) -> tuple[int, ...]:
    """These classes; the last is repeated until they are one, four or a multiple of eight.

    The kernel is compiled once for each number of classes that it computes at once, so there are only three.
    """
    given = list(classes)
    width = 1 if len(given) == 1 and n_classes <= 2 else 4 if len(given) <= 4 else MOST_LANES
    return (*given, *given[-1:] * (-len(given) % width))
