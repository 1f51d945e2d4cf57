"""What further labels are expected to say, where there are few classes: the states of an item are its types."""

import numpy as np

from ...data.labels import Labels
from ...numerics import Array
from . import model
from .few_classes import FewClasses


class TypesOfItems:
    """How probable each type of every item is, and what workers say of an item of each type.

    Args:
        labels: The labels of all items.
        workers: What was learned of the workers.
    """

    def __init__(self, labels: Labels, workers: FewClasses) -> None:
        self._labels, self._workers = labels, workers
        self.true_class = workers.item_types.true

    def weigh(self, first: int, last: int) -> Array:
        """Return (items, types), how probable each type of the items from `first` up to `last` is."""
        part = self._labels.slice(first, last)
        return model.posterior(part, self._workers.copies.weights(part), self._workers.parameters)[1]

    def said_by(self, asked: Array) -> Array:
        """Return (asked workers, types, classes), how probable it is that each of these workers says a class."""
        return np.exp(self._workers.log_said(asked))

    def answers(self) -> Array:
        """Return (types, classes), what an adjudicator answers to an item of each type."""
        return np.exp(self._workers.log_answer)
