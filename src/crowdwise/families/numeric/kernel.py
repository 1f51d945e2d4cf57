"""Numeric labels: the values of items by weighted means, weighted medians, or without wild answers; errors of workers.

Here `labels[e]` is the number that was said, not a class. The scores of an item are two numbers: its value, and the
variance of the value.

What is known of the workers is a table `known` (workers, 4): the weight of a worker's answers, its bias, the variance
of its errors, and its slope, which is 1 unless slopes are learned. The answer that is expected of a worker is the mean
of the prior, plus the bias, plus the slope times the difference of the value from that mean. What is known of all items
is `prior`: the mean of their values, the precision (one divided by the variance) of the values around it, which is 0 if
nothing is known, and the variance of that mean.

What is counted of every worker is `errors` (workers, 9), sums over its answers; r is the answer minus what is expected
of the worker, d the value of the item minus the mean of the prior, v the variance of the value, and h the share that
the answer has in what is expected:

    0 answers that are not wild    1 r    2 r squared    3 h    4 v    5 (1 - h) squared    6 d    7 d squared    8 r d

With wild answers, each term is multiplied by the probability that the answer is not wild. `totals` (7) are sums over
the items; d is the value minus the mean of the prior:

    0 items    1 d    2 d squared    3 how uncertain d is, by the prior    4 information about the mean    5 variance
    6 how far the value moved, in units of `scale`
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled

_U = np.uint64


@compiled
def _count_answer(
    errors: Array, j: np.uint64, residual: float, share: float, away: float, variance: float, usual: float
) -> None:
    """Add one answer of worker j to `errors`; `away` is d, `usual` the probability that it is not wild."""
    errors[j, 0] += usual
    errors[j, 1] += usual * residual
    errors[j, 2] += usual * residual * residual
    errors[j, 3] += usual * share
    errors[j, 4] += usual * variance
    errors[j, 5] += usual * (1.0 - share) * (1.0 - share)
    errors[j, 6] += usual * away
    errors[j, 7] += usual * away * away
    errors[j, 8] += usual * residual * away


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
    losses: Array | None,
    item_starts: Array,
    workers: Array,
    labels: Array,
    known: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """The value of an item is the mean of its answers without their biases, by weight, and of the prior.

    Adds to `losses` (workers) the squared errors, divided by the standard deviation of the answers on the item.
    """
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        # Sums of differences from one answer: large numbers that differ little would lose their digits.
        first = labels[low]
        weight, weighted, spread = 0.0, 0.0, 0.0
        for e in range(low, high):
            j = _U(workers[e])
            given = known[j, 0]
            weight += given
            weighted += given * (labels[e] - first - known[j, 1])
            spread += given * given * known[j, 2]
        total = prior[1] + weight
        value = first + (prior[1] * (prior[0] - first) + weighted) / total
        outside = prior[1] / total
        variance = (spread + prior[1]) / (total * total) + outside * outside * prior[2]
        _write(scores, i, value, variance, scale, totals)
        _count_item(totals, value, variance, weight, prior)
        for e in range(low, high):
            j = _U(workers[e])
            residual = labels[e] - known[j, 1] - value
            _count_answer(errors, j, residual, known[j, 0] / total, value - prior[0], variance, 1.0)
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
    losses: Array | None,
    by_deviation: bool,
    item_starts: Array,
    workers: Array,
    labels: Array,
    known: Array,
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
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        answers = labels[low:high]
        weights = np.empty(answers.size)
        weight, spread = 0.0, 0.0
        for e in range(answers.size):
            j = _U(workers[low + _U(e)])
            weights[e] = known[j, 0]
            weight += weights[e]
            spread += weights[e] * weights[e] * known[j, 2]
        lower, upper = _middles(answers, weights)
        value = 0.5 * lower + 0.5 * upper
        # The variance of a median of normal answers is larger than that of their mean by this factor; nearly exact for
        # any number of them.
        larger = 0.5 * np.pi * answers.size / (answers.size + 0.5 * np.pi - 1.0)
        variance = larger * spread / (weight * weight)
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
    """The weighted median, and the answer beside it that is nearer to being it.

    Where weights change so that another answer becomes the median, the two are the same as before.
    """
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
    wild: float,
    height: float,
    away: float,
    usual: Array,
) -> tuple[float, float, float]:
    """Compute the value of one item and which of its answers are wild, in turn, from a first value on.

    An answer is wild with probability `wild`; it then may be any number, with a density that is `height` times the
    highest density of answers that are not. Overwrites `usual` by the probabilities that answers are not wild.

    Args:
        answers: The answers minus the biases of their workers and the mean of the prior.
        slopes: The slopes of their workers.
        weights: The precisions of the workers.
        uncertain: (answers, 3), how uncertain the biases and the slopes are: the variance of the bias, the variance of
            the slope, and twice their covariance.
        prior: See the head of this module.
        wild: The share of wild answers.
        height: The density of wild answers relative to the highest density of others.
        away: The first value, minus the mean of the prior.
        usual: Is overwritten.

    Returns:
        The value minus the mean of the prior, the information of answers that are not wild about it, and the logarithm
        of how probable that is.
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
            density = (1.0 - wild) * np.exp(-0.5 * square)
            usual[e] = density / (density + wild * height)
            logarithm += 0.5 * np.log(weights[e]) + np.log(density + wild * height)
            given = weights[e] * usual[e] * slope
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
def sweep_without_wild(
    wild: float,
    height: float,
    doubts: Array,
    wild_answers: Array,
    item_starts: Array,
    workers: Array,
    labels: Array,
    known: Array,
    prior: Array,
    scale: float,
    scores: Array,
    errors: Array,
    totals: Array,
) -> None:
    """The value of an item is the mean, by weight, of the answers that are not wild and of the prior.

    See `_settle`, which begins at the weighted median, so that values follow from what is known of the workers alone,
    and again at the answer beside it; the outcomes count by how probable they are. Choosing one of them instead, values
    could jump back and forth for ever. `doubts` (workers, 3) is how uncertain biases and slopes are; see `_settle`.
    Adds to `wild_answers` (workers) how many answers are expected to be wild.
    """
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        size = int(high - low)
        answers, weights, slopes = np.empty(size), np.empty(size), np.empty(size)
        alone, informative, uncertain, usual = np.empty(size), np.empty(size), np.empty((size, 3)), np.empty(size)
        for e in range(size):
            j = _U(workers[low + _U(e)])
            answers[e] = labels[low + _U(e)] - prior[0] - known[j, 1]
            weights[e], slopes[e] = known[j, 0], known[j, 3]
            # The value by this answer alone, and how much it says about it: nothing if the slope is 0.
            flat = abs(slopes[e]) < 1e-9
            alone[e] = 0.0 if flat else answers[e] / slopes[e]
            informative[e] = 0.0 if flat else weights[e] * slopes[e] * slopes[e]
            uncertain[e, 0], uncertain[e, 1], uncertain[e, 2] = doubts[j, 0], doubts[j, 1], doubts[j, 2]
        median, beside = _around_median(alone, informative)
        away, weight, probable = _settle(answers, slopes, weights, uncertain, prior, wild, height, median, usual)
        apart = 0.0
        if beside != median:
            other = np.empty(size)
            found = _settle(answers, slopes, weights, uncertain, prior, wild, height, beside, other)
            # How probable the first outcome is, if one of the two is right; both are the same for most items.
            first = 1.0 / (1.0 + np.exp(min(found[2] - probable, 700.0)))
            apart = first * (1.0 - first) * (away - found[0]) ** 2
            away = first * away + (1.0 - first) * found[0]
            weight = first * weight + (1.0 - first) * found[1]
            for e in range(size):
                usual[e] = first * usual[e] + (1.0 - first) * other[e]
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
            _count_answer(errors, j, answers[e] - slope * away, share, away, variance, usual[e])
            wild_answers[j] += 1.0 - usual[e]
