"""Methods whose workers have a confusion matrix: the sweep they share, their parameters, their result."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from .. import kernels
from ..data.crowd import Crowd
from ..data.labels import Labels
from ..errors import require_room
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust, chances, share_right
from .loop import IterativeMethod

_FEW: Final = 8


class ConfusionCounts(NamedTuple):
    """Sufficient statistics; they add up over disjoint items."""

    confusion: Array  # (workers, said class, true class): sum of the probabilities of the true classes
    classes: Array  # (classes): sum of the probabilities over items
    log_likelihood: Array  # (1)


@dataclass(frozen=True, eq=False)
class Confusions(Learned):
    """What every worker says where each class is true.

    Attributes:
        evidence: (workers, said class, true class), what a label adds to the support of each class: the logarithm
            of the confusion, or its expectation.
        log_prior: (classes), the support of each class before any label.
        matrices: (workers, true class, said class), probabilities.
        objective: The log likelihood of the labels, negative, that the previous parameters gave.
    """

    evidence: Array
    log_prior: Array
    matrices: Array
    objective: Array

    @property
    def class_prior(self) -> Array | None:
        """The probability of each class before any label."""
        return chances(self.log_prior)

    @property
    def confusion(self) -> Array:
        """What every worker says where each class is true."""
        return self.matrices

    def trust(self) -> Trust:
        """How often a worker is right."""
        return share_right(self.matrices)


class ConfusionMethod(IterativeMethod[Confusions, ConfusionCounts]):
    """An iterative method over confusion matrices: subclasses say how to estimate them."""

    def check(self, labels: Crowd) -> None:
        """One class a vote, and matrices that fit in memory."""
        super().check(labels)
        refuse_too_many(labels, type(self).__name__)

    def count_size(self, labels: Labels) -> int:
        """A matrix has classes squared numbers, and counting one label into it is as much work as classes."""
        return labels.n_workers * labels.n_classes

    def empty_counts(self, labels: Labels, workers: Confusions | None) -> ConfusionCounts:
        """Nothing counted yet."""
        classes = labels.n_classes
        return ConfusionCounts(np.zeros((labels.n_workers, classes, classes)), np.zeros(classes), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Confusions | None, counts: ConfusionCounts) -> Array:
        """Posterior probabilities of the classes, and confusion counted by them."""
        changes = np.zeros(labels.n_classes)
        kernels.sweep_confusions(
            labels.item_starts,
            labels.workers,
            labels.labels,
            in_registers(labels.n_classes),
            None if workers is None else (workers.evidence.reshape(-1, labels.n_classes), workers.log_prior),
            np.inf,  # without smoothing, a class with next to no probability still shapes a matrix
            scores,
            changes,
            *counts,
        )
        return changes

    def contributions(self, one: Labels, item: int, workers: Confusions) -> Contributions:
        """What each label of one item adds to the logarithm of every class's probability."""
        return Contributions(workers.log_prior, workers.evidence[one.workers], logarithmic=True)


def in_registers(n_classes: int) -> tuple[int, ...] | None:
    """All classes, if they are few enough for the registers of a processor; a kernel is compiled for each number."""
    return tuple(range(n_classes)) if n_classes <= _FEW else None


def refuse_too_many(labels: Crowd, name: str) -> None:
    """Refuse confusion matrices that would not fit in memory, before any is made."""
    require_room(
        8 * labels.n_workers * labels.n_classes**2,
        f"{name} needs a confusion matrix for every worker: {labels.n_workers:,} workers with "
        f"{labels.n_classes:,} classes",
        "Use a method with a number per worker instead, such as bwa.",
    )


def counted(counts: ConfusionCounts) -> Array:
    """The counts as (workers, true class, said class)."""
    return counts.confusion.swapaxes(1, 2)


def as_evidence(log_confusion: Array) -> Array:
    """(workers, true class, said class) as the sweep wants it."""
    return np.ascontiguousarray(log_confusion.swapaxes(1, 2))


def log(values: Any) -> Array:
    """The logarithm, -inf at zero without a warning: an impossible class is allowed."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
