r"""Several classes at once: every item and class is a yes/no question, with workers whom all classes share.

Worker j looked at item i and named a set of classes. Whether class c holds for item i is t_ic; pi_c is how common the
class is. Given t, the worker names the class with

    s_jc = p(named | t = 1) = sigmoid(s_c + a_j + u_jc),    f_jc = p(named | t = 0) = sigmoid(f_c + b_j + w_jc)

a_j and b_j are the worker's ability, which all classes share; u_jc and w_jc say what differs in one class. All have
Gaussian priors with variances that are learned (MacKay 1992), so that a class with few votes borrows from the others,
and one with many stands alone. E step, over all answers to the item:

    log odds_ic = logit pi_c + sum_j ([named] logit s_jc - logit f_jc) + log((1 - s_jc) / (1 - f_jc)) otherwise

**Work grows with the answers.** Only pairs (i, c) that somebody named have rows, one for each answer to the item. Of
the others, all answers are "no": those of a class whose items have n answers have one log odds, logit pi_c + n d_c,
where d_c is the mean over the workers. In the M step, sums over all workers, or all classes, are sums over at most 64
bins of their effects.

M step: one Newton step each for s_c, a_j and u_jc, and for f_c, b_j and w_jc. pi_c is (T_c + A) / (N + B), where T_c is
how many items are expected to have the class, N the number of items, and A and B follow from the mean and variance of
all T_c.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...crowd.class_sets import ClassSets
from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import sigmoid

# More effects than this are put in so many bins where they are summed over.
_BINS: Final = 64
# The first variance of all effects, and how many effects it is worth.
_FIRST_VARIANCE: Final = 0.5
_VARIANCE_WORTH: Final = 2.0
_LEAST_VARIANCE: Final = 1e-4
# A Newton step is no longer than this.
_LONGEST: Final = 1.0
# Effects of classes are drawn to their mean; without any votes, named classes hold more often than not.
_FIRST_CENTRES: Final = (0.0, -3.0)


@dataclass(frozen=True, eq=False)
class Votes:
    """What the model is fitted to. Pairs are those of an item and a class that somebody named.

    Attributes:
        pair: (rows), the pair of every row, a worker's yes or no on a pair.
        worker: (rows), the worker.
        yes: (rows), whether the worker named the class, as 1.0 or 0.0.
        class_of: (pairs), the class.
        level: (pairs), the position of the item's number of answers in `sizes`.
        sizes: (levels), the different numbers of answers that items have.
        items: (levels), how many items have so many answers.
        answers: (workers, levels), how many answers each worker gave to such items.
        n_classes: The number of classes.
        known: (pairs), whether a class is known to hold, 1 or 0; -1 if it is not known. None if nothing is known.
    """

    pair: Array
    worker: Array
    yes: Array
    class_of: Array
    level: Array
    sizes: Array
    items: Array
    answers: Array
    n_classes: int
    known: Array | None = None

    @classmethod
    def of(cls, labels: Labels, sets: ClassSets) -> "Votes":
        """Return the votes of a crowd, whose items are questions about the sets."""
        answers = sets.answers_per_item
        sizes, level_of = np.unique(answers, return_inverse=True)
        cells = sets.workers * np.int64(len(sizes)) + np.repeat(level_of, answers)
        given = np.bincount(cells, minlength=labels.n_workers * len(sizes))
        return cls(
            pair=labels.item_of,
            worker=labels.workers,
            yes=labels.labels.astype(float),
            class_of=sets.class_of,
            level=level_of[sets.item_of],
            sizes=sizes,
            items=np.bincount(level_of),
            answers=given.reshape(-1, len(sizes)).astype(float),
            n_classes=len(sets.classes),
            known=labels.gold,
        )


class Effects(NamedTuple):
    """The logits of naming a class, where it holds or where it does not: class, worker and cell.

    Attributes:
        centre: The mean of the effects of classes.
        of_class: (classes), s_c or f_c.
        of_worker: (workers), a_j or b_j.
        of_cell: (cells), u_jc or w_jc, for the pairs of a worker and a class that have a row.
        variances: (3), of classes, workers and cells.
    """

    centre: float
    of_class: Array
    of_worker: Array
    of_cell: Array
    variances: Array


class Bins(NamedTuple):
    """Numbers with weights, as at most `_BINS` numbers with weights that add up to one."""

    values: Array
    weights: Array

    @classmethod
    def of(cls, values: Array, weights: Array) -> "Bins":
        """Put equally close numbers together."""
        total = max(float(weights.sum()), 1e-300)
        if len(values) <= _BINS:
            return cls(values, weights / total)
        low, high = float(values.min()), float(values.max())
        place = np.minimum((values - low) * (_BINS / max(high - low, 1e-12)), _BINS - 1).astype(np.int64)
        share = np.bincount(place, weights, _BINS)
        mean = np.bincount(place, weights * values, _BINS) / np.where(share > 0, share, 1.0)
        return cls(mean[share > 0], share[share > 0] / total)

    def rates(self, shifts: Array) -> tuple[Array, Array]:
        """(shifts), the mean of sigmoid(shift + value), and that of its derivative."""
        p = sigmoid(shifts[:, None] + self.values)
        return p @ self.weights, (p * (1 - p)) @ self.weights

    def log_no(self, shifts: Array) -> Array:
        """(shifts), the mean of log(1 - sigmoid(shift + value))."""
        return np.asarray(-np.logaddexp(0, shifts[:, None] + self.values) @ self.weights)


class Model:
    """The model of one crowd: `iterate` does an E step and an M step."""

    def __init__(self, votes: Votes) -> None:
        self.votes = votes
        n_workers = len(votes.answers)
        key = votes.worker.astype(np.int64) * votes.n_classes + votes.class_of[votes.pair]
        cells, self.cell = np.unique(key, return_inverse=True)
        self.cell_worker, self.cell_class = cells // votes.n_classes, cells % votes.n_classes
        levels = len(votes.sizes)
        place = votes.class_of.astype(np.int64) * levels + votes.level
        named = np.bincount(place, minlength=votes.n_classes * levels).reshape(votes.n_classes, levels)
        self.unnamed = votes.items - named  # (classes, levels), how many pairs nobody named
        self.given = votes.answers.sum(axis=1)  # (workers), how many answers
        self.rows = np.bincount(votes.worker, minlength=n_workers)
        self.place, self.row_place = place, place[votes.pair]
        self.hits = np.bincount(votes.pair, votes.yes, len(votes.class_of))
        self.size = votes.sizes[votes.level].astype(float)
        zeros = np.zeros(len(cells))
        self.effects = [
            Effects(centre, np.full(votes.n_classes, centre), np.zeros(n_workers), zeros, np.full(3, _FIRST_VARIANCE))
            for centre in _FIRST_CENTRES
        ]
        # Before the first M step: the share of the answers that name the class.
        self.p = self._clamped(self.hits / self.size)
        self.p_unnamed = np.zeros(self.unnamed.shape)
        self.common = np.zeros(votes.n_classes)
        self._m_step()

    def iterate(self) -> Iterator[float]:
        """Yield after every iteration the mean change of the probabilities of pairs, without end."""
        while True:
            before = self.p
            self._e_step()
            yield float(np.abs(self.p - before).mean())
            self._m_step()

    @property
    def logits(self) -> tuple[Array, Array]:
        """(cells), the logits of s_jc and of f_jc."""
        found = [one.of_class[self.cell_class] + one.of_worker[self.cell_worker] + one.of_cell for one in self.effects]
        return found[0], found[1]

    def evidence(self) -> tuple[Array, Array]:
        """(cells), what a no and a yes add to the log odds."""
        true, false = self.logits
        no = np.logaddexp(0, false) - np.logaddexp(0, true)
        return no, no + true - false

    def prior(self) -> Array:
        """(classes), logit pi_c."""
        return np.asarray(np.log(self.common) - np.log1p(-self.common))

    def of_no(self) -> Array:
        """(classes), d_c: what a no adds to the log odds, in the mean of the answers."""
        true, false = (Bins.of(one.of_worker, self.given).log_no(one.of_class) for one in self.effects)
        return true - false

    def log_odds(self) -> Array:
        """(pairs), the log odds that the class holds, before what is known."""
        no, yes = self.evidence()
        added = np.where(self.votes.yes > 0, yes[self.cell], no[self.cell])
        total = np.bincount(self.votes.pair, added, len(self.votes.class_of))
        return np.asarray(self.prior()[self.votes.class_of] + total)

    def log_odds_unnamed(self) -> Array:
        """(classes, levels), the log odds that a class holds for an item where nobody named it."""
        return np.asarray(self.prior()[:, None] + self.of_no()[:, None] * self.votes.sizes)

    def _clamped(self, p: Array) -> Array:
        known = self.votes.known
        return p if known is None else np.where(known >= 0, known, p)

    def _e_step(self) -> None:
        self.p = self._clamped(sigmoid(self.log_odds()))
        self.p_unnamed = sigmoid(self.log_odds_unnamed())

    def _m_step(self) -> None:
        votes = self.votes
        missed = self.unnamed * self.p_unnamed  # (classes, levels), pairs that nobody named and that hold
        self.common = _common(np.bincount(votes.class_of, self.p, votes.n_classes) + missed.sum(axis=1), votes)
        # The answers "no" on pairs that nobody named: of cells, and of classes and workers without their cells.
        of_cell = np.einsum("cl,cl->c", votes.answers[self.cell_worker], self.p_unnamed[self.cell_class])
        of_cell -= np.bincount(self.cell, self.p_unnamed.ravel()[self.row_place], len(of_cell))
        all_cell = self.given[self.cell_worker] - np.bincount(self.cell)
        of_class, all_class = missed @ votes.sizes, self.unnamed @ votes.sizes
        of_worker = votes.answers @ self.p_unnamed.sum(axis=0)
        of_worker -= np.bincount(votes.worker, self.p_unnamed.ravel()[self.row_place], len(votes.answers))
        all_worker = self.given * float(votes.n_classes) - self.rows
        p = self.p[votes.pair]
        for true, weight, cell, whole, worker in (
            (0, p, of_cell, of_class, of_worker),
            (1, 1 - p, all_cell - of_cell, all_class - of_class, all_worker - of_worker),
        ):
            cell = np.maximum(cell, 0.0)
            n = np.bincount(self.cell, weight, len(cell)) + cell
            yes = np.bincount(self.cell, weight * votes.yes, len(cell))
            other_class = np.maximum(whole - np.bincount(self.cell_class, cell, votes.n_classes), 0.0)
            other_worker = np.maximum(worker - np.bincount(self.cell_worker, cell, len(votes.answers)), 0.0)
            self.effects[true] = self._newton(self.effects[true], n, yes, other_class, other_worker)

    def _newton(self, effects: Effects, n: Array, yes: Array, other_class: Array, other_worker: Array) -> Effects:
        """One Newton step of each kind of effect; the others are how many further answers were all no."""
        centre, of_class, of_worker, of_cell, variances = effects

        def parts(of: Array | None, size: int) -> tuple[Array, Array]:
            p = sigmoid(of_class[self.cell_class] + of_worker[self.cell_worker] + of_cell)
            g, h = yes - n * p, n * p * (1 - p)
            return (g, h) if of is None else (np.bincount(of, g, size), np.bincount(of, h, size))

        g, h = parts(self.cell_class, len(of_class))
        rate, slope = Bins.of(of_worker, self.given).rates(of_class)
        of_class, s_class = _step(of_class, g - other_class * rate, h + other_class * slope, centre, variances[0])
        centre = float(of_class.mean())
        g, h = parts(self.cell_worker, len(of_worker))
        rate, slope = Bins.of(of_class, other_class + 1e-9).rates(of_worker)
        of_worker, s_worker = _step(of_worker, g - other_worker * rate, h + other_worker * slope, 0.0, variances[1])
        g, h = parts(None, 0)
        of_cell, s_cell = _step(of_cell, g, h, 0.0, variances[2])
        found = [
            _variance(squares, variance)
            for squares, variance in zip(
                ((of_class - centre, s_class), (of_worker, s_worker), (of_cell, s_cell)), variances, strict=True
            )
        ]
        return Effects(centre, of_class, of_worker, of_cell, np.array(found))


def _step(values: Array, g: Array, h: Array, centre: float, variance: float) -> tuple[Array, Array]:
    """One Newton step of effects with a Gaussian prior; return them, and their posterior variances."""
    precision = h + 1 / variance
    move = (g - (values - centre) / variance) / precision
    return values + np.clip(move, -_LONGEST, _LONGEST), 1 / precision


def _variance(found: tuple[Array, Array], variance: float) -> float:
    values, uncertain = found
    determined = _VARIANCE_WORTH + len(values) - uncertain.sum() / variance
    return max(float((_VARIANCE_WORTH * _FIRST_VARIANCE + (values**2).sum()) / determined), _LEAST_VARIANCE)


def _common(total: Array, votes: Votes) -> Array:
    """(classes), pi_c."""
    n = float(votes.items.sum())
    mean, variance = float(total.mean()), float(total.var())
    shape = float(np.clip(mean**2 / max(variance - mean, 1e-9), 0.1, 10.0))
    return np.clip((total + shape) / (n + shape * n / max(mean, 1e-9)), 1e-9, 1 - 1e-6)
