"""The real crowds that are replayed: their labels in an order in which they are given out, and their truth."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.crowd.ids import codes_of
from crowdwise.numerics import Array
from studies.calibrate.crowds import family

# Only items with so many labels are replayed, because the first two are given from the start.
_FEWEST_LABELS: Final = 4
# At most so many items, labels of an item and classes, because of the time that it takes.
_MOST_ITEMS: Final = 300
_MOST_LABELS: Final = 10
_MOST_CLASSES: Final = 10
# With fewer items, an area says little.
_FEWEST_ITEMS: Final = 50


@dataclass(frozen=True, eq=False)
class RealCrowd:
    """A crowd whose labels are given out one after the other.

    Attributes:
        name: The name of the crowd.
        item: (labels), the number of the item.
        worker: (labels), the number of the worker.
        label: (labels), the number of the class.
        turn: (labels), the place of the label among those of its item.
        truth: (items), the number of the true class; -1 if nobody named it.
    """

    name: str
    item: Array
    worker: Array
    label: Array
    turn: Array
    truth: Array

    @property
    def family(self) -> str:
        """The family of the crowd; see studies/calibrate/crowds.py."""
        return family(self.name)

    @property
    def there(self) -> Array:
        """(items), how many labels there are."""
        return np.bincount(self.item)

    def given(self, have: Array) -> cw.Labels:
        """Return the first labels of each item, so many as `have` (items) says."""
        rows = self.turn < have[self.item]
        return cw.Labels.from_arrays(self.item[rows], self.worker[rows], self.label[rows])

    def right(self, result: cw.Result) -> Array:
        """(items of the result), whether the answer is true."""
        return np.asarray(result.labels.to_numpy() == self.truth[result.names.items.to_numpy()])


def read_crowd(name: str, folder: Path, seed: int) -> RealCrowd | None:
    """Read a crowd, with items, labels and their order drawn by chance; None if it is too small or has many classes.

    Args:
        name: The name of the crowd.
        folder: Where label.csv and truth.csv are.
        seed: The seed of what is drawn.
    """
    labels = cw.read_labels(folder / "label.csv", duplicates="first")
    known = cw.read_truth(folder / "truth.csv")
    places = codes_of(labels.names.items, known["item"])
    enough = np.flatnonzero((places >= 0) & (np.diff(labels.item_starts) >= _FEWEST_LABELS))
    if len(enough) < _FEWEST_ITEMS or labels.n_classes > _MOST_CLASSES:
        return None
    random = np.random.default_rng(seed)
    chosen = labels.select(np.sort(random.permutation(enough)[:_MOST_ITEMS]))
    item = chosen.item_of
    order = np.lexsort((random.random(chosen.n_labels), item))
    turn = np.empty(chosen.n_labels, np.int64)
    turn[order] = np.arange(chosen.n_labels) - chosen.item_starts[item]
    kept = turn < _MOST_LABELS
    truths = known["truth"].gather(codes_of(chosen.names.items, known["item"]))
    truth = codes_of(pl.Series(truths), labels.names.classes)
    return RealCrowd(name, item[kept], chosen.workers[kept], chosen.labels[kept].astype(np.int64), turn[kept], truth)
