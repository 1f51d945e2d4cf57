"""The adjudicator's workers where there are few classes: a matrix of logits for every worker."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Final, NamedTuple, TypeAlias

import numpy as np

from ...data.labels import Labels
from ...numerics import Array, aligned, small_matrices
from ...parallel import Sum, Threads, runs
from ...results.learned import ClassAxes, PerWorker, Shared, Trust, chances, share_right
from . import few_classes_kernel, logits_kernel
from .copies import Copies
from .structure import (
    CENTRE_PRECISION,
    FIRST_SHARES,
    FIRST_VARIANCE,
    ITEMS,
    KEPT,
    LOG_LIKELIHOOD,
    N_TOTALS,
    STRENGTHS,
    ItemTypes,
    StructuredWorkers,
    cut,
    density_of,
    every_type,
    log_type_shares,
    next_classes,
    next_shares,
    next_variances,
    only,
    pulled_logarithms,
    pulls_of,
    spread,
    starting_spread,
)

_FIRST_NEWTON_STEPS: Final = 4
# About how many multiplications a thread does before it takes the next workers.
_WORK: Final = 1 << 22

# What is believed about workers, classes and types; see `_find_types` in methods/adjudicator/few_classes_kernel.py.
_Beliefs: TypeAlias = tuple[Array, Array, Array, Array]


class PullCounts(NamedTuple):
    """What a sweep counts; the counts of disjoint sets of items can be added.

    Attributes:
        confusion: (workers, said class, true class), the sum of the scores of the items that the worker labelled.
        exposure: (workers, strengths, pairs), how often the worker met every pull; no workers in a first sweep. A pair
            is the true class and the class that the pull is towards; see methods/adjudicator/few_classes_kernel.py.
        classes: (classes), the sum of the scores.
        pulled: (strengths, pairs), the sum of the probabilities of every pull.
        totals: The sums that structure.py names.
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
        pulls = len(STRENGTHS), few_classes_kernel.filled_pairs(n_classes)
        return cls(
            confusion=aligned.zeros(n_workers, n_classes, n_classes),
            exposure=aligned.zeros(0 if first else n_workers, *pulls),
            classes=np.zeros(n_classes),
            pulled=np.zeros(pulls),
            totals=np.zeros(N_TOTALS),
        )


@dataclass(frozen=True, eq=False)
class FewClasses(StructuredWorkers):
    """Workers with a matrix of logits each.

    Attributes:
        logits: (workers, true class, said class), the logits of what a worker says of an item without a pull.
        penalty: What the evidence of the model is less than the log likelihood, for the logits of the iteration before.
    """

    logits: PerWorker
    penalty: float

    @cached_property
    def _confusion(self) -> Array:
        return chances(self.logits)

    @property
    def confusion(self) -> Array:
        """(workers, true class, said class), the probability of what a worker says of an item without a pull."""
        return self._confusion

    def trust(self) -> Trust:
        """A worker is trusted by how often it is right, as the mean over the true classes."""
        return share_right(self.confusion)

    @cached_property
    def beliefs(self) -> _Beliefs:
        """What `_find_types` in methods/adjudicator/few_classes_kernel.py needs to know."""
        ratio = pull_shares(self.type_shares, len(self.centre)) / self.type_shares[0]
        chance = filled(np.maximum(self.confusion, few_classes_kernel.SMALLEST_CHANCE))
        return chance, np.expm1(STRENGTHS), self.class_shares * self.type_shares[0], filled(ratio)

    def sweep(self, labels: Labels, scores: Array, counts: PullCounts, known: int | None = None) -> Array:
        """Score items by the probabilities of their latent classes and count them."""
        chance, gain, prior, ratio = self.beliefs
        if known is not None:
            prior = np.exp(only(known, self.log_class_shares)) * self.type_shares[0]
        return _sweep(labels, scores, self.copies.weights(labels), (chance, gain, prior, ratio), counts)

    def following(self, counts: PullCounts) -> "FewClasses":
        """Learn the workers from the counts of a sweep with these workers."""
        n_classes = len(self.centre)
        pulled = counts.pulled[:, : n_classes**2].reshape(-1, n_classes, n_classes)
        easy = np.trace(pulled, axis1=1, axis2=2)
        shared = replace(
            self,
            class_shares=next_classes(counts.classes, self.vote_classes),
            type_shares=next_shares(counts.classes.sum(), easy, pulled.sum(axis=(1, 2)) - easy),
            kept=float(counts.totals[KEPT] / counts.totals[ITEMS]),
            objective=-counts.totals[[LOG_LIKELIHOOD]],
        )
        return _improved(shared, counts, spread(self.centre), 1)

    def read_out(self, labels: Labels) -> tuple[Array, Array]:
        """Return (items, classes), the answers of an adjudicator, and (items), the probabilities of traps."""
        answers, traps = np.empty((labels.n_items, labels.n_classes)), np.empty(labels.n_items)
        arrays = (labels.item_starts, labels.workers, labels.labels, self.copies.weights(labels))
        few_classes_kernel.read_out(*arrays, self.beliefs, *self._answers, answers, traps)
        return answers, traps

    def types(self, one: Labels) -> ItemTypes:
        """Return what is known of the types of an item, given the labels of that item alone."""
        n_classes = len(self.centre)
        types = every_type(n_classes)
        pulls = pulls_of(types, np.arange(n_classes), n_classes)
        weights = self.copies.weights(one)
        said = pulled_logarithms(self.logits[one.workers][:, types[0]], pulls)  # (rows, types, classes)
        return ItemTypes(
            true_class=types[0],
            log_prior=self.log_class_shares[types[0]] + log_type_shares(self.type_shares, types, n_classes),
            said_classes=np.arange(n_classes),
            log_said=(weights[:, None, None] * said if weights.size else said).swapaxes(0, 1),
            log_answer=pulled_logarithms(self.adjudicator[types[0]], pulls),
        )

    @cached_property
    def _answers(self) -> tuple[Array, Array]:
        """What an adjudicator answers: (true classes, classes) without a pull, and (strengths * pairs, classes)."""
        n_classes = len(self.centre)
        towards = STRENGTHS[:, None, None, None] * np.eye(n_classes)  # (strengths, 1, class, said)
        pulled = filled(np.moveaxis(chances(self.adjudicator[:, None] + towards), -1, 0))
        return chances(self.adjudicator), np.ascontiguousarray(pulled.reshape(n_classes, -1).T)


def pull_shares(type_shares: Array, n_classes: int) -> Array:
    """(strengths, true class, class that is pulled towards): the probability of every pull, given the true class."""
    easy, traps = np.split(type_shares[1:], 2)
    same = np.eye(n_classes, dtype=bool)
    return np.where(same, easy[:, None, None], traps[:, None, None] / max(n_classes - 1, 1))


def filled(matrices: Array) -> Array:
    """Matrices of classes (..., class, class) as (..., pairs); see methods/adjudicator/few_classes_kernel.py."""
    n_classes = matrices.shape[-1]
    table = aligned.zeros(*matrices.shape[:-2], few_classes_kernel.filled_pairs(n_classes))
    table[..., : n_classes**2] = matrices.reshape(*matrices.shape[:-2], n_classes**2)
    return table


def unfilled(table: Array, n_classes: int) -> Array:
    """The inverse of `filled`."""
    return table[..., : n_classes**2].reshape(*table.shape[:-1], n_classes, n_classes)


def count_scores(labels: Labels, scores: Array, weights: Array, counts: PullCounts) -> Array:
    """Count the scores of these items as they are; there are no changes. Labels that weigh nothing are left out."""
    pairs = counts.pulled.shape[1]
    no_beliefs = np.zeros((0, pairs)), np.zeros(0), np.zeros(0), np.zeros((0, pairs))
    return _sweep(labels, scores, weights, no_beliefs, counts)


def _sweep(labels: Labels, scores: Array, weights: Array, beliefs: _Beliefs, counts: PullCounts) -> Array:
    changes = np.zeros(labels.n_classes)
    arrays = (labels.item_starts, labels.workers, labels.labels, weights)
    few_classes_kernel.sweep_pulls(*arrays, beliefs, scores, changes, *counts)
    return changes


def first_workers(counts: PullCounts, vote_classes: Array, copies: Copies) -> FewClasses:
    """Learn the workers from the first scores, with types as common as they are before any label.

    Args:
        counts: The counts of the first scores.
        vote_classes: (classes), the sum of the vote shares over the items.
        copies: Which workers count as less than one.
    """
    n_workers, n_classes, _ = counts.confusion.shape
    right = float(np.trace(counts.confusion, axis1=1, axis2=2).sum())
    density, lone = density_of(counts.totals)
    start = starting_spread(right, float(counts.confusion.sum()) - right, n_classes)
    centre = start * np.eye(n_classes)
    workers = FewClasses(
        centre=centre,
        variances=np.full(4, FIRST_VARIANCE),
        class_shares=next_classes(counts.classes, vote_classes),
        type_shares=FIRST_SHARES,
        vote_classes=vote_classes,
        exponents=copies.exponents,
        block_of=copies.block_of,
        follows=copies.follows,
        followed=np.zeros((len(copies.follows), 2)),
        copying=None,
        kept=1.0,
        objective=np.zeros(0),
        density=density,
        lone=lone,
        logits=np.tile(centre, (n_workers, 1, 1)),
        penalty=0.0,
    )
    labels = counts.confusion.sum(axis=1)  # (workers, true classes)
    exposure = pull_shares(FIRST_SHARES, n_classes) * labels[:, None, :, None]
    counts = counts._replace(exposure=filled(exposure))
    return _improved(workers, counts, start, _FIRST_NEWTON_STEPS)


class _Sums(NamedTuple):
    """What the parts of the workers' logits say about what the workers share; see `logits_kernel.step_logits`."""

    rest_total: Array
    information: Array
    squares: Array
    uncertain: Array
    log_determinant: Array


def _improved(before: FewClasses, counts: PullCounts, start: float, steps: int) -> FewClasses:
    """Move the logits by some Newton steps, and then the centre and the variances.

    Args:
        before: The workers so far.
        counts: The counts of a sweep.
        start: The multiple of the unit matrix that the centre is drawn to.
        steps: The number of Newton steps.
    """
    n_classes = len(before.centre)
    n_logits = n_classes**2
    logits = before.logits.copy()
    bounds = list(runs(np.arange(len(logits) + 1), max(_WORK // n_classes**5, 1)))

    def step(part: int) -> _Sums:
        square, information = np.zeros((n_classes, n_classes)), np.zeros((n_logits, n_logits))
        sums = _Sums(square, information, np.zeros(4), np.zeros(4), np.zeros(1))
        given = counts.confusion, counts.exposure, STRENGTHS, before.centre, before.variances
        logits_kernel.step_logits(*bounds[part], *given, logits, *sums)
        return sums

    for _ in range(steps):
        total = Sum()
        with Threads(len(bounds)) as threads:
            threads.run(step, total.add)
    sums: _Sums = _Sums(*total.value)
    away = start * np.eye(n_classes) - before.centre
    move = sums.rest_total / before.variances[3] + CENTRE_PRECISION * away
    # Not LAPACK, whose last bits and speed depend on how many threads it takes.
    small_matrices.solve(sums.information + CENTRE_PRECISION * np.eye(n_logits), move.reshape(-1))
    # The squares that the Gaussian priors of workers and centre are the exponentials of minus one half of.
    misfit = float((sums.squares / before.variances).sum() + CENTRE_PRECISION * (away**2).sum())
    sizes = len(logits) * np.array([1, n_classes, n_classes, n_logits])
    return replace(
        before,
        logits=logits,
        centre=before.centre + cut(move),
        variances=next_variances(before.variances, sums.squares, sums.uncertain, sizes),
        penalty=(misfit + float(sums.log_determinant[0])) / 2,
    )
