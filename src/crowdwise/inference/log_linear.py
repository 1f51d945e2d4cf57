"""Log-linear methods: a matrix for every worker and one for every item, fitted in turn with the classes."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from .. import kernels
from ..data.labels import Labels, shares
from ..errors import require_room
from ..kernels import Array
from ..parallel import Threads, runs
from ..results.contributions import Support
from ..results.quality import accuracies
from ..results.result import Convergence, Result
from .loop import Progress

# Labels in a run: few, because fitting a matrix takes long.
_RUN: Final = 1 << 12


@dataclass(frozen=True, eq=False)
class Interactions:
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
    def confusion(self) -> Array:
        """(workers, true class, said class): probabilities on an item that adds nothing."""
        weights = _exponentials(self.worker_matrices)
        return np.asarray(weights / weights.sum(axis=2, keepdims=True))


class InteractionMethod:
    """A log-linear method: how it is fitted, and how its votes add up; subclasses say what holds the matrices back."""

    tolerance: float
    max_iterations: int
    # Whether what workers have in common, and the balance of the classes, are learned; else they stay as they start.
    pooled: ClassVar[bool]

    @abstractmethod
    def centre(self, n_classes: int) -> Array:
        """(true class, said class): where every worker starts, and what it is drawn to."""

    @abstractmethod
    def ridges(self, labels: Labels) -> tuple[float, float]:
        """How strongly workers are drawn to their centre, and items to adding nothing."""

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth: fit workers, items and classes in turn until the scores settle.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_suitable(self)
        name = type(self).__name__
        labels.require_single_votes(name)
        require_room(
            16 * (labels.n_workers + labels.n_items) * labels.n_classes**2,  # each with its exponentials
            f"{name} needs a matrix for every worker and item: {labels.n_workers:,} workers and {labels.n_items:,} "
            f"items with {labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )
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

        history: list[float] = []
        with Threads(len(worker_runs)) as on_workers, Threads(len(item_runs)) as on_items:
            for iteration in range(1, self.max_iterations + 1):
                on_workers.run(fit_workers)
                if self.pooled:
                    centre = workers.mean(axis=0)
                on_items.run(fit_items)
                if self.pooled:
                    # A class that nobody named stays impossible, with a finite logarithm.
                    log_prior = np.log(np.maximum(scores.sum(axis=0) + votes, 1e-300))
                changes[:] = 0
                on_items.run(score)
                history.append(-float(log_likelihood.sum()))
                change = float(changes.max())
                if progress is not None:
                    progress(iteration, change)
                if change < self.tolerance:
                    break
        return Result.build(
            self,
            labels,
            scores,
            "probability",
            convergence=Convergence(iteration, change < self.tolerance, change, tuple(history)),
            workers=Interactions(workers, items, centre, log_prior),
            quality=accuracies,
        )

    def support(self, one: Labels, item: int, workers: Interactions) -> Support:
        """What each label of one item adds to the logarithm of every class's probability."""
        both = workers.worker_matrices[one.workers] + workers.item_matrices[item]
        highest = both.max(axis=2, keepdims=True)
        log_chance = both - highest - np.log(np.exp(both - highest).sum(axis=2, keepdims=True))
        return Support(workers.log_prior, log_chance.swapaxes(1, 2), logarithmic=True)


def _exponentials(matrices: Array) -> Array:
    """Of every row, relative to the largest in it."""
    return np.asarray(np.exp(matrices - matrices.max(axis=2, keepdims=True)))
