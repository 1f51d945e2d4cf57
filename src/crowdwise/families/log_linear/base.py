"""`LogLinearMethod`: the base of methods with a matrix for every worker and a matrix for every item.

The probability of what a worker says of an item is the softmax of a row of the sum of both matrices: of the row of the
item's true class. One iteration fits the workers' matrices, then the items' matrices, then the classes of the items.
"""

import math
from abc import abstractmethod
from typing import ClassVar, Final

import numpy as np

from ...data.crowd import Crowd
from ...data.labels import Labels, shares
from ...errors import require_room
from ...fitting.in_memory import InMemoryMethod, Step, Steps, ready
from ...numerics import Array
from ...parallel import Threads, runs
from ...results.contributions import Contributions
from ...results.gold import clamped_scores
from .matrices import ByWorker, Interactions, Matrices
from .tied_matrices import TiedMatrices
from .whole_matrices import WholeMatrices

# A run is the work that a thread takes at once. A run of this many labels is long enough, because fitting a matrix
# takes much time per label.
_LABELS_PER_RUN: Final = 1 << 12
# With more classes than this, the numbers of classes that were not said are shared; see `tied_matrices`.
_FEW_CLASSES: Final = 16


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
            _kind(labels).size(labels),
            f"{type(self).__name__} needs a matrix for every worker and item: {labels.n_workers:,} workers and "
            f"{labels.n_items:,} items with {labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, fit the workers' matrices, then the items' matrices, then the classes of the items."""
        scores = shares(labels)
        votes = scores.sum(axis=0)
        clamped, weighted = _known(labels, scores)
        by_worker = ByWorker.of(labels)
        matrices: Matrices = _kind(labels)(labels, by_worker, self.centre(labels.n_classes), self.ridges(labels))
        log_prior = np.zeros(labels.n_classes)
        # With many classes, a label takes the longer the more there are.
        labels_per_run = math.ceil(_LABELS_PER_RUN * _FEW_CLASSES / max(_FEW_CLASSES, labels.n_classes))
        worker_runs = list(runs(by_worker.starts, labels_per_run))
        item_runs = list(runs(labels.item_starts, labels_per_run))
        log_likelihood, changes = np.zeros(len(item_runs)), np.zeros((len(item_runs), labels.n_classes))

        def fit_workers(run: int) -> None:
            matrices.fit_workers(*worker_runs[run], weighted)

        def fit_items(run: int) -> None:
            matrices.fit_items(*item_runs[run], clamped)

        def score(run: int) -> None:
            log_likelihood[run] = matrices.score(*item_runs[run], log_prior, scores, changes[run])

        with Threads(len(worker_runs)) as on_workers, Threads(len(item_runs)) as on_items:
            while True:
                clamped, weighted = _known(labels, scores)
                if self.pooled:
                    matrices.pool()
                on_workers.run(fit_workers)
                on_items.run(fit_items)
                if self.pooled:
                    # A class that nobody named stays as good as impossible, but its logarithm must be finite.
                    log_prior = np.log(np.maximum(clamped.sum(axis=0) + votes, 1e-300))
                changes[:] = 0
                on_items.run(score)
                learned = matrices.learned(log_prior)
                final = _known(labels, scores)[0]
                yield Step(float(changes.max()), ready(final, learned), -float(log_likelihood.sum()))

    def contributions(self, one: Labels, item: int, workers: Interactions) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of every class."""
        both = np.stack([workers.worker_matrix(worker) for worker in one.workers]) + workers.item_matrix(item)
        highest = both.max(axis=2, keepdims=True)
        log_chance = both - highest - np.log(np.exp(both - highest).sum(axis=2, keepdims=True))
        return Contributions(workers.log_prior, log_chance.swapaxes(1, 2), logarithmic=True)


def _known(labels: Labels, scores: Array) -> tuple[Array, Array]:
    """Return scores in which items of known class are clamped to it, and the same with these items counting for more.

    The scores themselves stay as they follow from the matrices, so that their changes show whether they have settled.
    """
    if labels.gold is None:
        return scores, scores
    clamped = clamped_scores(labels.gold, scores)
    return clamped, clamped * np.where(labels.gold >= 0, labels.known.gold_weight, 1.0)[:, None]


def _kind(labels: Crowd) -> type[WholeMatrices] | type[TiedMatrices]:
    """How the matrices are kept: whole if there are few classes, else with shared numbers."""
    return WholeMatrices if labels.n_classes <= _FEW_CLASSES else TiedMatrices
