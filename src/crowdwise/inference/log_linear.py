"""`LogLinearMethod`: the base of methods with a matrix for every worker and a matrix for every item.

The probability of what a worker says of an item is the softmax of a row of the sum of both matrices: of the row of the
item's true class. One iteration fits the workers' matrices, then the items' matrices, then the classes of the items.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from .. import kernels
from ..data.crowd import Crowd
from ..data.labels import Labels, shares
from ..errors import require_room
from ..kernels import Array
from ..parallel import Threads, runs
from ..results.contributions import Contributions
from ..results.learned import Learned, PerItem, PerWorker, Trust, chances, share_right
from .in_memory import InMemoryMethod, Step, Steps, ready

# A run is the work that a thread takes at once. A run of this many labels is long enough, because fitting a matrix
# takes much time per label.
_LABELS_PER_RUN: Final = 1 << 12


@dataclass(frozen=True, eq=False)
class Interactions(Learned):
    """The matrices of workers and items.

    Attributes:
        worker_matrices: (workers, true class, said class), sigma in the formulas.
        item_matrices: (items, true class, said class), tau in the formulas.
        centre: (true class, said class), the matrix that the workers' matrices are drawn to.
        log_prior: (classes), the logarithms of the classes' probabilities before any label, up to a constant.
    """

    worker_matrices: PerWorker
    item_matrices: PerItem
    centre: Array
    log_prior: Array

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return chances(self.log_prior)

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.confusion)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item whose matrix is zero."""
        weights = _exponentials(self.worker_matrices)
        return np.asarray(weights / weights.sum(axis=2, keepdims=True))


class LogLinearMethod(InMemoryMethod):
    """The base of methods with a matrix for every worker and every item.

    There are more numbers in the matrices than labels to learn them from, so the matrices are regularised: each is
    drawn to a given matrix by a penalty on the squared distance, whose strength is called a ridge. A subclass says
    what the matrices are drawn to, and how strongly.
    """

    # Whether `centre` and the probabilities of the classes are learned; if not, they stay as they start.
    pooled: ClassVar[bool]

    @abstractmethod
    def centre(self, n_classes: int) -> Array:
        """(true class, said class): the matrix that every worker starts with and is drawn to."""

    @abstractmethod
    def ridges(self, labels: Labels) -> tuple[float, float]:
        """How strongly the workers' matrices are drawn to `centre`, and how strongly the items' matrices to zero."""

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more matrices than fit in memory."""
        super().check(labels)
        require_room(
            16
            * (labels.n_workers + labels.n_items)
            * labels.n_classes**2,  # 8 bytes each for a number and its exponential
            f"{type(self).__name__} needs a matrix for every worker and item: {labels.n_workers:,} workers and "
            f"{labels.n_items:,} items with {labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, fit the workers' matrices, then the items' matrices, then the classes of the items."""
        scores = shares(labels)
        worker_ridge, item_ridge = self.ridges(labels)
        items_of = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
        order = np.argsort(labels.workers, kind="stable")
        worker_starts = np.searchsorted(labels.workers[order], np.arange(labels.n_workers + 1))
        by_worker = (worker_starts, items_of[order], items_of[order], labels.labels[order])
        by_item = (labels.item_starts, items_of, labels.workers, labels.labels)
        worker_runs = list(runs(worker_starts, _LABELS_PER_RUN))
        item_runs = list(runs(labels.item_starts, _LABELS_PER_RUN))
        votes = scores.sum(axis=0)
        centre, log_prior = self.centre(labels.n_classes), np.zeros(labels.n_classes)
        zero = np.zeros_like(centre)
        workers, items = np.tile(centre, (labels.n_workers, 1, 1)), np.tile(zero, (labels.n_items, 1, 1))
        worker_weights, item_weights = _exponentials(workers), _exponentials(items)
        log_likelihood, changes = np.zeros(len(item_runs)), np.zeros((len(item_runs), labels.n_classes))

        def fit_workers(run: int) -> None:
            given = (*worker_runs[run], *by_worker, scores, item_weights)
            kernels.fit_matrices(*given, workers, worker_weights, centre, worker_ridge)

        def fit_items(run: int) -> None:
            given = (*item_runs[run], *by_item, scores, worker_weights)
            kernels.fit_matrices(*given, items, item_weights, zero, item_ridge)

        def score(run: int) -> None:
            weights = (worker_weights, item_weights)
            arrays = (labels.item_starts, labels.workers, labels.labels, *weights, log_prior, scores, changes[run])
            log_likelihood[run] = kernels.score_matrices(*item_runs[run], *arrays)

        with Threads(len(worker_runs)) as on_workers, Threads(len(item_runs)) as on_items:
            while True:
                on_workers.run(fit_workers)
                if self.pooled:
                    centre = workers.mean(axis=0)
                on_items.run(fit_items)
                if self.pooled:
                    # A class that nobody named stays as good as impossible, but its logarithm must be finite.
                    log_prior = np.log(np.maximum(scores.sum(axis=0) + votes, 1e-300))
                changes[:] = 0
                on_items.run(score)
                learned = Interactions(workers, items, centre, log_prior)
                yield Step(float(changes.max()), ready(scores, learned), -float(log_likelihood.sum()))

    def contributions(self, one: Labels, item: int, workers: Interactions) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of every class."""
        both = workers.worker_matrices[one.workers] + workers.item_matrices[item]
        highest = both.max(axis=2, keepdims=True)
        log_chance = both - highest - np.log(np.exp(both - highest).sum(axis=2, keepdims=True))
        return Contributions(workers.log_prior, log_chance.swapaxes(1, 2), logarithmic=True)


def _exponentials(matrices: Array) -> Array:
    """The exponentials of the matrices; every row is divided by the largest in it, so that none overflows."""
    return np.asarray(np.exp(matrices - matrices.max(axis=2, keepdims=True)))
