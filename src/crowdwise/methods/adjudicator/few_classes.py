"""The adjudicator's workers where there are few classes: a matrix of logits for every worker."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array, elementary
from ...numerics.elementary import softmax
from ...numerics.twins import is_small
from ...parallel import Sum, Threads, runs
from ...results.learned import ClassAxes, PerWorker, Shared, Trust, share_right
from . import model
from .constants import CENTRE_PRECISION, FIRST_SHARES, SMALLEST_CHANCE, STRENGTHS
from .copies import Copies
from .model import PartSums, Types, cut, next_classes, next_shares, next_variances, pad, padded, unpad
from .soft_model import soft_said
from .structure import (
    ITEMS,
    KEPT,
    LABELS,
    LOG_LIKELIHOOD,
    N_TOTALS,
    ItemTypes,
    StructuredWorkers,
    diagonal_excess,
    first_shared,
    only,
    starting_excess,
)

_FIRST_NEWTON_STEPS: Final = 4
# About how many multiplications a thread does before it takes the next workers.
_WORK: Final = 1 << 22


class PullCounts(NamedTuple):
    """What a sweep counts; the counts of disjoint sets of items can be added.

    For each worker, n (workers, said class, true class) and R (workers, strengths, pairs), which has no workers in a
    first sweep; the sums of q (classes) and of r (strengths, pairs); and the sums that structure.py names.
    """

    confusion: Annotated[PerWorker, ClassAxes((1, 2))]
    exposure: Annotated[PerWorker, ClassAxes((2, 3))]
    classes: Annotated[Shared, ClassAxes((0,))]
    pulled: Annotated[Shared, ClassAxes((1, 2))]
    totals: Array

    @property
    def given(self) -> Array:
        """(workers), how many labels each worker gave."""
        return np.asarray(self.confusion.sum(axis=(1, 2)))

    @classmethod
    def empty(cls, labels: Labels, first: bool) -> "PullCounts":
        """Counts of no items."""
        n_workers, n_classes = labels.n_workers, labels.n_classes
        pulls = len(STRENGTHS), padded(n_classes)
        return cls(
            confusion=elementary.zeros(n_workers, n_classes, n_classes),
            exposure=elementary.zeros(0 if first else n_workers, *pulls),
            classes=np.zeros(n_classes),
            pulled=np.zeros(pulls),
            totals=np.zeros(N_TOTALS),
        )


@dataclass(frozen=True, eq=False)
class FewClasses(StructuredWorkers):
    """Workers with a matrix of logits each."""

    logits: PerWorker  # (workers, true class, said class), x
    penalty: float  # what the evidence is less than the log likelihood, for the logits of the iteration before

    @cached_property
    def _confusion(self) -> Array:
        return softmax(self.logits)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item without a pull."""
        return self._confusion

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.confusion)

    @cached_property
    def parameters(self) -> model.Parameters:
        """What the E step needs to know."""
        ratio = pull_shares(self.type_shares, len(self.centre)) / self.type_shares[0]
        chance = pad(np.maximum(self.confusion, SMALLEST_CHANCE))
        return chance, np.expm1(STRENGTHS), self.class_shares * self.type_shares[0], pad(ratio)

    def sweep(self, labels: Labels, scores: Array, counts: PullCounts, known: int | None = None) -> Array:
        """E step: score items by the probabilities of their latent classes, and count them."""
        chance, gain, prior, ratio = self.parameters
        if known is not None:
            prior = np.exp(only(known, self.log_class_shares)) * self.type_shares[0]
        return _sweep(labels, scores, self.copies.weights(labels), (chance, gain, prior, ratio), counts)

    def m_step(self, counts: PullCounts) -> "FewClasses":
        """M step: learn the workers from the counts of a sweep with these workers."""
        pulled = unpad(counts.pulled, len(self.centre))
        easy = np.trace(pulled, axis1=1, axis2=2)
        shared = replace(
            self,
            class_shares=next_classes(counts.classes, self.vote_classes),
            type_shares=next_shares(counts.classes.sum(), easy, pulled.sum(axis=(1, 2)) - easy),
            kept=float(counts.totals[KEPT] / counts.totals[ITEMS]),
            objective=-counts.totals[[LOG_LIKELIHOOD]],
        )
        return _m_step(shared, counts, diagonal_excess(self.centre), 1)

    def answers(self, labels: Labels) -> tuple[Array, Array]:
        """Return (items, classes), the answers of an adjudicator, and (items), the probabilities of traps."""
        answers, traps = np.empty((labels.n_items, labels.n_classes)), np.empty(labels.n_items)
        model.answer_items(labels, self.copies.weights(labels), self.parameters, *self._answers, answers, traps)
        return answers, traps

    @cached_property
    def _answers(self) -> tuple[Array, Array]:
        """What an adjudicator answers: (true classes, classes) without a pull, and (strengths * pairs, classes)."""
        n_classes, types = len(self.centre), self.item_types
        neutral, pulled = np.split(softmax(self.adjudicator[types.true] + types.pulls(n_classes)), [n_classes])
        matrices = pulled.T.reshape(n_classes, len(STRENGTHS), n_classes, n_classes)
        return neutral, np.ascontiguousarray(pad(matrices).reshape(n_classes, -1).T)

    @cached_property
    def item_types(self) -> Types:
        """The types of items."""
        return Types.all(len(self.centre))

    @cached_property
    def log_prior(self) -> Array:
        """(types), the logarithms of how common the types are."""
        shares = self.item_types.log_shares(self.type_shares, len(self.centre))
        return np.asarray(self.log_class_shares[self.item_types.true] + shares)

    @cached_property
    def log_answer(self) -> Array:
        """(types, classes), the logarithms of the probabilities of an adjudicator's answers."""
        return self.item_types.log_said(self.adjudicator)

    def log_said(self, workers: Array) -> Array:
        """(workers, types, classes), the logarithms of the probabilities of what some workers say."""
        return self.item_types.log_said(self.logits[workers])

    def types(self, one: Labels) -> ItemTypes:
        """Return what is known of the types of an item, given the labels of that item alone."""
        weights, log_said = self.copies.weights(one), self.log_said(one.workers)
        if one.soft is not None:
            weights = one.soft[:, -1] * (weights if weights.size else 1.0)
            chance = unpad(self.parameters[0], one.n_classes)
            said, types = soft_said(one, self.item_types, chance), self.item_types
            damping = np.log1p(np.expm1(types.strength) * chance[:, types.true, types.towards])
            log_said[np.arange(one.n_labels), :, one.labels] = said.log_said - damping[one.workers]
        return ItemTypes(
            true_class=self.item_types.true,
            log_prior=self.log_prior,
            said_classes=np.arange(one.n_classes),
            log_said=(weights[:, None, None] * log_said if weights.size else log_said).swapaxes(0, 1),
            log_answer=self.log_answer,
        )


def pull_shares(type_shares: Array, n_classes: int) -> Array:
    """(strengths, true class, class that is pulled towards): the probability of every pull, given the true class."""
    easy, traps = np.split(type_shares[1:], 2)
    same = np.eye(n_classes, dtype=bool)
    return np.where(same, easy[:, None, None], traps[:, None, None] / max(n_classes - 1, 1))


def count_scores(labels: Labels, scores: Array, weights: Array, counts: PullCounts) -> Array:
    """Count the scores of these items as they are; there are no changes. Labels that weigh nothing are left out."""
    pairs = counts.pulled.shape[1]
    unknown = np.zeros((0, pairs)), np.zeros(0), np.zeros(0), np.zeros((0, pairs))
    return _sweep(labels, scores, weights, unknown, counts)


def _sweep(labels: Labels, scores: Array, weights: Array, parameters: model.Parameters, counts: PullCounts) -> Array:
    changes = np.zeros(labels.n_classes)
    model.sweep_pulls(labels, weights, parameters, scores, changes, *counts)
    return changes


def first_workers(counts: PullCounts, vote_classes: Array, copies: Copies) -> FewClasses:
    """Learn the workers from the first scores, with types as common as they are before any label."""
    n_workers, n_classes, _ = counts.confusion.shape
    right = float(np.trace(counts.confusion, axis1=1, axis2=2).sum())
    start = starting_excess(right, float(counts.confusion.sum()) - right, n_classes)
    shared = first_shared(counts, vote_classes, copies, start, n_parts=4)
    workers = FewClasses(**shared, logits=np.tile(shared["centre"], (n_workers, 1, 1)), penalty=0.0)
    labels = counts.confusion.sum(axis=1)  # (workers, true classes)
    exposure = pull_shares(FIRST_SHARES, n_classes) * labels[:, None, :, None]
    counts = counts._replace(exposure=pad(exposure))
    return _m_step(workers, counts, start, _FIRST_NEWTON_STEPS)


def _m_step(before: FewClasses, counts: PullCounts, start: float, steps: int) -> FewClasses:
    """M step: move the logits by some Newton steps, then centre and variances; the centre is drawn to `start` I."""
    n_classes = len(before.centre)
    # The M step sees no labels. It counts them, over all parts, so that the crowd alone decides here, too.
    small = is_small(int(counts.totals[LABELS]), n_classes)
    logits = before.logits.copy()
    for _ in range(steps):
        sums = _newton_step(counts, before, logits, small)
    away = start * np.eye(n_classes) - before.centre
    push = (sums.rest / before.variances[3] + CENTRE_PRECISION * away).reshape(-1)
    move = _solve(sums.information + CENTRE_PRECISION * np.eye(n_classes**2), push, small).reshape(away.shape)
    # -2 log prior density of the parts and of the centre
    misfit = float((sums.squares / before.variances).sum() + CENTRE_PRECISION * (away**2).sum())
    sizes = len(logits) * np.array([1, n_classes, n_classes, n_classes**2])
    return replace(
        before,
        logits=logits,
        centre=before.centre + cut(move),
        variances=next_variances(before.variances, sums.squares, sums.variances, sizes),
        penalty=(misfit + float(sums.log_determinant[0])) / 2,
    )


def _newton_step(counts: PullCounts, before: FewClasses, logits: Array, small: bool) -> PartSums:
    """Move the logits by one Newton step, in threads, by the model or by its kernel; return the sums of the parts."""
    n_classes = len(before.centre)
    bounds = list(runs(np.arange(len(logits) + 1), max(_WORK // n_classes ** (4 if small else 5), 1)))

    def on_model(part: int) -> PartSums:
        some = slice(*bounds[part])
        given = counts.confusion[some], counts.exposure[some], before.centre, before.variances
        logits[some], sums = model.m_step(*given, logits[some])
        return sums

    def on_kernel(part: int) -> PartSums:
        from .logits_kernel import step_logits  # imported here because Numba is slow to import

        square, information = np.zeros((n_classes, n_classes)), np.zeros((n_classes**2, n_classes**2))
        sums = PartSums(square, information, np.zeros(4), np.zeros(4), np.zeros(1))
        given = counts.confusion, counts.exposure, STRENGTHS, before.centre, before.variances
        step_logits(*bounds[part], *given, logits, *sums)
        return sums

    total = Sum()
    with Threads(len(bounds)) as threads:
        for sums in threads.map(on_model if small else on_kernel):
            total.add(sums)
    return PartSums(*total.value)


def _solve(matrix: Array, vector: Array, small: bool) -> Array:
    """The inverse of a positive definite matrix times a vector; both may be overwritten."""
    if small:
        return np.asarray(np.linalg.solve(matrix, vector))
    from ...numerics import small_matrices  # imported here because Numba is slow to import

    small_matrices.solve(matrix, vector)  # not LAPACK, whose last bits and speed depend on how many threads it takes
    return vector
