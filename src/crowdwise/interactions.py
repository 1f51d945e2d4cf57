"""Log-linear methods: a matrix for every worker and one for every item, fitted in turn with the classes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import kernels
from .kernels import Array
from .labels import Labels
from .loop import Progress
from .quality import accuracies
from .result import Convergence, Result


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
        weights = np.exp(self.worker_matrices - self.worker_matrices.max(axis=2, keepdims=True))
        return np.asarray(weights / weights.sum(axis=2, keepdims=True))


def fit_interactions(
    method: Any,
    labels: Labels,
    scores: Array,
    first: Interactions,
    *,
    worker_ridge: float,
    item_ridge: float,
    learn_centre: bool,
    learn_prior: bool,
    progress: Progress | None,
) -> Result:
    """Fit workers, items and classes in turn until the scores settle; `scores` hold vote shares and are overwritten."""
    items_of = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    by_worker = np.argsort(labels.workers, kind="stable")
    worker_starts = np.searchsorted(labels.workers[by_worker], np.arange(labels.n_workers + 1))
    in_order = np.arange(labels.n_labels)
    votes = scores.sum(axis=0)
    workers, items = first.worker_matrices.copy(), first.item_matrices.copy()
    centre, log_prior = first.centre, first.log_prior
    nothing = np.zeros_like(centre)
    history: list[float] = []
    for iteration in range(1, method.max_iterations + 1):
        kernels.fit_matrices(
            worker_starts, by_worker, items_of, items_of, labels.labels, scores, items, workers, centre, worker_ridge
        )
        if learn_centre:
            centre = workers.mean(axis=0)
        kernels.fit_matrices(
            labels.item_starts,
            in_order,
            items_of,
            labels.workers,
            labels.labels,
            scores,
            workers,
            items,
            nothing,
            item_ridge,
        )
        if learn_prior:
            # A class that nobody named stays impossible, with a finite logarithm.
            log_prior = np.log(np.maximum(scores.sum(axis=0) + votes, 1e-300))
        changes = np.zeros(labels.n_classes)
        arrays = (labels.item_starts, labels.workers, labels.labels)
        history.append(-kernels.score_matrices(*arrays, workers, items, log_prior, scores, changes))
        change = float(changes.max())
        if progress is not None:
            progress(iteration, change)
        if change < method.tolerance:
            break
    return Result.build(
        method,
        labels,
        scores,
        "probability",
        convergence=Convergence(iteration, change < method.tolerance, change, tuple(history)),
        workers=Interactions(workers, items, centre, log_prior),
        quality=accuracies,
    )
