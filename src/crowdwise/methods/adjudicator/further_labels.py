"""What further labels are expected to say, where there are few classes: the states of an item are its types."""

from typing import Final

import numpy as np

from ...data.labels import Labels
from ...numerics import Array
from ...results.learned import chances
from .few_classes import FewClasses
from .structure import STRENGTHS, every_type, log_type_shares, pulled_logarithms, pulls_of

# The smallest probability whose logarithm is taken.
_SMALLEST: Final = 1e-300


class TypesOfItems:
    """How probable each type of every item is, and what workers say of an item of each type.

    Args:
        labels: The labels of all items.
        workers: What was learned of the workers.
    """

    def __init__(self, labels: Labels, workers: FewClasses) -> None:
        self._labels, self._workers = labels, workers
        n_classes = labels.n_classes
        self._types = every_type(n_classes)
        self.true_class, strength, towards = self._types
        self._pulls = pulls_of(self._types, np.arange(n_classes), n_classes)
        # What a pull adds to the logarithm of all that a worker may say: the pulled class is that much more probable.
        pulled = workers.confusion[:, self.true_class, np.maximum(towards, 0)]
        added = np.where(strength < 0, 0.0, np.expm1(STRENGTHS)[np.maximum(strength, 0)])
        self._totals = np.log1p(added * pulled)  # (workers, types)
        self._log_confusion = np.log(np.maximum(workers.confusion, _SMALLEST))
        self._log_prior = workers.log_class_shares[self.true_class]
        self._log_prior = self._log_prior + log_type_shares(workers.type_shares, self._types, n_classes)

    def weigh(self, first: int, last: int) -> Array:
        """Return (items, types), how probable each type of the items from `first` up to `last` is."""
        part = self._labels.slice(first, last)
        who, said = part.workers, part.labels.astype(np.int64)
        made = self._log_confusion[who[:, None], self.true_class, said[:, None]]  # (labels, types)
        made += self._pulls[:, said].T - self._totals[who]
        exponents = self._workers.copies.weights(part)
        if exponents.size:
            made *= exponents[:, None]
        return chances(np.add.reduceat(made, part.item_starts[:-1], axis=0) + self._log_prior)

    def said_by(self, asked: Array) -> Array:
        """Return (asked workers, types, classes), how probable it is that each of these workers says a class."""
        logarithms = self._log_confusion[asked][:, self.true_class] + self._pulls - self._totals[asked][:, :, None]
        return np.asarray(np.exp(logarithms))

    def answers(self) -> Array:
        """Return (types, classes), what an adjudicator answers to an item of each type."""
        return np.asarray(np.exp(pulled_logarithms(self._workers.adjudicator[self.true_class], self._pulls)))
