"""`WholeMatrices`: the matrices of all workers and items, each with a number for every two classes."""

from dataclasses import dataclass

import numpy as np

from ...data.crowd import Crowd
from ...data.labels import Labels
from ...numerics import Array
from ...results.learned import PerItem, PerWorker
from . import kernel
from .matrices import ByWorker, Interactions, exponentials


@dataclass(frozen=True, eq=False)
class WholeInteractions(Interactions):
    """What was learned, as whole matrices.

    Attributes:
        worker_matrices: (workers, true class, said class), sigma in the formulas.
        item_matrices: (items, true class, said class), tau in the formulas.
    """

    worker_matrices: PerWorker
    item_matrices: PerItem

    def worker_matrix(self, worker: int) -> Array:
        """(true class, said class), the matrix of one worker."""
        return np.asarray(self.worker_matrices[worker])

    def item_matrix(self, item: int) -> Array:
        """(true class, said class), the matrix of one item."""
        return np.asarray(self.item_matrices[item])

    @property
    def n_workers(self) -> int:
        """The number of workers."""
        return len(self.worker_matrices)


class WholeMatrices:
    """Matrices with a number for every two classes; see `Matrices`.

    Args:
        labels: The labels.
        by_worker: The same labels, sorted by worker.
        centre: (true class, said class), the matrix that every worker starts with and is drawn to.
        ridges: How strongly the workers' matrices are drawn to `centre`, and the items' matrices to zero.
    """

    def __init__(self, labels: Labels, by_worker: ByWorker, centre: Array, ridges: tuple[float, float]) -> None:
        items_of = labels.item_of
        self._by_worker = (by_worker.starts, by_worker.items, by_worker.items, by_worker.labels)
        self._by_item = (labels.item_starts, items_of, labels.workers, labels.labels)
        self._labels = labels
        self._worker_ridge, self._item_ridge = ridges
        self._centre, self._zero = centre, np.zeros_like(centre)
        self._workers = np.tile(centre, (labels.n_workers, 1, 1))
        self._items = np.tile(self._zero, (labels.n_items, 1, 1))
        self._worker_weights, self._item_weights = exponentials(self._workers), exponentials(self._items)

    @staticmethod
    def size(labels: Crowd) -> int:
        """How many bytes the matrices take: 8 each for a number and its exponential."""
        return 16 * (labels.n_workers + labels.n_items) * labels.n_classes**2

    def fit_workers(self, first: int, last: int, scores: Array) -> None:
        """Fit the matrices of the workers from `first` up to, not including, `last`."""
        given = (first, last, *self._by_worker, scores, self._item_weights)
        kernel.fit_matrices(*given, self._workers, self._worker_weights, self._centre, self._worker_ridge)

    def pool(self) -> None:
        """Move the centre to the mean of the workers' matrices."""
        self._centre = self._workers.mean(axis=0)

    def fit_items(self, first: int, last: int, scores: Array) -> None:
        """Fit the matrices of the items from `first` up to, not including, `last`."""
        given = (first, last, *self._by_item, scores, self._worker_weights)
        kernel.fit_matrices(*given, self._items, self._item_weights, self._zero, self._item_ridge)

    def score(self, first: int, last: int, log_prior: Array, scores: Array, changes: Array) -> float:
        """Score the items from `first` up to, not including, `last`, and return the log likelihood of their labels."""
        labels = self._labels
        given = (first, last, labels.item_starts, labels.workers, labels.labels)
        return kernel.score_matrices(*given, self._worker_weights, self._item_weights, log_prior, scores, changes)

    def learned(self, log_prior: Array) -> WholeInteractions:
        """What is known now."""
        return WholeInteractions(self._centre, log_prior, self._workers, self._items)
