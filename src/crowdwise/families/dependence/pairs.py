r"""What every two workers said about the same items, their correlations, and what of these the truth does not explain.

A comparison is a vote of one worker and a vote of another worker on the same item. If a worker has several votes on an
item, because the labels were read with `duplicates="all"`, each of them is compared.

Of workers j and k, A_jk is the share of their n_jk comparisons in which they say the same, and R_a(j, k) the share in
which j says class a. Their correlation is

$$ c_{jk} = \frac{A_{jk} - \sum_a R_a(j, k) R_a(k, j)}{\sqrt{V_{jk} V_{kj}}}, \quad
   V_{jk} = 1 - \sum_a R_a(j, k)^2 $$

The shares are those on the items of both, because items come in batches that differ. If two workers have nothing but
the truth in common, c_jk is the product of their correlations with the truth, a_j and a_k. These are fitted by least
squares: with the prior mean m, worth l comparisons, steps go half of the way to

$$ a_j = \frac{l m + \sum_k w_{jk} c_{jk} a_k}{l + \sum_k w_{jk} a_k^2}, \quad
   w_{jk} = \frac{n_{jk}}{1 + x_{jk}^2 / 4 s_{jk}^2}, \quad
   x_{jk} = \max(c_{jk} - a_j a_k, 0), \quad s_{jk}^2 = 1 / n_{jk} + d^2 $$

so that pairs who have more in common than the truth count less. What the truth leaves over is the residual correlation:

$$ \rho_{jk} = \frac{c_{jk} - a_j a_k}{\sqrt{(1 - a_j^2)(1 - a_k^2)}} $$
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import given_by_class
from ...numerics import Array
from ...numerics.twins import twin
from ...parallel import runs

# The most workers, and the most bytes of the counts of all pairs of workers.
_MOST_WORKERS: Final = 2_000
_MOST_BYTES: Final = 2**30
# Workers are compared with each other unasked in crowds of up to so many labels and workers, where that is quick.
_QUICK_LABELS: Final = 60_000
_QUICK_WORKERS: Final = 500
# About so many pairs of votes are in memory at once.
_PAIRS_AT_ONCE: Final = 2**15
# To the shares of a worker so many labels are added as the worker gives usually, and to those as the crowd gives.
_USUAL_LABELS: Final = 2.0
# V is at least this share of the crowd's: agreement of workers who nearly always say one class would count for much.
_LEAST_VARIANCE: Final = 0.1
# The steps to a: the most of them, and the change that ends them.
_STEPS: Final = 100
_SMALL_CHANGE: Final = 1e-6
# l in the formula; the most that a is, because nobody is always right; and d: correlations are that far from products
# even if they are from very many comparisons.
_PRIOR_COMPARISONS: Final = 5.0
_MOST_COMMON: Final = 0.999
_MODEL_ERROR: Final = 0.05
# 1 - a^2 is at least this, because errors of what is divided by it grow.
_LEAST_UNEXPLAINED: Final = 0.1
# A lower bound is so many standard errors below the estimate.
ERRORS_BELOW: Final = 2.0
# So many rows of a matrix are worked on at once, which stay in the processor's cache.
_ROWS: Final = 64


class PairCounts(NamedTuple):
    """What any two workers said about the same items; the counts of disjoint sets of items can be added."""

    shared: Array  # (workers, workers, classes), `[j, k, a]` is in how many comparisons of j and k worker j says a
    agreed: Array  # (workers, workers), in how many comparisons both say the same
    given: Array  # (workers, classes), how many votes of the worker name the class

    @property
    def compared(self) -> Array:
        """(workers, workers), the number of comparisons; 0 for a worker with itself."""
        return np.asarray(self.shared.sum(axis=2, dtype=np.int32))


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
    return PairCounts(*compare_workers(labels, labels.n_workers, labels.n_classes), given_by_class(labels))


@twin("crowdwise.families.dependence.kernel")
def compare_workers(labels: Labels, n_workers: int, n_classes: int) -> tuple[Array, Array]:
    """Return `shared` and `agreed` of `PairCounts`."""
    shared = np.zeros((n_workers, n_workers, n_classes), np.int32)
    agreed = np.zeros((n_workers, n_workers), np.int32)
    item_of, workers, said = labels.item_of, labels.workers.astype(np.int64), labels.labels
    ends = np.cumsum(np.bincount(workers, minlength=n_workers))
    for j, mine in enumerate(np.split(np.argsort(workers, kind="stable"), ends[:-1])):
        for e, f in pairs_of_votes(labels.item_starts, item_of[mine]):
            says = said[mine[e]]
            counts = np.bincount(workers[f] * n_classes + says, minlength=n_workers * n_classes)
            shared[j] += counts.reshape(n_workers, n_classes)
            agreed[j] += np.bincount(workers[f[said[f] == says]], minlength=n_workers)
        shared[j, j], agreed[j, j] = 0, 0
    return shared, agreed


def cross_tabulate(labels: Labels, members: Array) -> Array:
    """(members, members, classes, classes), `[j, k, b, a]` is in how many comparisons j says b and k says a."""
    place_of = np.full(labels.n_workers, -1)
    place_of[members] = np.arange(len(members))
    place = place_of[labels.workers]
    votes = np.flatnonzero(place >= 0)
    place, said = place[votes], labels.labels[votes].astype(np.int64)
    shape = len(members), len(members), labels.n_classes, labels.n_classes
    counts = np.zeros(shape, np.int64)
    for e, f in pairs_of_votes(np.searchsorted(votes, labels.item_starts), labels.item_of[votes]):
        cells = np.ravel_multi_index((place[e], place[f], said[e], said[f]), shape)
        counts += np.bincount(cells, minlength=counts.size).reshape(shape)
    itself = np.arange(len(members))
    counts[itself, itself] = 0
    return counts


def pairs_of_votes(item_starts: Array, item: Array) -> Iterator[tuple[Array, Array]]:
    """Pair votes, given the item of each, with all votes on the same item, with themselves too.

    Yields two arrays (pairs), in pieces: the number of the one vote in `item`, and the position of the other among all
    votes. All pairs of one vote are in the same piece.
    """
    sizes = item_starts[item + 1] - item_starts[item]
    starts = np.concatenate([[0], np.cumsum(sizes)])  # of the pairs of every vote
    shift = item_starts[item] - starts[:-1]
    for low, high in runs(starts, _PAIRS_AT_ONCE):
        one = np.repeat(np.arange(low, high), sizes[low:high])
        yield one, np.arange(starts[low], starts[high]) + shift[one]


def correlations(counts: PairCounts) -> tuple[Array, Array]:
    """Return two arrays (workers, workers): c, which is 0 for workers who share no item, and n."""
    n = counts.compared
    chance, scale = _by_chance(counts, n)
    beyond = (counts.agreed / np.maximum(n, 1) - chance) * n / (n + _USUAL_LABELS)
    return np.where(n > 0, np.clip(beyond / scale, -1.0, 1.0), 0.0), n


def expected_agreement(counts: PairCounts, common: Array) -> Array:
    """Return (workers, workers) which share of comparisons would agree if workers had only the truth in common.

    This is `correlations` turned around. `common` is a, the correlation of every worker with the truth.
    """
    n = counts.compared
    chance, scale = _by_chance(counts, n)
    expected = chance + np.outer(common, common) * scale * (n + _USUAL_LABELS) / np.maximum(n, 1)
    return np.where(n > 0, np.clip(expected, 0.0, 1.0), 0.0)


def _by_chance(counts: PairCounts, n: Array) -> tuple[Array, Array]:
    """(workers, workers), the sum of R_a(j, k) R_a(k, j) over the classes, and the root of V_jk V_kj."""
    everybody = counts.given.sum(axis=0) / counts.given.sum()
    votes = counts.given.sum(axis=1, keepdims=True)
    usual = (counts.given + _USUAL_LABELS * everybody) / (votes + _USUAL_LABELS)
    # It is above 0 so that it can be divided by, even if all labels name one class.
    least = max(_LEAST_VARIANCE * (1.0 - float(everybody @ everybody)), np.finfo(float).eps)
    chance, variance = np.zeros(n.shape), np.ones(n.shape)
    for a in range(counts.given.shape[1]):
        share = (counts.shared[:, :, a] + _USUAL_LABELS * usual[:, a, None]) / (n + _USUAL_LABELS)
        chance += share * share.T
        variance -= share * share
    deviation = np.sqrt(np.maximum(variance, least))
    return chance, deviation * deviation.T


def common_truth(correlation: Array, compared: Array) -> Array:
    """(workers), a: the correlation of every worker with the truth.

    All start equal, at the median correlation of pairs, which the pairs in blocks hardly move.
    """
    pairs, weights = above_diagonal(correlation), above_diagonal(compared).astype(np.int64)
    total = int(weights.sum())
    if total == 0:
        return np.zeros(len(correlation))
    order = np.argsort(pairs, kind="stable")
    median = pairs[order[np.searchsorted(np.cumsum(weights[order]), (total + 1) // 2)]]
    mean = np.sqrt(max(float(pairs @ weights) / total, 0.01))
    common = np.full(len(correlation), np.sqrt(np.clip(median, 0.01, 0.9)))
    n = compared.astype(float)
    precision = n / (4.0 + 4.0 * _MODEL_ERROR**2 * n)  # 1 / 4 s^2
    for _ in range(_STEPS):
        fitted = _fit_common_truth(correlation, n, precision, common, mean)
        # Halfway only: both factors of a product are fitted at once, and would overshoot.
        following = np.clip((common + fitted) / 2, -_MOST_COMMON, _MOST_COMMON)
        change = np.abs(following - common).max()
        common = following
        if change < _SMALL_CHANGE:
            break
    return common


def _fit_common_truth(c: Array, n: Array, precision: Array, a: Array, mean: float) -> Array:
    """(workers), a by the formula, given those of all workers."""
    top, bottom = np.empty(len(a)), np.empty(len(a))
    for first in range(0, len(a), _ROWS):
        j = slice(first, first + _ROWS)
        x = np.maximum(c[j] - a[j, None] * a, 0.0)
        w = n[j] / (1.0 + precision[j] * x * x)
        # Sums of einsum, unlike those of @, do not depend on the number of threads.
        top[j], bottom[j] = np.einsum("jk,k->j", w * c[j], a), np.einsum("jk,k->j", w, a * a)
    return np.asarray((_PRIOR_COMPARISONS * mean + top) / (_PRIOR_COMPARISONS + bottom))


def residuals(correlation: Array, compared: Array, common: Array) -> tuple[Array, Array]:
    """Return two arrays (workers, workers), given c, n and a: the residual correlations, and their standard errors."""
    unexplained = np.sqrt(np.maximum(1.0 - common**2, _LEAST_UNEXPLAINED))
    scale = np.outer(unexplained, unexplained)
    error = 1.0 / (np.sqrt(np.maximum(compared, 1)) * scale)
    return (correlation - np.outer(common, common)) / scale, error


def above_diagonal(matrix: Array) -> Array:
    """The values of a symmetric matrix above the diagonal, row by row, as SciPy has the distances of all pairs."""
    return np.asarray(matrix[np.triu_indices(len(matrix), 1)])
