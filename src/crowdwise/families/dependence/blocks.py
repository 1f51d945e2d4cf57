r"""`find_blocks`: finds workers who agree with each other more often than one common truth explains.

If two workers have nothing but the truth in common, their correlation is the product of their correlations with the
truth, a_j and a_k:

$$ c_{jk} = a_j a_k, \quad c_{jk} = \frac{A_{jk} - \sum_a R_a(j, k) R_a(k, j)}{\sqrt{V_{jk} V_{kj}}}, \quad
   V_{jk} = 1 - \sum_a R_a(j, k)^2 $$

Here A_jk is the share of their common items on which workers j and k say the same, and R_a(j, k) the share of these
items on which j says class a. What the truth leaves over is the residual correlation of two workers:

$$ \rho_{jk} = \frac{c_{jk} - a_j a_k}{\sqrt{(1 - a_j^2)(1 - a_k^2)}} $$

Workers whose residual correlations are high, even at their lower bounds, are a block. They may be copies, prompts of
one model, or colluders; or experts, who know what the others do not know. The labels alone cannot tell which.
"""

from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from ...data.crowd import Crowd
from ...data.labels import Labels
from ...data.votes import given_by_class
from ...fitting.engines.base import Engine
from ...numerics import Array
from . import kernel
from .outside import OutsideCounts, count_outside, explained_by_outsiders

# The most workers, and the most bytes of the counts of all pairs of workers.
_MOST_WORKERS: Final = 2_000
_MOST_BYTES: Final = 2**30
# Workers are compared with each other unasked in crowds of up to so many labels and workers, where that is quick.
_QUICK_LABELS: Final = 60_000
_QUICK_WORKERS: Final = 500
# The residual correlation of workers who have fewer items in common than this counts as 0.
LEAST_COMPARED: Final = 10
# The shares of classes of a worker are those of this many labels of the whole crowd, besides its own.
_SHARED_LABELS: Final = 2.0
# A worker's spread is at least this share of the crowd's; see `kernel.correlate_workers`.
_LEAST_SPREAD: Final = 0.1
# The correlation of a worker with the truth: after how many steps it is taken as it is, and the change that ends them.
_STEPS: Final = 100
_SMALL_CHANGE: Final = 1e-6
# It is pulled to the mean as by so many comparisons, and is below 1, because nobody is always right.
_PRIOR_COMPARISONS: Final = 5.0
_MOST_COMMON: Final = 0.999
# How far correlations are from products even if they are counted from very many items.
_MODEL_ERROR: Final = 0.05
# 1 - a^2 is at least this, because errors of what is divided by it grow.
_LEAST_UNEXPLAINED: Final = 0.1
# A bound is so many standard errors below the estimate.
ERRORS_BELOW: Final = 2.0
# A residual correlation counts if, without any dependence, so high a one among all pairs would be less likely than
# this. It is not enough that it is unlikely for this pair: 100 workers are 4,950 pairs, of which one is the highest.
_FALSE_ALARMS: Final = 0.05
# The members of a block have residual correlations of at least this in the mean, at their bounds.
_LEAST_RESIDUAL: Final = 0.3
# A block is confirmed if so much of what its members correlate beyond one common truth is left on their own items.
_LEAST_LEFT: Final = 0.5
# The members of a block are copies of each other if they correlate by this much in the mean.
COPIES: Final = 0.97


class PairCounts(NamedTuple):
    """What any two workers said about the same items; the counts of disjoint sets of items can be added.

    A comparison is one vote of a worker and one vote of another worker on the same item. If a worker has several votes
    on an item, because the labels were read with `duplicates="all"`, each of them is compared.

    Attributes:
        shared: (workers, workers, classes), `shared[j, k, a]` is in how many comparisons of j and k worker j says a.
        agreed: (workers, workers), in how many comparisons both say the same.
        given: (workers, classes), how many votes of the worker name the class.
    """

    shared: Array
    agreed: Array
    given: Array

    @property
    def compared(self) -> Array:
        """(workers, workers), the number of comparisons; 0 for a worker with itself."""
        return np.asarray(self.shared.sum(axis=2, dtype=np.int32))


@dataclass(frozen=True, eq=False)
class WorkerBlocks:
    """The blocks of workers that were found.

    Attributes:
        members: The blocks, each as the codes of its workers in ascending order; the largest block is first.
        weights: (workers), for how many independent workers a worker counts: 1 outside of blocks, less in a block.
        correlation: (workers, workers), c in the formulas.
        compared: (workers, workers), from how many comparisons the correlation is.
        common: (workers), a in the formulas: the correlation of every worker with the truth.
        low: (workers, workers), lower bounds of the residual correlations, from 0 to 1; 1 on the diagonal.
    """

    members: list[Array]
    weights: Array
    correlation: Array
    compared: Array
    common: Array
    low: Array

    @property
    def effective(self) -> float:
        """How many independent workers all workers together count for."""
        return float(self.weights.sum())

    @property
    def effective_of_blocks(self) -> Array:
        """(blocks), how many independent workers the members of each block together count for."""
        return np.array([self.weights[block].sum() for block in self.members])

    @property
    def mean_correlations(self) -> Array:
        """(blocks), the mean correlation of two members who have items in common."""
        pairs = [np.ix_(block, block) for block in self.members]
        return np.array([self.correlation[pair].sum() / np.count_nonzero(self.compared[pair]) for pair in pairs])

    @property
    def are_copies(self) -> Array:
        """(blocks), whether the members are copies of each other, as good as exact ones."""
        return self.mean_correlations >= COPIES


def pairs_refusal(n_workers: int, n_classes: int) -> str:
    """Return a sentence that says why so many workers cannot be compared with each other; empty if they can be."""
    if n_workers > _MOST_WORKERS:
        return (
            f"All pairs of workers are compared, which is for up to {_MOST_WORKERS:,} workers, and here are "
            f"{n_workers:,}: leave out the workers with few labels, who share too few items with others anyway."
        )
    size = 4 * n_workers**2 * (n_classes + 1)
    if size > _MOST_BYTES:
        return (
            f"To compare all pairs of {n_workers:,} workers in {n_classes:,} classes would take "
            f"{size / 2**30:.1f} GB, and at most 1 GB is taken: leave out workers with few labels, or merge rare "
            "classes."
        )
    return ""


def is_quick_to_compare(labels: Crowd) -> bool:
    """Whether comparing all workers with each other takes little time, wherever the labels are."""
    return labels.n_labels <= _QUICK_LABELS and labels.n_workers <= _QUICK_WORKERS and not labels.set_valued


def count_pairs(labels: Labels) -> PairCounts:
    """Compare every two workers on these items; the labels may be a part of a crowd that `pairs_refusal` lets pass."""
    arrays = labels.item_starts, labels.workers, labels.labels
    return PairCounts(*kernel.compare_workers(*arrays, labels.n_workers, labels.n_classes), given_by_class(labels))


def correlations(counts: PairCounts) -> tuple[Array, Array]:
    """Return two arrays (workers, workers): c in the formulas, and from how many comparisons it is."""
    compared = counts.compared
    return kernel.correlate_workers(counts.shared, counts.agreed, compared, *_habits(counts)), compared


def expected_agreement(counts: PairCounts, common: Array) -> Array:
    """Return (workers, workers) which share of comparisons would agree if workers had only the truth in common.

    Args:
        counts: The comparisons.
        common: (workers), the correlation of every worker with the truth.
    """
    return kernel.expect_agreement(counts.shared, counts.compared, *_habits(counts), common)


def find_blocks(counts: PairCounts) -> WorkerBlocks:
    """Find the blocks of workers who agree with each other more often than one common truth explains.

    Args:
        counts: The comparisons on all items. Ties depend on the order of workers, so they should be in the order of
            their numbers; see data/numbering.py.
    """
    correlation, compared = correlations(counts)
    common = common_truth(correlation, compared)
    low = _residual_bounds(correlation, compared, common)
    members = _linked(low)
    weights = np.ones(len(common))
    for block in members:
        weights[block] = 1.0 / low[np.ix_(block, block)].sum(axis=1)
    return WorkerBlocks(members, weights, correlation, compared, common, low)


def confirm_blocks(blocks: WorkerBlocks, outside: OutsideCounts) -> WorkerBlocks:
    """Return the blocks without those whose members may agree so often because of the items that they share.

    Args:
        blocks: The blocks.
        outside: How workers outside of them agree on these items; see families/dependence/outside.py.
    """
    kept, weights = [], blocks.weights.copy()
    for members, explained_here in zip(blocks.members, explained_by_outsiders(outside), strict=True):
        pairs = np.ix_(members, members)
        comparisons = blocks.compared[pairs]
        products = np.outer(blocks.common[members], blocks.common[members])
        observed, explained = (
            float((values * comparisons).sum() / comparisons.sum()) for values in (blocks.correlation[pairs], products)
        )
        if observed - explained_here >= _LEAST_LEFT * (observed - explained):
            kept.append(members)
        else:
            weights[members] = 1.0
    return replace(blocks, members=kept, weights=weights)


def confirmed_blocks(engine: Engine) -> tuple[PairCounts, WorkerBlocks]:
    """Compare all workers of a crowd, and return the comparisons and the blocks that are found and confirmed."""
    counts: PairCounts = engine.add_labels(count_pairs, "comparing workers")
    blocks = find_blocks(counts)
    if blocks.members:
        outside = engine.add_labels(partial(count_outside, blocks=blocks.members), "confirming blocks")
        blocks = confirm_blocks(blocks, outside)
    return counts, blocks


def _habits(counts: PairCounts) -> tuple[Array, float]:
    """(workers, classes), how often every worker says each class, whatever the item; and the least spread."""
    everybody = counts.given.sum(axis=0) / counts.given.sum()
    votes = counts.given.sum(axis=1, keepdims=True)
    shares = (counts.given + _SHARED_LABELS * everybody) / (votes + _SHARED_LABELS)
    # It is above 0 so that it can be divided by, even if all labels name one class.
    least = max(_LEAST_SPREAD * (1.0 - float(everybody @ everybody)), np.finfo(float).eps)
    return shares, least


def common_truth(correlation: Array, compared: Array) -> Array:
    """(workers), the correlation of every worker with the truth.

    All start equal, at the median correlation of pairs, which the pairs in blocks hardly move.
    """
    pairs, weights = _pairs(correlation), _pairs(compared).astype(np.int64)
    total = int(weights.sum())
    if total == 0:
        return np.zeros(len(correlation))
    order = np.argsort(pairs, kind="stable")
    median = pairs[order[np.searchsorted(np.cumsum(weights[order]), (total + 1) // 2)]]
    mean = np.sqrt(max(float(pairs @ weights) / total, 0.01))
    common = np.full(len(correlation), np.sqrt(np.clip(median, 0.01, 0.9)))
    for _ in range(_STEPS):
        fitted = kernel.fit_common_truth(correlation, compared, common, mean, _PRIOR_COMPARISONS, _MODEL_ERROR)
        # Halfway only: both factors of a product are fitted at once, and would overshoot.
        following = np.clip((common + fitted) / 2, -_MOST_COMMON, _MOST_COMMON)
        change = np.abs(following - common).max()
        common = following
        if change < _SMALL_CHANGE:
            break
    return common


def residuals(correlation: Array, compared: Array, common: Array) -> tuple[Array, Array]:
    """Return two arrays (workers, workers): the residual correlations, and their standard errors.

    Args:
        correlation: (workers, workers), c in the formulas.
        compared: (workers, workers), from how many comparisons the correlation is.
        common: (workers), a in the formulas.
    """
    unexplained = np.sqrt(np.maximum(1.0 - common**2, _LEAST_UNEXPLAINED))
    scale = np.outer(unexplained, unexplained)
    error = 1.0 / (np.sqrt(np.maximum(compared, 1)) * scale)
    return (correlation - np.outer(common, common)) / scale, error


def _residual_bounds(correlation: Array, compared: Array, common: Array) -> Array:
    """(workers, workers), the lower bounds of the residual correlations, from 0 to 1; 1 on the diagonal."""
    residual, error = residuals(correlation, compared, common)
    comparable = compared >= LEAST_COMPARED
    pairs = max(int(comparable.sum()) // 2, 1)
    beyond_chance = residual >= -NormalDist().inv_cdf(_FALSE_ALARMS / pairs) * error
    low = np.where(comparable & beyond_chance, np.clip(residual - ERRORS_BELOW * error, 0.0, 1.0), 0.0)
    np.fill_diagonal(low, 1.0)
    return low


def _linked(low: Array) -> list[Array]:
    """The blocks: workers are linked as long as the bounds between two groups are high enough in the mean."""
    distances = 1.0 - _pairs(low)
    if not (distances <= 1.0 - _LEAST_RESIDUAL).any():  # then no mean of them is so small either
        return []
    from scipy.cluster.hierarchy import average, fcluster  # imported here because it is slow to import

    group = fcluster(average(distances), 1.0 - _LEAST_RESIDUAL, "distance")
    order = np.argsort(group, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return sorted((block for block in groups if len(block) > 1), key=lambda block: (-len(block), int(block[0])))


def _pairs(matrix: Array) -> Array:
    """The values of a symmetric matrix above the diagonal, row by row, as SciPy has the distances of all pairs."""
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])
