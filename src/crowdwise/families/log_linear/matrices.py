"""`Matrices` and `Interactions`: what log-linear methods need of the matrices of workers and items, however kept."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ...data.labels import Labels
from ...errors import require_room
from ...numerics import Array
from ...results.learned import Learned, Trust, chances, share_right


class ByWorker(NamedTuple):
    """Labels sorted by worker.

    Attributes:
        starts: Where the labels of each worker start; one entry more than there are workers.
        items: (labels), the item of every label.
        labels: (labels), the class of every label.
    """

    starts: Array
    items: Array
    labels: Array

    @classmethod
    def of(cls, labels: Labels) -> "ByWorker":
        """Sort labels by worker."""
        items_of = labels.item_of
        order = np.argsort(labels.workers, kind="stable")
        starts = np.searchsorted(labels.workers[order], np.arange(labels.n_workers + 1))
        return cls(starts, items_of[order], labels.labels[order])


@dataclass(frozen=True, eq=False)
class Interactions(Learned):
    """What log-linear methods learn.

    Attributes:
        centre: (true class, said class), the matrix that the workers' matrices are drawn to.
        log_prior: (classes), the logarithms of the classes' probabilities before any label, up to a constant.
    """

    centre: Array
    log_prior: Array

    @abstractmethod
    def worker_matrix(self, worker: int) -> Array:
        """(true class, said class), the matrix of one worker: sigma in the formulas."""

    @abstractmethod
    def item_matrix(self, item: int) -> Array:
        """(true class, said class), the matrix of one item: tau in the formulas."""

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """The number of workers."""

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return chances(self.log_prior)

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes.

        One matrix is made at a time, because all of them may not fit into memory.
        """
        shares = [share_right(self._said(worker)[None]) for worker in range(self.n_workers)]
        return Trust(np.concatenate([share.value for share in shares]), shares[0].meaning)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item whose matrix is zero."""
        shape = (self.n_workers, *self.centre.shape)
        require_room(8 * int(np.prod(shape)), "The confusion matrices of all workers", "Look at trust() instead.")
        return np.stack([self._said(worker) for worker in range(self.n_workers)])

    def _said(self, worker: int) -> Array:
        """(true class, said class), the probability of what a worker says of an item whose matrix is zero."""
        weights = exponentials(self.worker_matrix(worker))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class Matrices(Protocol):
    """The matrices of workers and items while they are fitted."""

    def fit_workers(self, first: int, last: int, scores: Array) -> None:
        """Fit the matrices of the workers from `first` up to, not including, `last`."""
        ...

    def pool(self) -> None:
        """Move the centre to the mean of the workers' matrices."""
        ...

    def fit_items(self, first: int, last: int, scores: Array) -> None:
        """Fit the matrices of the items from `first` up to, not including, `last`."""
        ...

    def score(self, first: int, last: int, log_prior: Array, scores: Array, changes: Array) -> float:
        """Score the items from `first` up to, not including, `last`, and return the log likelihood of their labels."""
        ...

    def learned(self, log_prior: Array) -> Interactions:
        """What is known now."""
        ...


def exponentials(matrices: Array) -> Array:
    """The exponentials of the matrices; every row is divided by the largest in it, so that none overflows."""
    return np.asarray(np.exp(matrices - matrices.max(axis=-1, keepdims=True)))
