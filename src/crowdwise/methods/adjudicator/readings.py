"""`Start` and `Reading`: where the iterations begin and what they end with; other starts, and which reading to take.

The iterations climb to a local maximum. If workers copy each other, the votes may lead to a reading in which most votes
are wrong. Then the iterations begin again where groups of workers who agree outvote the others, and a reading that
explains the labels better and keeps more of the votes is taken instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import powers_of_shares, raised, shares
from ...families import MATRIX_CLASSES
from ...families.dependence.blocks import WorkerBlocks, confirmed_blocks
from ...families.dependence.pairs import PairCounts, correlations, count_pairs, pairs_refusal
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...numerics import Array
from ...numerics.elementary import sums
from ...results.ending import Ending
from ...results.gold import clamped_scores
from ...results.scores import TIE, best_two
from .copies import Copies
from .few_classes import FewClasses, PullCounts
from .structure import ITEMS, LARGEST

# How many groups of workers are tried: the eigenvectors of the largest eigenvalues of the workers' correlations.
_GROUPS: Final = 3
# From so many workers on, these are found without the other eigenvectors.
_MANY_WORKERS: Final = 500
# A correlation counts in full only if it is from many more items than this.
_FEW_ITEMS: Final = 10.0
# A reading is taken instead of the first if its evidence is higher by more than this, in natural logarithms...
_CLEARLY_BETTER: Final = 2.0
# ...and if it keeps more of the votes by more than this share.
_CLEARLY_CLOSER: Final = 0.02
# A reading is about as good as another if its evidence is not lower by more than this.
_ABOUT_AS_GOOD: Final = 3.0
# Its workers are at least this much as informed as those of the first: none in which all workers lie is meant.
_LEAST_INFORMED: Final = 0.5
# How the reading is found that leaves out nobody.
AS_THEY_ARE: Final = "read from the votes as they are, with every worker counted for itself"


@dataclass(frozen=True, eq=False)
class Start:
    """Iterations that begin at the shares of weighted votes, or at the latent classes of another reading.

    Attributes:
        weights: (workers), what each of the worker's votes weighs; where all votes on an item weigh nothing, all count.
        copies: Which workers count as less than one.
        vote_classes: (classes), the sum of the plain vote shares over the items; None for the sum of the first scores.
        opposite: Whether to begin at one minus the shares, which is for two classes.
        reading: The workers of another reading, whose latent classes are the first scores; None for shares of votes.
    """

    weights: Array
    copies: Copies
    vote_classes: Array | None
    opposite: bool = False
    reading: FewClasses | None = None

    def scores(self, labels: Labels) -> Array:
        """(items, classes), the first scores of these items."""
        n_items, n_classes = labels.n_items, labels.n_classes
        if self.reading is not None:
            latent = np.zeros((n_items, n_classes))
            self.reading.sweep(labels, latent, PullCounts.empty(labels, False))
            return latent
        weights, counted = self.weights[labels.workers], self.copies.weights(labels)
        if counted.size:
            weights = weights * counted
        if labels.soft is not None:
            votes = sums(labels.item_of, (weights * labels.soft[:, -1])[:, None] * labels.chances, n_items)
        else:
            votes = np.bincount(labels.item_of * n_classes + labels.labels, weights, n_items * n_classes)
            votes = votes.reshape(n_items, n_classes)
        total = votes.sum(axis=1, keepdims=True)
        found = np.divide(votes, total, out=shares(labels), where=total > 0)
        found = raised(found, powers_of_shares(labels))
        return np.asarray(1 - found if self.opposite else found)


@dataclass(frozen=True, eq=False)
class Reading:
    """What the iterations ended with, for one start."""

    ending: Ending
    plurality: float  # the share of the votes that the most frequent answers keep, as the mean of the items

    @property
    def workers(self) -> FewClasses:
        """The workers' parameters; they are `FewClasses` if readings can be compared."""
        workers: FewClasses = self.ending.workers
        return workers

    @property
    def can_be_compared(self) -> bool:
        """Whether there is evidence to compare readings by, and workers can be compared with each other.

        The evidence of a reading that has not settled says nothing.
        """
        if not isinstance(self.ending.workers, FewClasses) or not self.ending.convergence.converged:
            return False
        return not pairs_refusal(*self.workers.logits.shape[:2])

    @property
    def evidence(self) -> float:
        """The logarithm of the probability of the labels, with the workers' logits integrated out approximately."""
        after: FewClasses = self.ending.next_workers
        return -float(after.objective[0]) - after.penalty

    def explains_more(self, other: "Reading", by: float) -> bool:
        """Whether the evidence is higher than that of another reading by more than this."""
        return self.can_be_compared and self.evidence > other.evidence + by

    @property
    def kept(self) -> float:
        """The share of the votes that the latent classes keep, as the mean of the items."""
        after: FewClasses = self.ending.next_workers
        return after.kept

    @property
    def informedness(self) -> float:
        """How much better than chance the workers are in the mean: 1 if they are always right, 0 by chance."""
        matrices = self.workers.confusion
        n_classes = matrices.shape[1]
        return float((np.trace(matrices, axis1=1, axis2=2).mean() - 1) / max(n_classes - 1, 1))


def read_votes(method: Any, engine: Engine, votes: Any, copies: Copies, progress: Progress | None) -> Reading:
    """Iterate from the votes; `votes` are the counts of their shares."""
    if copies.counts_all():
        first = method.estimate(votes, None, np.zeros(0))
        return Reading(method.iterate_from(first, engine, progress), _plurality(votes))
    return read_from(method, engine, Start(np.ones(len(copies.exponents)), copies, votes.classes), progress)


def read_from(method: Any, engine: Engine, start: Start, progress: Progress | None) -> Reading:
    """Iterate from elsewhere than the shares of the votes."""
    counts, change = engine.sweep(start)
    first = method.estimate(counts, start, change)
    return Reading(method.iterate_from(first, engine, progress), _plurality(counts))


def _plurality(votes: Any) -> float:
    """The share of the votes that the most frequent answers keep, as the mean of the items."""
    return float(votes.totals[LARGEST] / votes.totals[ITEMS])


def read_items(method: Any, workers: Any, labels: Labels) -> tuple[Array, Array]:
    """Return two arrays (items): the answers, given the workers' parameters, and their scores."""
    scores = method.finish(labels, method.rescore(labels, workers), workers).scores
    if labels.gold is not None:
        scores = clamped_scores(labels.gold, scores)
    answers = best_two(scores, TIE)[0]
    return answers, np.take_along_axis(scores, answers[:, None].astype(np.int64), axis=1)[:, 0]


def has_readings(labels: Crowd) -> bool:
    """Whether other readings of these labels can be looked for."""
    return 2 <= labels.n_classes <= MATRIX_CLASSES and not pairs_refusal(labels.n_workers, labels.n_classes)


def is_doubtful(plain: Reading) -> bool:
    """Whether a reading left the votes: it keeps less than half way from chance to what the most votes would keep."""
    n_classes = len(plain.workers.class_shares)
    return n_classes > 1 and plain.kept < (plain.plurality + 1 / n_classes) / 2


def other_readings(
    method: Any,
    engine: Engine,
    plain: Reading,
    counts: PairCounts | None,
    progress: Progress | None,
    same: float = 0.0,
) -> Iterator[Reading]:
    """Begin the iterations again where groups of workers outvote the others.

    Args:
        method: The method.
        engine: The engine.
        plain: The reading that begins at the votes.
        counts: The comparisons of workers; None if they are not counted yet.
        progress: Is called after every iteration.
        same: Iterations end, and give no reading, where no probability of any worker differs by this from `plain`.
    """
    if counts is None:
        counts = engine.add_labels(count_pairs, "comparing workers")
    copies, vote_classes = plain.workers.copies, plain.workers.vote_classes
    starts = [Start(weights, copies, vote_classes) for weights in _groups(counts)]
    if engine.n_classes == 2:
        starts.append(Start(np.ones(len(copies.exponents)), copies, vote_classes, opposite=True))
    known = plain.workers.confusion

    def is_plain(workers: FewClasses) -> bool:
        return bool(np.abs(workers.confusion - known).max() < same)

    for start in starts:
        ending = method.iterate_from(method.begin(engine, start), engine, progress, is_plain if same else None)
        if not (same and is_plain(ending.next_workers)):
            yield Reading(ending, plain.plurality)


def plausible_readings(
    method: Any, engine: Engine, same: float = 0.0, compared: tuple[PairCounts, WorkerBlocks] | None = None
) -> Iterator[tuple[str, Reading]]:
    """Read the labels with copies counted in each way, and from other starts if that explains them about as well.

    `same` says which readings from other starts are the first one again; see `other_readings`. `compared` are the
    comparisons of workers and their blocks, if both are known. Yields how each reading was found. The engine has the
    scores of a reading only until the next one is asked for.
    """
    votes, _ = engine.sweep(None)
    counts, blocks = confirmed_blocks(engine) if compared is None else compared
    plain = read_votes(method, engine, votes, method.count_copies(engine, votes, counts), None)
    yield AS_THEY_ARE, plain
    n_workers = len(votes.given)
    ways = (
        (
            "with workers who agree too often counted once (--set copies=once)",
            Copies.of(blocks.weights, blocks.members),
        ),
        ("with every worker counted for itself, exact copies too", Copies.none(n_workers)),
    )
    for how, copies in ways:
        if (copies.exponents != plain.workers.exponents).any():
            yield how, read_votes(method, engine, votes, copies, None)
    for other in other_readings(method, engine, plain, counts, None, same) if plain.can_be_compared else ():
        informed = other.informedness >= _LEAST_INFORMED * plain.informedness
        if informed and other.explains_more(plain, -_ABOUT_AS_GOOD):
            yield "following another group of workers", other


def best_reading(plain: Reading, others: list[Reading]) -> Reading:
    """The reading with the largest evidence among those that are clearly better and keep clearly more of the votes."""
    better = [
        other
        for other in others
        if other.explains_more(plain, _CLEARLY_BETTER) and other.kept > plain.kept + _CLEARLY_CLOSER
    ]
    return max(better, key=lambda reading: reading.evidence, default=plain)


def _leading(matrix: Array) -> Array:
    """(groups, workers), the eigenvectors of the largest eigenvalues of a symmetric matrix."""
    if len(matrix) < _MANY_WORKERS:
        return np.asarray(np.linalg.eigh(matrix)[1][:, ::-1][:, :_GROUPS].T)
    from scipy.sparse.linalg import eigsh  # imported here because it is slow to import

    # By Lanczos iterations, in a tenth of the time. They begin at the same vector in each run.
    found = eigsh(matrix, _GROUPS, which="LA", v0=np.ones(len(matrix)))[1]
    return np.asarray(found[:, ::-1].T)


def _groups(counts: PairCounts) -> list[Array]:
    """Weights of workers (workers), one for each of several groups of workers who agree with each other."""
    from threadpoolctl import threadpool_limits  # imported here because it is slow to import

    correlation, compared = correlations(counts)
    matrix = correlation * compared / (compared + _FEW_ITEMS)
    with threadpool_limits(1, "blas"):  # the last bits depend on how many threads there are
        leading = _leading(matrix)
    weights = [np.maximum(sign * vector, 0.0) for vector in leading for sign in (1, -1)]
    return [one for one in weights if one.any()]
