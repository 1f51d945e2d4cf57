"""`LogLinearMethod`: the base of methods with a matrix for every worker and a matrix for every item.

The probability of what a worker says of an item is the softmax of a row of the sum of both matrices: of the row of the
item's true class. One iteration fits the workers' matrices, then the items' matrices, then the classes of the items.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import shares
from ...errors import require_room
from ...fitting.in_memory import InMemoryMethod
from ...fitting.iterations import Step, Steps, ready
from ...fitting.limits import Limits
from ...numerics import Array
from ...numerics.elementary import softmax
from ...parallel import Threads, runs
from ...results.contributions import Contributions
from ...results.gold import clamped_scores
from ...results.learned import Learned, PerItem, PerWorker, Trust, share_right
from .. import MATRIX_CLASSES
from .model import ByWorker, fit_matrices, score_matrices

# A run is the work that a thread takes at once. A run of this many labels is long enough, because fitting a matrix
# takes much time per label.
_LABELS_PER_RUN: Final = 1 << 12


@dataclass(frozen=True, eq=False)
class Interactions(Learned):
    """What log-linear methods learn."""

    centre: Array  # (true class, said class), the matrix that the workers' matrices are drawn to
    log_prior: Array  # (classes), the logarithms of the classes' probabilities before any label, up to a constant
    worker_matrices: PerWorker  # (workers, true class, said class), sigma in the formulas
    item_matrices: PerItem  # (items, true class, said class), tau in the formulas

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return softmax(self.log_prior)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item whose matrix is zero."""
        return softmax(self.worker_matrices)

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.confusion)


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

    def limits(self) -> Limits:
        """It is for few classes."""
        return replace(super().limits(), most_classes=MATRIX_CLASSES)

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, many classes, and more matrices than fit in memory."""
        super().check(labels)
        require_room(
            self.bytes_needed(labels),
            f"{type(self).__name__} needs a matrix for every worker and item: {labels.n_workers:,} workers and "
            f"{labels.n_items:,} items with {labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def bytes_needed(self, labels: Crowd) -> int:
        """How many bytes the matrices take: 8 each for a number and its exponential."""
        return 16 * (labels.n_workers + labels.n_items) * labels.n_classes**2

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, an M step for the workers' matrices, one for the items' matrices, and an E step."""
        scores = shares(labels)
        votes = scores.sum(axis=0)
        centre, log_prior = self.centre(labels.n_classes), np.zeros(labels.n_classes)
        zero = np.zeros_like(centre)
        worker_ridge, item_ridge = self.ridges(labels)
        workers, items = np.tile(centre, (labels.n_workers, 1, 1)), np.tile(zero, (labels.n_items, 1, 1))
        # The exponentials of the matrices, each row divided by its largest, so that none overflows.
        worker_weights = np.tile(np.exp(centre - centre.max(axis=1, keepdims=True)), (labels.n_workers, 1, 1))
        item_weights = np.ones_like(items)
        by_worker, items_of = ByWorker.of(labels), labels.item_of
        worker_runs, item_runs = (list(runs(by.arrays[0], _LABELS_PER_RUN)) for by in (by_worker, labels))
        log_likelihood, changes = np.zeros(len(item_runs)), np.zeros((len(item_runs), labels.n_classes))

        def fit_workers(run: int) -> None:
            run_of = (by_worker.arrays[1], *worker_runs[run])
            fit_matrices(by_worker, *run_of, weighted, item_weights, workers, worker_weights, centre, worker_ridge)

        def fit_items(run: int) -> None:
            run_of = (items_of, *item_runs[run])
            fit_matrices(labels, *run_of, clamped, worker_weights, items, item_weights, zero, item_ridge)

        def score(run: int) -> None:
            given = (*item_runs[run], worker_weights, item_weights, log_prior, scores, changes[run])
            log_likelihood[run] = score_matrices(labels, *given)

        with Threads(len(worker_runs)) as on_workers, Threads(len(item_runs)) as on_items:
            while True:
                clamped, weighted = _with_gold(labels, scores)
                if self.pooled:
                    centre = workers.mean(axis=0)
                on_workers.run(fit_workers)
                on_items.run(fit_items)
                if self.pooled:
                    # A class that nobody named stays as good as impossible, but its logarithm must be finite.
                    log_prior = np.log(np.maximum(clamped.sum(axis=0) + votes, 1e-300))
                changes[:] = 0
                on_items.run(score)
                learned = Interactions(centre, log_prior, workers, items)
                final = _with_gold(labels, scores)[0]
                yield Step(float(changes.max()), ready(final, learned), -float(log_likelihood.sum()))

    def contributions(self, one: Labels, item: int, workers: Interactions) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of every class."""
        both = workers.worker_matrices[one.workers] + workers.item_matrices[item]
        highest = both.max(axis=2, keepdims=True)
        log_chance = both - highest - np.log(np.exp(both - highest).sum(axis=2, keepdims=True))
        return Contributions(workers.log_prior, log_chance.swapaxes(1, 2), logarithmic=True)


def _with_gold(labels: Labels, scores: Array) -> tuple[Array, Array]:
    """Return scores in which items of known class are clamped to it, and the same with these items counting for more.

    The scores themselves stay as they follow from the matrices, so that their changes show whether they have settled.
    """
    if labels.gold is None:
        return scores, scores
    clamped = clamped_scores(labels.gold, scores)
    return clamped, clamped * np.where(labels.gold >= 0, labels.known.gold_weight, 1.0)[:, None]
