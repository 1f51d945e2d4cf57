"""`Contributions`: what the prior and each vote add to every class of one item, for methods in which that is a sum."""

from dataclasses import dataclass

import numpy as np

from ..kernels import Array


@dataclass(frozen=True, eq=False)
class Contributions:
    """The sums behind the scores of one item.

    Attributes:
        prior: (classes), what every class has before any vote.
        evidence: What a row of labels adds, whatever it may say: (rows, classes) where it adds to the class it names
            and to no other, else (rows, said class, class).
        logarithmic: Whether the sums are logarithms of the scores, up to a constant, or the scores themselves.

    >>> added = Contributions.of_votes(np.full(3, 1 / 3), n_classes=2)
    >>> added.scores(np.array([0, 0, 1])).round(2).tolist()
    [0.67, 0.33]
    """

    prior: Array
    evidence: Array
    logarithmic: bool

    @classmethod
    def of_votes(cls, weight: Array, n_classes: int) -> "Contributions":
        """Each row adds its weight to the score of the class it names, and there is nothing before."""
        return cls(np.zeros(n_classes), np.tile(weight[:, None], n_classes), logarithmic=False)

    def added(self, said: Array) -> Array:
        """(rows, classes): what each row adds to every class, given the class it names."""
        rows = np.arange(len(said))
        if self.evidence.ndim == 3:
            return np.asarray(self.evidence[rows, said])
        added = np.zeros(self.evidence.shape)
        added[rows, said] = self.evidence[rows, said]
        return added

    def lead(self, winner: int, rival: int) -> Array:
        """(rows, said class): what each row would add to the winner over the rival if it named each class.

        NaN where it would make both impossible.
        """
        with np.errstate(invalid="ignore"):  # -inf less -inf
            if self.evidence.ndim == 3:
                return np.asarray(self.evidence[:, :, winner] - self.evidence[:, :, rival])
            lead = np.zeros(self.evidence.shape)
            lead[:, winner] = self.evidence[:, winner]
            lead[:, rival] = -self.evidence[:, rival]
            return lead

    def sums(self, said: Array) -> Array:
        """(classes): the prior and what all rows add."""
        return np.asarray(self.prior + self.added(said).sum(axis=0))

    def scores(self, said: Array) -> Array:
        """(classes): the scores that follow."""
        sums = self.sums(said)
        if not self.logarithmic:
            return sums
        highest = sums.max()
        chance = np.exp(sums - highest) if highest > -np.inf else np.ones(len(sums))
        return np.asarray(chance / chance.sum())
