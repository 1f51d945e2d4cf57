"""Log-linear methods: a matrix for every worker and one for every item, fitted in turn with the classes."""

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
from ..results.learned import Learned, Trust, chances, share_right
from .in_memory import InMemoryMethod, Step, Steps, ready

# Labels in a run: few, because fitting a matrix takes long.
_RUN: Final = 1 << 12


@dataclass(frozen=True, eq=False)
class Interactions(Learned):
    """What workers and items contribute to what is said.

    Attributes:
        worker_matrices: (workers, true class, said class), sigma.
        item_matrices: (items, true class, said class), tau.
        centre: (true class, said class), what workers have in common.
        log_prior: (classes).
    """

    worker_matrices: Array
    item_matrices: Array
    centre: Array
    log_prior: Array

    @property
    def class_prior(self) -> Array:
        """How common each class is expected to be."""
        return chances(self.log_prior)

    def trust(self) -> Trust:
        """How often a worker is right."""
        return share_right(self.confusion)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class): probabilities on an item that adds nothing."""
        weights = _exponentials(self.worker_matrices)
        return np.asarray(weights / weights.sum(axis=2, keepdims=True))


class LogLinearMethod(InMemoryMethod):
    """A log-linear method: how it is fitted, and how its votes add up; subclasses say what holds the matrices back."""

    # Whether what workers have in common, and the balance of the classes, are learned; else they stay as they start.
    pooled: ClassVar[bool]

    @abstractmethod
    def centre(self, n_classes: int) -> Array:
        """(true class, said class): where every worker starts, and what it is drawn to."""

    @abstractmethod
    def ridges(self, labels: Labels) -> tuple[float, float]:
        """How strongly workers are drawn to their centre, and items to adding nothing."""

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more matrices than fit in memory."""
        super().check(labels)
        require_room(
            16 * (labels.n_workers + labels.n_items) * labels.n_classes**2,  # each with its exponentials
            f"{type(self).__name__} needs a matrix for every worker and item: {labels.n_workers:,} workers and "
            f"{labels.n_items:,} items with {labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def iterate(self, labels: Labels) -> Steps:
        """Fit the workers' matrices, then the items', then the classes."""
        scores = shares(labels)
        worker_ridge, item_ridge = self.ridges(labels)
        items_of = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
        order = np.argsort(labels.workers, kind="stable")
        worker_starts = np.searchsorted(labels.workers[order], np.arange(labels.n_workers + 1))
        by_worker = (worker_starts, items_of[order], items_of[order], labels.labels[order])
        by_item = (labels.item_starts, items_of, labels.workers, labels.labels)
        worker_runs, item_runs = list(runs(worker_starts, _RUN)), list(runs(labels.item_starts, _RUN))
        votes = scores.sum(axis=0)
        centre, log_prior = self.centre(labels.n_classes), np.zeros(labels.n_classes)
        nothing = np.zeros_like(centre)
        workers, items = np.tile(centre, (labels.n_workers, 1, 1)), np.tile(nothing, (labels.n_items, 1, 1))
        of_workers, of_items = (workers, _exponentials(workers)), (items, _exponentials(items))
        log_likelihood, changes = np.zeros(len(item_runs)), np.zeros((len(item_runs), labels.n_classes))

        def fit_workers(run: int) -> None:
            kernels.fit_matrices(*worker_runs[run], *by_worker, scores, of_items[1], *of_workers, centre, worker_ridge)

        def fit_items(run: int) -> None:
            kernels.fit_matrices(*item_runs[run], *by_item, scores, of_workers[1], *of_items, nothing, item_ridge)

        def score(run: int) -> None:
            weights = of_workers[1], of_items[1]
            arrays = (labels.item_starts, labels.workers, labels.labels, *weights, log_prior, scores, changes[run])
            log_likelihood[run] = kernels.score_matrices(*item_runs[run], *arrays)

        with Threads(len(worker_runs)) as on_workers, Threads(len(item_runs)) as on_items:
            while True:
                on_workers.run(fit_workers)
                if self.pooled:
                    centre = workers.mean(axis=0)
                on_items.run(fit_items)
                if self.pooled:
                    # A class that nobody named stays impossible, with a finite logarithm.
                    log_prior = np.log(np.maximum(scores.sum(axis=0) + votes, 1e-300))
                changes[:] = 0
                on_items.run(score)
                learned = Interactions(workers, items, centre, log_prior)
                yield Step(float(changes.max()), ready(scores, learned), -float(log_likelihood.sum()))

    def contributions(self, one: Labels, item: int, workers: Interactions) -> Contributions:
        """What each label of one item adds to the logarithm of every class's probability."""
        both = workers.worker_matrices[one.workers] + workers.item_matrices[item]
        highest = both.max(axis=2, keepdims=True)
        log_chance = both - highest - np.log(np.exp(both - highest).sum(axis=2, keepdims=True))
        return Contributions(workers.log_prior, log_chance.swapaxes(1, 2), logarithmic=True)


def _exponentials(matrices: Array) -> Array:
    """Of every row, relative to the largest in it."""
    return np.asarray(np.exp(matrices - matrices.max(axis=2, keepdims=True)))
