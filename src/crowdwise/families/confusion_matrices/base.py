"""`ConfusionMethod`: the base of methods in which every worker has a confusion matrix.

A confusion matrix has a row for every true class: the probabilities of what the worker says when that class is true.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...errors import require_room
from ...fitting.limits import Limits
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...numerics.elementary import softmax
from ...results.contributions import Contributions
from ...results.learned import ClassAxes, Learned, PerWorker, Shared, Trust, share_right
from .model import soft_factors, sweep_confusions

# With more classes than this, the numbers of one item do not fit in the registers of a processor.
_MOST_IN_REGISTERS: Final = 8


class ConfusionCounts(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together."""

    # (workers, said class, true class): the sum, over the worker's labels that name the said class, of the probability
    # that the item is of the true class
    confusion: Annotated[PerWorker, ClassAxes((1, 2))]
    # (classes): the sum over the items of the probability that the item is of this class
    classes: Annotated[Shared, ClassAxes((0,))]
    log_likelihood: Array  # (1): the log likelihood of the labels


@dataclass(frozen=True, eq=False)
class Confusions(Learned):
    """The confusion matrices of the workers, and how common the classes are.

    The support of a class is the logarithm of its probability, up to a constant.

    Attributes:
        evidence: (workers, said class, true class), what a label adds to the support of each true class: the logarithm
            of a probability in the confusion matrix, or the expectation of that logarithm.
        log_prior: (classes), the support of each class before any label.
        matrices: (workers, true class, said class), the probability of what a worker says.
        objective: The negative log likelihood of the labels under the parameters of the iteration before.
    """

    evidence: PerWorker
    log_prior: Array
    matrices: PerWorker
    objective: Array

    @property
    def class_prior(self) -> Array | None:
        """(classes), the probability of each class before any label."""
        return softmax(self.log_prior)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says."""
        return self.matrices

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.matrices)


class ConfusionMethod(SweepingMethod[Confusions, ConfusionCounts]):
    """The base of methods with a confusion matrix per worker: a subclass says how to estimate the matrices."""

    def limits(self) -> Limits:
        """Matrices that are probabilities take votes with a probability."""
        return replace(super().limits(), takes_soft=self.key in ("ds", "lfc"))

    # How many matrices of a worker are in memory at the same time: what was counted, what was learned in this iteration
    # and in the one before, and what is made on the way.
    matrices_at_once: ClassVar[int] = 6

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more confusion matrices than fit in memory."""
        super().check(labels)
        require_room(
            self.bytes_needed(labels),
            f"{type(self).__name__} needs a confusion matrix for every worker: {labels.n_workers:,} workers with "
            f"{labels.n_classes:,} classes",
            "Use a method with a number per worker instead, such as bwa.",
        )

    def bytes_needed(self, labels: Crowd) -> int:
        """The most bytes that matrices take at the same time."""
        return 8 * self.matrices_at_once * labels.n_workers * labels.n_classes**2

    def count_size(self, labels: Labels) -> int:
        """The counts hold classes times as many numbers, but counting one label also takes classes times as long."""
        return labels.n_workers * labels.n_classes

    def empty_counts(self, labels: Labels, workers: Confusions | None) -> ConfusionCounts:
        """Zeros, which `sweep` adds to."""
        classes = labels.n_classes
        return ConfusionCounts(np.zeros((labels.n_workers, classes, classes)), np.zeros(classes), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Confusions | None, counts: ConfusionCounts) -> Array:
        """E step: score items by the probabilities of their classes, and count what workers say of each class."""
        changes = np.zeros(labels.n_classes)
        sweep_confusions(
            labels,
            in_registers(labels.n_classes),
            None if workers is None else (workers.evidence.reshape(-1, labels.n_classes), workers.log_prior),
            np.inf,  # leave out no class: without smoothing, even a tiny probability can decide a row of a matrix
            scores,
            changes,
            *counts,
        )
        return changes

    def contributions(self, one: Labels, item: int, workers: Confusions) -> Contributions:
        """What each label of one item adds to the logarithm of the probability of every class."""
        evidence = workers.evidence[one.workers]
        if one.soft is not None:
            weights = one.soft[:, -1, None]
            log_m, _ = soft_factors(one, workers.evidence.reshape(-1, one.n_classes))
            with np.errstate(invalid="ignore"):
                evidence = np.where(weights[..., None] > 0, weights[..., None] * evidence, 0.0)
                evidence[np.arange(one.n_labels), one.labels] = np.where(weights > 0, weights * log_m, 0.0)
        return Contributions(workers.log_prior, evidence, logarithmic=True)


def in_registers(n_classes: int) -> tuple[int, ...] | None:
    """The numbers of all classes, if they are few enough for the registers of a processor; None if they are not.

    The kernel is compiled once for each number of classes, and is faster when the classes fit in registers.
    """
    return tuple(range(n_classes)) if n_classes <= _MOST_IN_REGISTERS else None


def by_true_class(counts: ConfusionCounts) -> Array:
    """(workers, true class, said class): the counts of a sweep, arranged as confusion matrices are."""
    return counts.confusion.swapaxes(1, 2)


def right_and_wrong(counts: Array, one_coin: bool) -> tuple[Array, Array]:
    """Two arrays (workers, classes): how many labels are right and wrong where each class is true.

    `counts` is (workers, true class, said class). With `one_coin`, they are about all classes together, so that those
    of a worker are all the same.
    """
    right = np.diagonal(counts, axis1=1, axis2=2)
    wrong = counts.sum(axis=2) - right
    if one_coin:
        right, wrong = (np.broadcast_to(one.sum(axis=1, keepdims=True), one.shape) for one in (right, wrong))
    return right, wrong


def as_evidence(log_confusion: Array) -> Array:
    """(workers, said class, true class), as the kernel reads it, from (workers, true class, said class)."""
    return np.ascontiguousarray(log_confusion.swapaxes(1, 2))


def log(values: Any) -> Array:
    """The logarithm; of zero it is -inf, without NumPy's warning, because an impossible class is allowed."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
