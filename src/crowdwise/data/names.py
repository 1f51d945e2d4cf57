"""`Names`: the names that the codes of items, workers and classes stand for."""

from dataclasses import dataclass

import polars as pl

from .numbering import Numbering, inverse


@dataclass(frozen=True, eq=False)
class Names:
    """The names of items, workers and classes, each in the data type of the user's table.

    The name of code 3 is the entry at position 3. If the labels are on disk or in a cluster, `items` is empty: there,
    each part of the labels stores the names of its own items.

    Attributes:
        items: The names of the items.
        workers: The names of the workers.
        classes: The names of the classes.
    """

    items: pl.Series
    workers: pl.Series
    classes: pl.Series

    def numbered(self, numbering: Numbering) -> "Names":
        """Return the names of items and workers in the order of their numbers."""
        items = self.items.gather(inverse(numbering.item_places))
        return Names(items, self.workers.gather(inverse(numbering.worker_places)), self.classes)
