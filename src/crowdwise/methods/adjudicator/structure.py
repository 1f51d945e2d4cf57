"""What both forms of the adjudicator share: the types of items, and what all workers have in common.

There are two forms of the workers: `few_classes` with a matrix of logits for every worker, and `many_classes` with a
few numbers for every worker and class.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

import numpy as np

from ...crowd.labels import Labels
from ...crowd.numbering import Numbering, inverse
from ...families import MATRIX_CLASSES
from ...numerics import Array
from ...results.learned import Learned, PerWorker
from .constants import FIRST_SHARES, FIRST_VARIANCE
from .copies import Copies
from .model import next_classes

# The logarithm of the probability of a class that nobody named, if an item is known to be of it.
_LEAST_LOGARITHM: Final = -100.0
# The adjudicator is as good as the best of ten workers: the expected largest of ten standard normal numbers.
_COMPETENCE: Final = 1.5388

# The places of the sums that a sweep makes over all items; for the first six, see `sweep_pulls` in
# few_classes_kernel.py. LABELS is the number of labels, LABELLED that of items which have any, and TAUGHT how many
# items are of a known class, or were in earlier labels. The last three are plain counts, whatever a label or an item
# weighs.
MOVED, LOG_LIKELIHOOD, KEPT, LARGEST, ITEMS, SQUARED_LABELS, LABELS, LABELLED, TAUGHT = range(9)
N_TOTALS: Final = 9


@dataclass(frozen=True, eq=False)
class StructuredWorkers(Learned):
    """The logits of the workers, and what all workers share.

    Attributes:
        centre: (true class, said class), the mean logits of all workers.
        variances: How much workers differ in each part of their logits.
        class_shares: (classes), how common the classes are.
        type_shares: (1 + 2 * strengths), how common the types are, in the order of `FIRST_SHARES`.
        vote_classes: (classes), the sum of the vote shares over the items.
        exponents, block_of, follows: (workers), as in `Copies`.
        followed: (workers, 2), how often it says the same as its leader, or as the first of its block, and about how
            many items; zeros for those who follow nobody.
        copying: What is known about the workers who follow others; None if nobody does.
        kept: The share of the votes that the scores of the iteration before keep, as the mean of the items.
        objective: The negative log likelihood of the labels under the parameters of the iteration before.
        density: How many labels an item of the crowd has, and at least 2; n in results/calibration.py.
        lone: Whether no item has two labels, and nothing else is known: then nothing can be learned from agreement.
    """

    centre: Array
    variances: Array
    class_shares: Array
    type_shares: Array
    vote_classes: Array
    exponents: PerWorker
    block_of: PerWorker
    follows: PerWorker
    followed: PerWorker
    copying: "Copying | None"
    kept: float
    objective: Array
    density: float
    lone: bool

    @property
    def counted_as(self) -> Array:
        """(workers), how many workers each one counts as, where all who say the same labelled an item."""
        return np.where(self.follows >= 0, 0.0, self.exponents)

    @property
    def leaders(self) -> Array:
        """(workers), the code of the worker whom it follows; -1 for none."""
        return self.follows

    @property
    def copies(self) -> Copies:
        """Which workers count as less than one."""
        return Copies(self.exponents, self.block_of, self.follows)

    @property
    def followers(self) -> Array:
        """(pairs, 4), who copies whom: follower, leader, how often they agree, and about how many items."""
        pairs = self.copies.pairs
        return np.column_stack([pairs, self.followed[pairs[:, 0]]])

    def reordered(self: Self, numbering: Numbering) -> Self:
        """Return a copy with workers in the order of their first appearance; they are named by their codes there."""
        found = super().reordered(numbering)
        places = np.append(inverse(numbering.worker_numbers), -1)
        copying = None if found.copying is None else found.copying.reordered(numbering)
        return replace(found, follows=places[found.follows], copying=copying)

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return self.class_shares

    @cached_property
    def log_class_shares(self) -> Array:
        """(classes), the logarithms of how common the classes are; -inf for one that nobody named."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.class_shares))

    @cached_property
    def adjudicator(self) -> Array:
        """(true class, answer), the logits of what an adjudicator answers to an item without a pull.

        An adjudicator belongs to the population of the workers, and is better than their mean in all parts that make
        right answers: not in style.
        """
        deviation = np.sqrt(self.variances.sum() - self.variances[2])
        return np.asarray(self.centre + _COMPETENCE * deviation * np.eye(len(self.centre)))

    @abstractmethod
    def sweep(self, labels: Labels, scores: Array, counts: Any, known: int | None = None) -> Array:
        """E step: score items by the probabilities of their latent classes, and count them.

        If a class is `known`, no other class is possible, but all pulls are.
        """

    @abstractmethod
    def m_step(self, counts: Any) -> "StructuredWorkers":
        """M step: learn the workers from the counts of a sweep with these workers."""

    @abstractmethod
    def answers(self, labels: Labels) -> tuple[Array, Array]:
        """Return (items, classes), the answers of an adjudicator, and (items), the probabilities of traps."""

    @abstractmethod
    def types(self, one: Labels) -> "ItemTypes":
        """Return what is known of the types of an item, given the labels of that item alone."""


@dataclass(frozen=True, eq=False)
class Copying:
    """What is known about the workers who follow others.

    `nats` is how much more probable all labels are if the block of the worker is a leader and followers than if all are
    independent, as a natural logarithm.
    """

    agreed: Array  # (workers), in how many comparisons a follower says the same as its leader
    compared: Array  # (workers), the number of these comparisons
    nats: Array  # (workers)
    changed: int  # how many answers are different because of that
    instead: StructuredWorkers  # what is believed of the workers if nobody follows

    def reordered(self, numbering: Numbering) -> "Copying":
        """Return a copy with workers in the order of their first appearance."""
        places = numbering.worker_numbers
        agreed, compared, nats = self.agreed[places], self.compared[places], self.nats[places]
        return Copying(agreed, compared, nats, self.changed, self.instead.reordered(numbering))


class ItemTypes(NamedTuple):
    """What is known of the types of one item."""

    true_class: Array  # (types), the latent class
    log_prior: Array  # (types), the logarithm of the probability before any label
    said_classes: Array  # (said classes), the classes that rows could have said as far as is looked at
    log_said: Array  # (types, rows, said classes), that of every such class that the worker of a row could say
    log_answer: Array  # (types, classes), that of the adjudicator's answers


def count_votes(labels: Labels, copies: Copies | None, totals: Array) -> None:
    """Add the labels of these items that are not left out, and the items that have any, to the sums of a sweep."""
    kept = None if copies is None else copies.counted(labels)
    given = np.diff(labels.item_starts) if kept is None else np.bincount(labels.item_of[kept])
    totals[LABELS] += given.sum()
    totals[LABELLED] += np.count_nonzero(given)


def density_of(totals: Array) -> tuple[float, bool]:
    """Return `density` and `lone` of a crowd, given the sums of a sweep."""
    labels, labelled = float(totals[LABELS]), float(totals[LABELLED])
    return max(labels / max(labelled, 1.0), 2.0), labels == labelled and totals[TAUGHT] == 0


def first_shared(counts: Any, vote_classes: Array, copies: Copies, start: float, n_parts: int) -> dict[str, Any]:
    """Return what all workers share before anything is learned, as arguments; the centre is `start` I."""
    density, lone = density_of(counts.totals)
    return {
        "centre": start * np.eye(len(counts.classes)),
        "variances": np.full(n_parts, FIRST_VARIANCE),
        "class_shares": next_classes(counts.classes, vote_classes),
        "type_shares": FIRST_SHARES,
        "vote_classes": vote_classes,
        **copies._asdict(),
        "followed": np.zeros((len(copies.follows), 2)),
        "copying": None,
        "kept": 1.0,
        "objective": np.zeros(0),
        "density": density,
        "lone": lone,
    }


def starting_excess(right: float, wrong: float, n_classes: int) -> float:
    """By how much the logit of a right answer is larger than others at the start, given how many labels agree."""
    found = np.log((right + 1) / (wrong + 1) * max(n_classes - 1, 1))
    return float(np.clip(found, 0.5, 4.0 + _more_classes(n_classes)))


def diagonal_excess(centre: Array) -> float:
    """By how much the diagonal of the centre is larger than the rest, in the mean and within limits."""
    n_classes = len(centre)
    right = np.trace(centre) / n_classes
    wrong = (centre.sum() - np.trace(centre)) / max(n_classes * (n_classes - 1), 1)
    return float(np.clip(right - wrong, 0.5, 6.0 + _more_classes(n_classes)))


def _more_classes(n_classes: int) -> float:
    """By how much a logit may be larger where there are many classes, for the same share of right answers."""
    return max(0.0, float(np.log(max(n_classes - 1, 1) / (MATRIX_CLASSES - 1))))


def only(known: int | None, log_prior: Array) -> Array:
    """The logarithms of probabilities of classes (classes), if only one class is possible; None for all."""
    if known is None:
        return log_prior
    # A class that nobody named is possible if it is known.
    of_known = max(float(log_prior[known]), _LEAST_LOGARITHM)
    return np.where(np.arange(len(log_prior)) == known, of_known, -np.inf)
