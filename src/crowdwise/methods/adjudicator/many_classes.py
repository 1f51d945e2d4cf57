"""The adjudicator's workers where there are many classes: a few numbers for every worker and class.

A matrix for every worker would be too large, and nobody has the labels to fill it. So the part D, the rest, is left
out, and the true class and the pull of an item are among the classes that were named on it. Second derivatives are
taken between the parts of a class only; slopes are exact, so the workers settle where they would with all of them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...crowd.votes import given_by_class
from ...errors import require_room
from ...numerics import Array
from ...numerics.elementary import log_softmax, softmax
from ...results.learned import PerWorker, Trust
from . import many_model
from .constants import CENTRE_PRECISION, LONGEST_MOVE, STRENGTHS
from .copies import Copies
from .model import Types, cut, next_classes, next_shares, next_variances
from .structure import (
    ITEMS,
    KEPT,
    LARGEST,
    LOG_LIKELIHOOD,
    N_TOTALS,
    SQUARED_LABELS,
    ItemTypes,
    StructuredWorkers,
    diagonal_excess,
    first_shared,
    only,
    starting_excess,
)

# Steps are shorter than Newton's, because second derivatives between classes, which are left out, would shorten them.
_STEP: Final = 2 / 3


class NamedCounts(NamedTuple):
    """What a sweep counts; the counts of disjoint sets of items can be added. See `sweep_named_pulls`."""

    right: PerWorker  # (workers, classes)
    curvature: PerWorker  # (workers, classes)
    mass: PerWorker  # (workers, classes)
    lifted: PerWorker  # (workers, classes)
    lifted_right: PerWorker  # (workers, classes)
    confusion: Array  # (true class, said class)
    lifted_confusion: Array  # (true class, said class)
    classes: Array  # (classes)
    easy: Array  # (strengths)
    traps: Array  # (strengths)
    totals: Array  # the sums that structure.py names
    said: PerWorker  # (workers, classes), the labels of every worker
    agreed: Array  # (1), the sum over the labels of the score of the class that is said; in a first sweep only

    @property
    def given(self) -> Array:
        """(workers), how many labels each worker gave."""
        return np.asarray(self.said.sum(axis=1))

    @classmethod
    def empty(cls, labels: Labels, first: bool) -> "NamedCounts":
        """Counts of no items; a first sweep counts only what the first workers need."""
        n_workers, n_classes, strengths = labels.n_workers, labels.n_classes, len(STRENGTHS)
        per_worker, pairs = (0 if first else n_workers, n_classes), (0 if first else n_classes, n_classes)
        shapes = [*[per_worker] * 5, pairs, pairs, n_classes, strengths, strengths, N_TOTALS, (n_workers, n_classes), 1]
        return cls(*(np.zeros(shape) for shape in shapes))


@dataclass(frozen=True, eq=False)
class ManyClasses(StructuredWorkers):
    """Workers with an ability, and a class-wise part and a style for every class."""

    ability: PerWorker  # (workers)
    class_part: PerWorker  # (workers, classes)
    style: PerWorker  # (workers, classes)

    @cached_property
    def _skill(self) -> Array:
        """(workers, classes), what is added to the logit of a right answer."""
        return np.asarray(self.ability[:, None] + self.class_part)

    @cached_property
    def _base(self) -> Array:
        """(true class, said class), the exponentials of the centre, divided by the largest of each row."""
        return np.asarray(np.exp(self.centre - self.centre.max(axis=1, keepdims=True)))

    @cached_property
    def _totals(self) -> Array:
        """(workers, true class), the sums of the exponentials of the logits, in the units of `_base`."""
        styles = np.exp(self.style)
        return np.asarray(styles @ self._base.T + styles * np.diagonal(self._base) * np.expm1(self._skill))

    @cached_property
    def _shares_right(self) -> Array:
        """(workers, classes), the probability of a right answer without a pull."""
        return np.asarray(np.exp(self.style + self._skill) * np.diagonal(self._base) / self._totals)

    @cached_property
    def parameters(self) -> tuple[Array, ...]:
        """What the E step needs to know."""
        types = self.type_shares.copy()
        types[1 + len(STRENGTHS) :] /= max(len(self.centre) - 1, 1)
        own, share = np.exp(self._skill), 1 / self._totals
        workers = self._base, np.exp(self.style), own, share
        return *workers, self.log_class_shares, np.log(types), STRENGTHS

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item without a pull."""
        n_workers, n_classes = self.style.shape
        size = 16 * n_workers * n_classes**2
        require_room(size, "The confusion matrices of all workers", "Look at trust() instead.")
        logits = self.centre + self.style[:, None]
        logits[:, range(n_classes), range(n_classes)] += self._skill
        return softmax(logits)

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return Trust(self._shares_right.mean(axis=1), "Share right, mean over classes")

    def sweep(self, labels: Labels, scores: Array, counts: NamedCounts, known: int | None = None) -> Array:
        """E step: score items by the probabilities of their latent classes, and count them.

        If a class is known, items on which nobody named it are counted without a pull: only classes that were named
        are possible otherwise.
        """
        if known is not None:
            naming = np.isin(np.arange(labels.n_items), labels.item_of[labels.labels == known])
            self._count_unnamed(labels.select(np.flatnonzero(~naming)), known, counts)
            labels, scores = labels.select(np.flatnonzero(naming)), scores[naming]
        changes = np.zeros(labels.n_classes)
        parameters = (*self.parameters[:4], only(known, self.log_class_shares), *self.parameters[5:])
        many_model.sweep_named_pulls(labels, self.copies.weights(labels), parameters, scores, changes, *counts[:-2])
        counts.said[:] += given_by_class(labels)
        return changes

    def _count_unnamed(self, labels: Labels, known: int, counts: NamedCounts) -> None:
        """Count items that are known to be of a class which nobody named on them: all of their labels are wrong."""
        share = self._shares_right[labels.workers, known]
        counts.mass[:, known] += np.bincount(labels.workers, minlength=labels.n_workers)
        counts.curvature[:, known] += np.bincount(labels.workers, share * (1 - share), labels.n_workers)
        counts.confusion[known] += np.bincount(labels.labels, minlength=labels.n_classes)
        counts.classes[known] += labels.n_items
        counts.totals[ITEMS] += labels.n_items
        counts.said[:] += given_by_class(labels)

    def m_step(self, counts: NamedCounts) -> "ManyClasses":
        """M step: learn the workers from the counts of a sweep with these workers."""
        n_workers, n_classes = self.style.shape
        # What was expected of the workers: the labels of each class, right ones among them, and the two classes.
        styles, own = np.exp(self.style), np.diagonal(self._base) * np.expm1(self._skill)
        rates = counts.mass / self._totals
        expected_said = styles * (rates @ self._base + rates * own) + counts.lifted
        expected_right = counts.mass * self._shares_right + counts.lifted_right
        expected = self._base * (rates.T @ styles) + counts.lifted_confusion
        expected[range(n_classes), range(n_classes)] = expected_right.sum(axis=0)
        parts, squares, uncertain = _moved_parts(
            self,
            right=counts.right - expected_right,
            said=counts.said - expected_said,
            curvature=counts.curvature,
            wrong=np.maximum(expected_said - expected_right, 0),
        )
        slope = (
            counts.confusion
            - expected
            + CENTRE_PRECISION * (diagonal_excess(self.centre) * np.eye(n_classes) - self.centre)
        )
        curvature = expected.copy()
        curvature[range(n_classes), range(n_classes)] = counts.curvature.sum(axis=0)
        sizes = n_workers * np.array([1, n_classes, n_classes])
        return replace(
            self,
            centre=self.centre + cut(_STEP * slope / (curvature + CENTRE_PRECISION)),
            variances=next_variances(self.variances, squares, uncertain, sizes),
            class_shares=next_classes(counts.classes, self.vote_classes),
            type_shares=next_shares(counts.totals[ITEMS], counts.easy, counts.traps),
            kept=float(counts.totals[KEPT] / counts.totals[ITEMS]),
            objective=-counts.totals[[LOG_LIKELIHOOD]],
            ability=parts[0],
            class_part=parts[1],
            style=parts[2],
        )

    def answers(self, labels: Labels) -> tuple[Array, Array]:
        """Return (items, classes), the answers of an adjudicator, and (items), the probabilities of traps."""
        answers, traps = np.empty((labels.n_items, labels.n_classes)), np.empty(labels.n_items)
        given = self.copies.weights(labels), self.parameters, softmax(self.adjudicator)
        many_model.answer_named_items(labels, *given, answers, traps)
        return answers, traps

    def types(self, one: Labels) -> ItemTypes:
        """Return what is known of the types of an item, given the labels of that item alone."""
        n_classes, weights = len(self.centre), self.copies.weights(one)
        ((_, (named,), n_targets),) = many_model.named_classes(one)
        types = Types.all(len(named), n_targets)
        true, pulls, said = named[types.true], types.pulls(n_classes, named), np.sort(named)
        logits = self.centre[true][:, None] + self.style[one.workers]  # (types, rows, classes)
        logits[np.arange(len(true)), :, true] += self._skill[one.workers][:, true].T
        log_said = log_softmax(logits + pulls[:, None])[:, :, said]
        return ItemTypes(
            true_class=true,
            log_prior=self.log_class_shares[true] + types.log_shares(self.type_shares, n_classes),
            said_classes=said,
            log_said=weights[:, None] * log_said if weights.size else log_said,
            log_answer=log_softmax(self.adjudicator[true] + pulls),
        )


def _moved_parts(
    workers: ManyClasses, right: Array, said: Array, curvature: Array, wrong: Array
) -> tuple[tuple[Array, Array, Array], Array, Array]:
    """M step: move ability, class-wise parts and styles; return them, their squares and posterior variances.

    The second derivatives are those of an arrow: the two parts of a class are tied to each other and to the ability.
    Arrays (workers, classes): how many more right answers and labels there are than were expected, and the second
    derivatives for right and for wrong answers.
    """
    ability, class_part, style = workers.ability, workers.class_part, workers.style
    to_ability, to_class, to_style = 1 / workers.variances
    # Two equations for each class: [first, tie; tie, second] (class-wise part, style) = (push, pull)
    first, second, tie = to_class + curvature, to_style + curvature + wrong, curvature
    determinant = first * second - tie**2
    push, pull = right - to_class * class_part, said - to_style * style
    # How the two follow from the ability, and how much they take of its equation.
    by_class, by_style = tie * (second - tie) / determinant, tie * (first - tie) / determinant
    weight = to_ability + (curvature - tie * (by_class + by_style)).sum(axis=1)
    alone_class, alone_style = (second * push - tie * pull) / determinant, (first * pull - tie * push) / determinant
    drive = right.sum(axis=1) - to_ability * ability - (tie * (alone_class + alone_style)).sum(axis=1)
    step = drive / weight
    steps = (step, alone_class - by_class * step[:, None], alone_style - by_style * step[:, None])
    longest = np.maximum(np.abs(steps[0]), np.maximum(np.abs(steps[1]).max(axis=1), np.abs(steps[2]).max(axis=1)))
    scale = _STEP * np.minimum(1.0, LONGEST_MOVE / np.maximum(longest, 1e-9))
    moved = (ability + scale * steps[0], class_part + scale[:, None] * steps[1], style + scale[:, None] * steps[2])
    uncertain = [
        (1 / weight).sum(),
        (second / determinant + by_class**2 / weight[:, None]).sum(),
        (first / determinant + by_style**2 / weight[:, None]).sum(),
    ]
    return moved, np.array([(part**2).sum() for part in moved]), np.array(uncertain)


def count_scores(labels: Labels, scores: Array, counts: NamedCounts) -> Array:
    """Count the scores of these items as they are; there are no changes."""
    items = labels.item_of
    kept = scores[items, labels.labels]
    counts.classes[:] += scores.sum(axis=0)
    given = np.diff(labels.item_starts)
    counts.agreed[:] += kept.sum()
    counts.totals[KEPT] += (np.bincount(items, kept, labels.n_items) / np.maximum(given, 1)).sum()
    counts.totals[LARGEST] += scores.max(axis=1, initial=0.0).sum()
    counts.totals[ITEMS] += labels.n_items
    counts.totals[SQUARED_LABELS] += (given.astype(float) ** 2).sum()
    counts.said[:] += given_by_class(labels)
    return np.zeros(labels.n_classes)


def first_workers(counts: NamedCounts, vote_classes: Array, copies: Copies) -> ManyClasses:
    """Return workers who are all alike, and as good as the first scores say."""
    n_workers, n_classes = counts.said.shape
    right = float(counts.agreed[0])
    start = starting_excess(right, float(counts.said.sum()) - right, n_classes)
    return ManyClasses(
        **first_shared(counts, vote_classes, copies, start, n_parts=3),
        ability=np.zeros(n_workers),
        class_part=np.zeros((n_workers, n_classes)),
        style=np.zeros((n_workers, n_classes)),
    )
