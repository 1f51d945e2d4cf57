r"""Correlations of workers with each other and with the truth, and what of the former the truth does not explain.

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

from typing import Final

import numpy as np

from ...numerics import Array
from .pairs import PairCounts

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
