"""`Start`: where the iterations begin, if not at the shares of the votes."""

from dataclasses import dataclass

import numpy as np

from ...data.labels import Labels
from ...data.votes import shares
from ...numerics import Array
from .copies import Copies
from .few_classes import FewClasses, PullCounts


@dataclass(frozen=True, eq=False)
class Start:
    """Iterations that begin at the shares of weighted votes, or at the latent classes of another reading.

    Attributes:
        weights: (workers), what each of the worker's votes weighs; where all votes on an item weigh nothing, all count.
        copies: Which workers count as less than one.
        vote_classes: (classes), the sum of the plain vote shares over the items; None for the sum of the first scores.
        opposite: Whether to begin at one minus the shares, which is for two classes.
        reading: The workers of another reading, whose latent classes are the first scores; None for shares of votes.
    """

    weights: Array
    copies: Copies
    vote_classes: Array | None
    opposite: bool = False
    reading: FewClasses | None = None

    def scores(self, labels: Labels) -> Array:
        """(items, classes), the first scores of these items."""
        n_items, n_classes = labels.n_items, labels.n_classes
        if self.reading is not None:
            latent = np.zeros((n_items, n_classes))
            self.reading.sweep(labels, latent, PullCounts.empty(labels, False))
            return latent
        weights, counted = self.weights[labels.workers], self.copies.weights(labels)
        if counted.size:
            weights = weights * counted
        votes = np.bincount(labels.item_of * n_classes + labels.labels, weights, n_items * n_classes)
        votes = votes.reshape(n_items, n_classes)
        total = votes.sum(axis=1, keepdims=True)
        found = np.divide(votes, total, out=shares(labels), where=total > 0)
        return np.asarray(1 - found if self.opposite else found)
