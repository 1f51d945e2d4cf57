r"""`find_blocks` and `suspicious_pairs`: workers who agree more often than one common truth explains.

Workers whose residual correlations (pairs.py) are high, even at their lower bounds, are a block. They may be
copies, prompts of one model, or colluders; or experts, who know what the others do not know. The labels alone cannot
tell which.

A pair is suspicious of copying if it has n >= 20 comparisons, a correlation c >= 0.85 and a residual correlation of at
least 0.05 at its lower bound. This bound is the larger of two: that of pairs.py, which can follow a pair itself where
there are few workers, and one for which the others show the truth. With w = n / (n + 10), S_jk the mean of c_jl over l
other than k, and T that of c_lm over l and m other than j and k, both weighted by w:

$$ a_j = S_{jk} / \sqrt{T}, \quad \rho_{jk} = \frac{c_{jk} - a_j a_k}{\sqrt{(1 - a_j^2)(1 - a_k^2)}} $$
"""

from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Final

import numpy as np

from ...fitting.engines.base import Engine
from ...numerics import Array
from .outside import OutsideCounts, count_outside, explained_by_outsiders
from .pairs import ERRORS_BELOW, PairCounts, above_diagonal, common_truth, correlations, count_pairs, residuals

# The residual correlation of workers who have fewer items in common than this counts as 0.
LEAST_COMPARED: Final = 10
# A residual correlation counts if, without any dependence, so high a one among all pairs would be less likely than
# this. It is not enough that it is unlikely for this pair: 100 workers are 4,950 pairs, of which one is the highest.
_FALSE_ALARMS: Final = 0.05
# The members of a block have residual correlations of at least this in the mean, at their bounds.
_LEAST_RESIDUAL: Final = 0.3
# A block is confirmed if so much of what its members correlate beyond one common truth is left on their own items.
_LEAST_LEFT: Final = 0.5
# The members of a block are copies of each other if they correlate by this much in the mean.
COPIES: Final = 0.97
# The least n, c and lower bound of a suspicious pair. With a lower c, workers who know are taken for copies.
_LEAST_SUSPICIOUS: Final = (20, 0.85, 0.05)
# A correlation counts in full only if it is from many more items than this.
_FEW_ITEMS: Final = 10.0
# The least T, the largest a, and the least (1 - a_j^2)(1 - a_k^2).
_LEAST_COMMON, _MOST_COMMON, _LEAST_UNEXPLAINED = 0.02, 0.95, 0.01


@dataclass(frozen=True, eq=False)
class WorkerBlocks:
    """The blocks of workers that were found."""

    members: list[Array]  # the codes of the workers of every block in ascending order; the largest block is first
    weights: Array  # (workers), for how many independent workers a worker counts: 1 outside of blocks, less in a block
    correlation: Array  # (workers, workers), c in pairs.py
    compared: Array  # (workers, workers), n in pairs.py
    common: Array  # (workers), a in pairs.py: the correlation of every worker with the truth

    @property
    def effective_of_blocks(self) -> Array:
        """(blocks), how many independent workers the members of each block together count for."""
        return np.array([self.weights[block].sum() for block in self.members])

    @property
    def are_copies(self) -> Array:
        """(blocks), whether the members are copies of each other, as good as exact ones."""
        pairs = [np.ix_(block, block) for block in self.members]
        means = [self.correlation[pair].sum() / np.count_nonzero(self.compared[pair]) for pair in pairs]
        return np.array(means) >= COPIES


def find_blocks(counts: PairCounts) -> WorkerBlocks:
    """Find the blocks of workers who agree with each other more often than one common truth explains.

    Ties depend on the order of workers, so they should be in the order of their numbers; see crowd/numbering.py.
    """
    correlation, compared = correlations(counts)
    common = common_truth(correlation, compared)
    low = _residual_bounds(correlation, compared, common)
    members = _linked(low)
    weights = np.ones(len(common))
    for block in members:
        weights[block] = 1.0 / low[np.ix_(block, block)].sum(axis=1)
    return WorkerBlocks(members, weights, correlation, compared, common)


def confirm_blocks(blocks: WorkerBlocks, outside: OutsideCounts) -> WorkerBlocks:
    """Return the blocks without those whose members may agree so often because of the items that they share."""
    confirmed, weights = [], blocks.weights.copy()
    for members, explained_here in zip(blocks.members, explained_by_outsiders(outside), strict=True):
        pairs = np.ix_(members, members)
        comparisons = blocks.compared[pairs]
        products = np.outer(blocks.common[members], blocks.common[members])
        observed, explained = (
            float((values * comparisons).sum() / comparisons.sum()) for values in (blocks.correlation[pairs], products)
        )
        if observed - explained_here >= _LEAST_LEFT * (observed - explained):
            confirmed.append(members)
        else:
            weights[members] = 1.0
    return replace(blocks, members=confirmed, weights=weights)


def confirmed_blocks(engine: Engine, counts: PairCounts | None = None) -> tuple[PairCounts, WorkerBlocks]:
    """Compare all workers of a crowd, and return the comparisons and the blocks that are found and confirmed.

    `counts` are the comparisons, if they are counted already.
    """
    if counts is None:
        counts = engine.add_labels(count_pairs, "comparing workers")
    blocks = find_blocks(counts)
    if blocks.members:
        outside = engine.add_labels(partial(count_outside, blocks=blocks.members), "confirming blocks")
        blocks = confirm_blocks(blocks, outside)
    return counts, blocks


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
    """The blocks, by average linkage: groups are linked while the bounds between them are high enough in the mean."""
    distances = 1.0 - above_diagonal(low)
    if not (distances <= 1.0 - _LEAST_RESIDUAL).any():  # then no mean of them is so small either
        return []
    from scipy.cluster.hierarchy import average, fcluster  # imported here because it is slow to import

    group = fcluster(average(distances), 1.0 - _LEAST_RESIDUAL, "distance")
    order = np.argsort(group, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return sorted((block for block in groups if len(block) > 1), key=lambda block: (-len(block), int(block[0])))


def suspicious_pairs(counts: PairCounts) -> tuple[Array, Array, Array]:
    """Return three arrays (workers, workers): which pairs are suspicious of copying, c and n."""
    c, n = correlations(counts)
    residual, error = residuals(c, n, common_truth(c, n))
    low = np.maximum(residual - ERRORS_BELOW * error, _beyond_the_others(c, n))
    least_n, least_c, least_low = _LEAST_SUSPICIOUS
    pairs = (n >= least_n) & (c >= least_c) & (low >= least_low)
    np.fill_diagonal(pairs, False)
    return pairs, c, n


def _beyond_the_others(c: Array, n: Array) -> Array:
    """(workers, workers), lower bounds of the residual correlations, given the truth as all others show it."""
    w = n / (n + _FEW_ITEMS)
    wc = w * c
    tops, bottoms = wc.sum(axis=1), w.sum(axis=1)
    s = _mean(tops[:, None] - wc, bottoms[:, None] - w)
    t = _mean(tops.sum() - 2 * (tops[:, None] + tops - wc), bottoms.sum() - 2 * (bottoms[:, None] + bottoms - w))
    a = np.clip(s / np.sqrt(np.maximum(t, _LEAST_COMMON)), -_MOST_COMMON, _MOST_COMMON)
    scale = np.sqrt(np.maximum((1 - a**2) * (1 - a.T**2), _LEAST_UNEXPLAINED))
    error = 1.0 / (np.sqrt(np.maximum(n, 1)) * scale)
    return np.asarray((c - a * a.T) / scale - ERRORS_BELOW * error)


def _mean(total: Array, weight: Array) -> Array:
    """A weighted mean; 0 where nothing has a weight, up to rounding: one comparison weighs far more."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-6)
