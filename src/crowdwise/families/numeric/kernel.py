"""Numeric labels: the values of items by weighted means, weighted medians, or without outliers; errors of workers.

Here `labels[e]` is the number that was said, not a class. The scores of an item are two numbers: its value, and the
variance of the value. `model` says what the arguments are, and what is computed.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled

_U = np.uint64


@compiled
def _count_answer(
    errors: Array, j: np.uint64, residual: float, share: float, away: float, variance: float, inlier: float
) -> None:
    """Add one answer of worker j to `errors`; `away` is d, `inlier` the probability that it is no outlier."""
    errors[j, 0] += inlier
    errors[j, 1] += inlier * residual
    errors[j, 2] += inlier * residual * residual
    errors[j, 3] += inlier * share
    errors[j, 4] += inlier * variance
    errors[j, 5] += inlier * (1.0 - share) * (1.0 - share)
    errors[j, 6] += inlier * away
    errors[j, 7] += inlier * away * away
    errors[j, 8] += inlier * residual * away


@compiled
def _count_item(totals: Array, value: float, variance: float, weight: float, prior: Array) -> None:
    """Add one item to `totals`; `weight` is the sum of the weights of its answers."""
    total = prior[1] + weight
    share = weight / total
    totals[0] += 1.0
    totals[1] += value - prior[0]
    totals[2] += (value - prior[0]) ** 2
    totals[3] += 1.0 / total + share * share * prior[2]
    totals[4] += prior[1] * share
    totals[5] += variance


@compiled
def _deviation(answers: Array) -> float:
    """The standard deviation of the answers on one item; 0 if they are all the same."""
    mean = 0.0
    for e in range(answers.size):
        mean += answers[e]
    mean /= answers.size
    square = 0.0
    for e in range(answers.size):
        square += (answers[e] - mean) ** 2
    return float(np.sqrt(square / answers.size))


@compiled
def _write(scores: Array, i: int, value: float, variance: float, scale: float, totals: Array) -> None:
    """Overwrite the scores of item i, and add to `totals` how far its value moved."""
    totals[6] += abs(value - scores[i, 0]) / scale
    scores[i, 0], scores[i, 1] = value, variance


@compiled
def sweep_means(
    item_starts: Array,
    workers: Array,
    labels: Array,
    losses: Array | None,
    parameters: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """Values are means; see `model`."""
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        # Sums of differences from one answer: large numbers that differ little would lose their digits.
        first = labels[low]
        weight, weighted, weighted_variance = 0.0, 0.0, 0.0
        for e in range(low, high):
            j = _U(workers[e])
            given = parameters[j, 0]
            weight += given
            weighted += given * (labels[e] - first - parameters[j, 1])
            weighted_variance += given * given * parameters[j, 2]
        total = prior[1] + weight
        value = first + (prior[1] * (prior[0] - first) + weighted) / total
        outside = prior[1] / total
        variance = (weighted_variance + prior[1]) / (total * total) + outside * outside * prior[2]
        _write(scores, i, value, variance, scale, totals)
        _count_item(totals, value, variance, weight, prior)
        for e in range(low, high):
            j = _U(workers[e])
            residual = labels[e] - parameters[j, 1] - value
            _count_answer(errors, j, residual, parameters[j, 0] / total, value - prior[0], variance, 1.0)
        if losses is not None:
            unit = _deviation(labels[low:high])
            if unit > 0.0:
                for e in range(low, high):
                    losses[_U(workers[e])] += (labels[e] - value) ** 2 / unit


@allocating
def _middles(answers: Array, weights: Array) -> tuple[float, float]:
    """The answer at which half of the weight is reached, from below and from above: the same one, or neighbours."""
    order = np.argsort(answers, kind="mergesort")
    half = 0.0
    for e in range(weights.size):
        half += weights[e]
    half /= 2.0
    below = 0.0
    for k in range(order.size - 1):
        below += weights[order[k]]
        if below >= half * (1.0 - 1e-7):
            # Exactly a half, but for rounding: every number up to the next answer is a median.
            upper = k + 1 if below <= half * (1.0 + 1e-7) else k
            return answers[order[k]], answers[order[upper]]
    return answers[order[-1]], answers[order[-1]]


@allocating
def sweep_medians(
    item_starts: Array,
    workers: Array,
    labels: Array,
    losses: Array | None,
    by_deviation: bool,
    parameters: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """Values are weighted medians; see `model`."""
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        answers = labels[low:high]
        weights = np.empty(answers.size)
        weight, weighted_variance = 0.0, 0.0
        for e in range(answers.size):
            j = _U(workers[low + _U(e)])
            weights[e] = parameters[j, 0]
            weight += weights[e]
            weighted_variance += weights[e] * weights[e] * parameters[j, 2]
        lower, upper = _middles(answers, weights)
        value = 0.5 * lower + 0.5 * upper
        # The variance of a median of normal answers is larger than that of their mean by this factor; nearly exact for
        # any number of them.
        larger = 0.5 * np.pi * answers.size / (answers.size + 0.5 * np.pi - 1.0)
        variance = larger * weighted_variance / (weight * weight)
        _write(scores, i, value, variance, scale, totals)
        _count_item(totals, value, variance, weight, prior)
        for e in range(answers.size):
            j = _U(workers[low + _U(e)])
            residual, share = answers[e] - value, weights[e] / weight
            _count_answer(errors, j, residual, share, value - prior[0], variance, 1.0)
        if losses is not None:
            unit = _deviation(answers) if by_deviation else 1.0
            if unit > 0.0:
                for e in range(answers.size):
                    losses[_U(workers[low + _U(e)])] += abs(answers[e] - value) / unit


@allocating
def _around_median(answers: Array, weights: Array) -> tuple[float, float]:
    """The weighted median, and the answer beside it that is nearer to being it; see `model`."""
    order = np.argsort(answers, kind="mergesort")
    half = 0.5 * weights.sum()
    below, k = 0.0, 0
    while k + 1 < order.size and below + weights[order[k]] < half:
        below += weights[order[k]]
        k += 1
    # With equal weights the median is exactly in the middle, which rounding must not decide.
    beside = k - 1 if half - below < 0.5 * weights[order[k]] * (1.0 - 1e-7) else k + 1
    if beside < 0 or beside >= order.size:
        beside = k
    return answers[order[k]], answers[order[beside]]


@compiled
def _settle(
    answers: Array,
    slopes: Array,
    weights: Array,
    uncertain: Array,
    prior: Array,
    outlier_share: float,
    height: float,
    away: float,
    inlier: Array,
) -> tuple[float, float, float]:
    """`model._settle` for one item, whose first value is `away`; overwrites `inlier` (answers).

    Returns the value minus the mean of the prior, the information of inliers about it, and the logarithm of how
    probable that is.
    """
    weight = 0.0
    for e in range(answers.size):
        weight += weights[e] * slopes[e] * slopes[e]
    logarithm = 0.0
    for _ in range(100):
        variance = 1.0 / (prior[1] + weight)
        weight, weighted, logarithm = 0.0, 0.0, 0.0
        for e in range(answers.size):
            slope = slopes[e]
            residual = answers[e] - slope * away
            doubt = uncertain[e, 0] + away * (uncertain[e, 2] + away * uncertain[e, 1])
            square = weights[e] * (residual**2 + slope * slope * variance + max(doubt, 0.0))
            density = (1.0 - outlier_share) * np.exp(-0.5 * square)
            inlier[e] = density / (density + outlier_share * height)
            logarithm += 0.5 * np.log(weights[e]) + np.log(density + outlier_share * height)
            given = weights[e] * inlier[e] * slope
            weight += given * slope
            weighted += given * residual
        total = prior[1] + weight
        step = (weighted - prior[1] * away) / total
        away += step
        logarithm -= 0.5 * prior[1] * away**2
        if step * step * total <= 1e-20:
            break
    return away, weight, logarithm


@allocating
def sweep_without_outliers(
    item_starts: Array,
    workers: Array,
    labels: Array,
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
    """Values are means of inliers; see `model`."""
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        size = int(high - low)
        answers, weights, slopes = np.empty(size), np.empty(size), np.empty(size)
        alone, informative, uncertain, inlier = np.empty(size), np.empty(size), np.empty((size, 3)), np.empty(size)
        for e in range(size):
            j = _U(workers[low + _U(e)])
            answers[e] = labels[low + _U(e)] - prior[0] - parameters[j, 1]
            weights[e], slopes[e] = parameters[j, 0], parameters[j, 3]
            # The value by this answer alone, and how much it says about it: nothing if the slope is 0.
            flat = abs(slopes[e]) < 1e-9
            alone[e] = 0.0 if flat else answers[e] / slopes[e]
            informative[e] = 0.0 if flat else weights[e] * slopes[e] * slopes[e]
            uncertain[e, 0], uncertain[e, 1], uncertain[e, 2] = doubts[j, 0], doubts[j, 1], doubts[j, 2]
        median, beside = _around_median(alone, informative)
        away, weight, probable = _settle(
            answers, slopes, weights, uncertain, prior, outlier_share, height, median, inlier
        )
        apart = 0.0
        if beside != median:
            other = np.empty(size)
            found = _settle(answers, slopes, weights, uncertain, prior, outlier_share, height, beside, other)
            # How probable the first outcome is, if one of the two is right; both are the same for most items.
            first = 1.0 / (1.0 + np.exp(min(found[2] - probable, 700.0)))
            apart = first * (1.0 - first) * (away - found[0]) ** 2
            away = first * away + (1.0 - first) * found[0]
            weight = first * weight + (1.0 - first) * found[1]
            for e in range(size):
                inlier[e] = first * inlier[e] + (1.0 - first) * other[e]
        total = prior[1] + weight
        outside = prior[1] / total
        variance = 1.0 / total + outside * outside * prior[2] + apart
        value = prior[0] + away
        _write(scores, i, value, variance, scale, totals)
        _count_item(totals, value, variance, weight, prior)
        for e in range(size):
            j = _U(workers[low + _U(e)])
            slope = slopes[e]
            share = min(weights[e] * slope * slope / total, 1.0)
            _count_answer(errors, j, answers[e] - slope * away, share, away, variance, inlier[e])
            outliers[j] += 1.0 - inlier[e]
