r"""The E steps of methods for numbers, and the sums of their M step, in NumPy: what runs on small crowds.

Worker j answers y = m + b_j + s_j (z_i - m) + e about item i; m is the mean of the values z, b_j the bias and s_j the
slope of the worker, and v_j the variance of its error e. Values have the precision lambda around m, which is 0 if that
is not learned. The weight w_j is 1 / v_j in most methods.

E step: the value of every item, and its variance, given what is known of the workers. By means,

$$ z_i = \frac{\lambda m + \sum_j w_j (y_{ij} - b_j)}{\lambda + \sum_j w_j} $$

by weighted medians, or without outliers (`sweep_without_outliers`). M step: `m_step` adds up the errors of every
worker, and `NumericMethod.estimate` learns from these sums. The kernels have the same names and arguments.

What is known of the workers is `parameters` (workers, 4): weight, bias, variance, slope (1 unless slopes are learned).
What is known of all items is `prior`: m, lambda, and the variance of m.
"""

from typing import NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...numerics.elementary import sums
from ...numerics.twins import twin

_KERNEL = "crowdwise.families.numeric.kernel"


class _Values(NamedTuple):
    """What an E step finds out."""

    value: Array  # (items)
    variance: Array  # (items), the variance of the value
    weight: Array  # (items), the information of the answers about it
    residual: Array  # (labels), the answer minus what is expected of the worker
    share: Array  # (labels), the share that the answer has in what is expected
    inlier: Array | float = 1.0  # (labels), the probability that the answer is no outlier


@twin(_KERNEL)
def sweep_means(
    labels: Labels,
    losses: Array | None,
    parameters: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """The value of an item is the mean of its answers without their biases, by weight, and of the prior.

    Adds to `losses` (workers) the squared errors, divided by the standard deviation of the answers on the item.
    """
    mean, precision, of_mean = prior
    items, weight, bias, variance, _ = labels.item_of, *parameters[labels.workers].T
    # Sums of differences from one answer: large numbers that differ little would lose their digits.
    first = labels.labels[labels.item_starts[:-1]]
    n = labels.n_items
    total_weight = np.bincount(items, weight, n)
    total = precision + total_weight
    weighted = np.bincount(items, weight * (labels.labels - first[items] - bias), n)
    value = first + (precision * (mean - first) + weighted) / total
    of_value = (np.bincount(items, weight**2 * variance, n) + precision) / total**2 + (precision / total) ** 2 * of_mean
    residual = labels.labels - bias - value[items]
    m_step(
        labels,
        _Values(value, of_value, total_weight, residual, weight / total[items]),
        *(prior, scale, scores, errors, totals),
    )
    if losses is not None:
        _add_losses(labels, (labels.labels - value[items]) ** 2, True, losses)


@twin(_KERNEL)
def sweep_medians(
    labels: Labels,
    losses: Array | None,
    by_deviation: bool,
    parameters: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """The value of an item is the weighted median of its answers; biases and the prior do not matter.

    Adds to `losses` (workers) the absolute errors, which are divided by the standard deviation of the answers on the
    item if `by_deviation`.
    """
    items, weight, n = labels.item_of, parameters[labels.workers, 0], labels.n_items
    order, _, reached = _by_answer(labels, labels.labels, weight)
    last = labels.item_starts[1:] - 1
    lower = labels.item_starts[:-1] + np.bincount(items, reached < 0.5 * (1 - 1e-7), n).astype(np.int64)
    # Exactly a half, but for rounding: every number up to the next answer is a median.
    upper = np.where((lower < last) & (reached[lower] <= 0.5 * (1 + 1e-7)), lower + 1, lower)
    value = 0.5 * labels.labels[order[lower]] + 0.5 * labels.labels[order[upper]]
    # The variance of a median of normal answers is larger than that of their mean by this factor; nearly exact for any
    # number of them.
    answers = np.diff(labels.item_starts)
    larger = 0.5 * np.pi * answers / (answers + 0.5 * np.pi - 1)
    total = np.bincount(items, weight, n)
    variance = larger * np.bincount(items, weight**2 * parameters[labels.workers, 2], n) / total**2
    residual = labels.labels - value[items]
    found = _Values(value, variance, total, residual, weight / total[items])
    m_step(labels, found, prior, scale, scores, errors, totals)
    if losses is not None:
        _add_losses(labels, np.abs(residual), by_deviation, losses)


@twin(_KERNEL)
def sweep_without_outliers(
    labels: Labels,
    outlier_share: float,
    height: float,
    doubts: Array,
    outliers: Array,
    parameters: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """The value of an item is the mean, by weight, of the answers that are no outliers and of the prior.

    See `_settle`, which begins at the weighted median, so that values follow from what is known of the workers alone,
    and again at the answer beside it; the outcomes count by how probable they are. Choosing one of them instead, values
    could jump back and forth for ever. `doubts` (workers, 3) is how uncertain biases and slopes are; see `_settle`.
    Adds to `outliers` (workers) how many answers are expected to be outliers.
    """
    mean, precision, of_mean = prior
    items, weight, bias, _, slope = labels.item_of, *parameters[labels.workers].T
    answers = labels.labels - mean - bias
    # The value by each answer alone, and how much it says about it: nothing if the slope is 0.
    flat = np.abs(slope) < 1e-9
    alone = np.where(flat, 0.0, answers / np.where(flat, 1.0, slope))
    median, beside = _around_median(labels, alone, np.where(flat, 0.0, weight * slope**2))
    given = (items, answers, slope, weight, doubts[labels.workers], precision, outlier_share, height)
    away, information, log_probability, inlier = _settle(*given, median)
    other_away, other_information, other_probability, other_inlier = _settle(*given, beside)
    # How probable the first outcome is, if one of the two is right; both are the same for most items.
    first = 1 / (1 + np.exp(np.minimum(other_probability - log_probability, 700.0)))
    apart = first * (1 - first) * (away - other_away) ** 2
    away = first * away + (1 - first) * other_away
    information = first * information + (1 - first) * other_information
    inlier = first[items] * inlier + (1 - first[items]) * other_inlier
    total = precision + information
    variance = 1 / total + (precision / total) ** 2 * of_mean + apart
    share = np.minimum(weight * slope**2 / total[items], 1.0)
    found = _Values(mean + away, variance, information, answers - slope * away[items], share, inlier)
    m_step(labels, found, prior, scale, scores, errors, totals)
    outliers += np.bincount(labels.workers, 1 - inlier, labels.n_workers)


def m_step(
    labels: Labels, found: _Values, prior: Array, scale: float, scores: Array, errors: Array, totals: Array
) -> None:
    """Overwrite `scores` (items, 2) by values and variances, and add to `errors` (workers, 9) and `totals` (7).

    The columns of `errors` are sums over the answers of a worker; r is the answer minus what is expected of the worker,
    d the value minus the mean of the prior, v the variance of the value, and h the share that the answer has in what is
    expected. Each is multiplied by the probability that the answer is no outlier:

        0 answers    1 r    2 r squared    3 h    4 v    5 (1 - h) squared    6 d    7 d squared    8 r d

    `totals` are sums over the items:

        0 items    1 d    2 d squared    3 how uncertain d is, by the prior    4 information about the mean
        5 variance    6 how far the value moved, in units of `scale`
    """
    mean, precision, of_mean = prior
    value, variance, weight, r, h, inlier = found
    items, away = labels.item_of, value - mean
    d, v = away[items], variance[items]
    terms = np.column_stack([np.ones_like(r), r, r**2, h, v, (1 - h) ** 2, d, d**2, r * d])
    errors += sums(labels.workers, terms * np.reshape(inlier, (-1, 1)), labels.n_workers)
    total = precision + weight
    share = weight / total
    uncertain = 1 / total + share**2 * of_mean
    moved = np.abs(value - scores[:, 0]) / scale
    of_items = (np.ones_like(away), away, away**2, uncertain, precision * share, variance, moved)
    totals += [term.sum() for term in of_items]
    scores[:, 0], scores[:, 1] = value, variance


def _settle(
    items: Array,
    answers: Array,
    slope: Array,
    weight: Array,
    doubts: Array,
    precision: float,
    outlier_share: float,
    height: float,
    away: Array,
) -> tuple[Array, Array, Array, Array]:
    """Compute the values of items and which of their answers are outliers, in turn, from first values on.

    An answer is an outlier with probability `outlier_share`; it then may be any number, with a density that is `height`
    times the highest density of answers that are not. `answers` are those minus the biases of their workers and the
    mean of the prior, which is also taken off the values `away` (items). The columns of `doubts` are the variance of
    the bias, the variance of the slope, and twice their covariance. `precision` is that of the values.

    Returns for every item the value minus the mean of the prior, the information of its inliers about it, and the
    logarithm of how probable that is; for every answer, the probability that it is no outlier.
    """
    n, found = len(away), np.zeros_like(away)
    information, inlier, moving = np.bincount(items, weight * slope**2, n), np.ones_like(answers), np.ones(n, bool)
    for _ in range(100):
        d = away[items]
        residual = answers - slope * d
        doubt = np.maximum(doubts[:, 0] + d * (doubts[:, 2] + d * doubts[:, 1]), 0.0)
        square = weight * (residual**2 + slope**2 / (precision + information)[items] + doubt)
        density = (1 - outlier_share) * np.exp(-0.5 * square)
        either = density + outlier_share * height
        inlier = np.where(moving[items], density / either, inlier)
        counted = weight * inlier * slope
        information = np.where(moving, np.bincount(items, counted * slope, n), information)
        total = precision + information
        step = np.where(moving, (np.bincount(items, counted * residual, n) - precision * away) / total, 0.0)
        away = away + step
        log_probability = np.bincount(items, 0.5 * np.log(weight) + np.log(either), n) - 0.5 * precision * away**2
        found = np.where(moving, log_probability, found)
        moving &= step**2 * total > 1e-20
        if not moving.any():
            break
    return away, information, found, inlier


def _by_answer(labels: Labels, answers: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Sort the answers of every item: their order, the share of each in the weight of the item, and the sums of shares.

    A sum includes the answer itself.
    """
    items, starts = labels.item_of, labels.item_starts[:-1]
    order = np.lexsort((answers, items))
    total = np.bincount(items, weight, labels.n_items)
    share = weight[order] / np.where(total > 0, total, 1.0)[items]
    reached = np.cumsum(share)
    return order, share, reached - (reached - share)[starts][items]


def _around_median(labels: Labels, answers: Array, weight: Array) -> tuple[Array, Array]:
    """(items), the weighted median, and the answer beside it that is nearer to being it.

    Where weights change so that another answer becomes the median, the two are the same as before.
    """
    order, share, reached = _by_answer(labels, answers, weight)
    first, last = labels.item_starts[:-1], labels.item_starts[1:] - 1
    half = np.where(reached[last] > 0, 0.5, 0.0)
    below = np.bincount(labels.item_of, reached < half[labels.item_of], labels.n_items).astype(np.int64)
    k = np.minimum(first + below, last)
    # With equal weights the median is exactly in the middle, which rounding must not decide.
    lower = half - (reached - share)[k] < 0.5 * share[k] * (1 - 1e-7)
    beside = np.where(lower, k - 1, k + 1)
    beside = np.where((beside < first) | (beside > last), k, beside)
    return answers[order[k]], answers[order[beside]]


def _add_losses(labels: Labels, loss: Array, by_deviation: bool, losses: Array) -> None:
    """Add the losses of answers to those of their workers, divided by the deviation of the answers on the item."""
    if by_deviation:
        items, n = labels.item_of, np.diff(labels.item_starts)
        mean = np.bincount(items, labels.labels, labels.n_items) / n
        unit = np.sqrt(np.bincount(items, (labels.labels - mean[items]) ** 2, labels.n_items) / n)[items]
        loss = np.divide(loss, unit, out=np.zeros_like(loss), where=unit > 0)
    losses += np.bincount(labels.workers, loss, labels.n_workers)
