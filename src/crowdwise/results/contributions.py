"""`Contributions`: what the prior and each vote add to the score of every class of one item."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..numerics import Array


@dataclass(frozen=True, eq=False)
class Contributions:
    """The terms whose sum gives the scores of one item, for methods whose scores are such sums.

    Below, a row is one label of the item, and the said class is the class that this label names.

    Attributes:
        prior: (classes), the value of every class before any vote.
        evidence: What each row would add if it named each class. Its shape is (rows, said class, class); or (rows, said
            class) if a row adds to the class that it names and to no other class.
        logarithmic: True if the sums are the logarithms of the scores, up to a constant; False if they are the scores.
        rescore: Returns (classes), the scores if each row named another class; None if the sums above say that. A
            method has it if what a label adds depends on the other labels of the item.
        limits: (classes), what is added last, so that no class is more or less probable than the method allows; None if
            it allows everything.

    >>> added = Contributions.of_votes(np.full(3, 1 / 3), n_classes=2)
    >>> added.scores(np.array([0, 0, 1])).round(2).tolist()
    [0.67, 0.33]
    """

    prior: Array
    evidence: Array
    logarithmic: bool
    rescore: Callable[[Array], Array] | None = None
    limits: Array | None = None

    @classmethod
    def of_votes(cls, weight: Array, n_classes: int) -> "Contributions":
        """Return contributions without a prior, where each row adds its weight to the class that it names."""
        return cls(np.zeros(n_classes), np.tile(weight[:, None], n_classes), logarithmic=False)

    def added(self, said: Array) -> Array:
        """Return (rows, classes): what each row adds to every class, given the class that each row names."""
        rows = np.arange(len(said))
        if self.evidence.ndim == 3:
            return np.asarray(self.evidence[rows, said])
        added = np.zeros(self.evidence.shape)
        added[rows, said] = self.evidence[rows, said]
        return added

    def lead(self, winner: int, rival: int) -> Array:
        """Return (rows, said class): what each row would add to the lead of the winner over the rival.

        There is one value for every class that the row could name. It is NaN if naming that class would make both the
        winner and the rival impossible.
        """
        with np.errstate(invalid="ignore"):  # NumPy warns about -inf minus -inf
            if self.evidence.ndim == 3:
                return np.asarray(self.evidence[:, :, winner] - self.evidence[:, :, rival])
            lead = np.zeros(self.evidence.shape)
            lead[:, winner] = self.evidence[:, winner]
            lead[:, rival] = -self.evidence[:, rival]
            return lead

    def sums(self, said: Array) -> Array:
        """Return (classes): the prior, what all rows add, given the class that each row names, and the limits."""
        total = self.prior + self.added(said).sum(axis=0)
        return np.asarray(total if self.limits is None else total + self.limits)

    def scores(self, said: Array) -> Array:
        """Return (classes): the scores that follow from the sums, given the class that each row names.

        If every class is impossible, all classes have the same score.
        """
        sums = self.sums(said)
        if not self.logarithmic:
            return sums
        highest = sums.max()
        probability = np.exp(sums - highest) if highest > -np.inf else np.ones(len(sums))
        return np.asarray(probability / probability.sum())
