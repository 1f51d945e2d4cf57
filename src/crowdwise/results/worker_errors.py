"""The errors of every worker in numeric labels, with intervals, from what any numeric method counted.

The model: worker j answers m + b_j + s_j (z - m) + e about an item of value z, where m is the mean of the values. Its
bias b_j is normal around 0, its slope s_j is 1 unless the method learns slopes (worker_lines.py), and its errors e are
normal with a variance s_j of its own, of which the spread is the square root. The variances of all workers are inverse
gamma with a strength that is estimated from them, so that workers with few answers are drawn towards the others.

A worker's own answer pulls the value of the item towards itself, by the share h that it has in that value. So squared
differences from the value are too small: on average they are s_j (1 - 2 h) plus the variance of the value. What is
missing is added; and an answer tells of the spread only as much as (1 - h) squared answers to items of known value
would (the information in the likelihood, see Louis, 1982, https://doi.org/10.1111/j.2517-6161.1982.tb01203.x).

A bias that all workers have in common cannot be seen in the answers. Biases are relative to the crowd.
"""

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from ..numerics import Array
from .intervals import NORMAL
from .learned import Learned, PerWorker
from .worker_lines import Lines, doubts_of, expected_doubts, precision_of_biases

# The strengths to choose from: how many answers what is known of all workers counts as for each. With larger ones, a
# crowd with few labels could give a prior so strong that all workers look the same.
_STRENGTHS: Final = np.array([3.0, 4.0, 6.0, 8.0, 12.0])
_ROUNDS: Final = 100


@dataclass(frozen=True, eq=False)
class WorkerErrors(Learned):
    """How every worker errs. Arrays are in the order of the workers; ends of intervals are of 95 % intervals.

    Attributes:
        answers: The number of answers.
        bias, bias_low, bias_high: By how much the worker answers too high, on average, compared with the crowd;
            negative for too low.
        spread, spread_low, spread_high: The standard deviation of its answers around value and bias.
        slope, slope_low, slope_high: By how much its answer rises if the value rises by one, compared with the crowd:
            below 1, it compresses the scale. NaN if the method does not learn slopes.
        error: The typical error: the root of the mean squared error, of bias, slope and spread together.
        quality, quality_low, quality_high: The share of the variance of the worker's answers that is due to the items
            and not to its errors: 1 for a worker who is always right, 0.5 for errors as large as the differences
            between items.
        wild: The expected number of wild answers; NaN if the method does not look for them.
    """

    answers: PerWorker
    bias: PerWorker
    bias_low: PerWorker
    bias_high: PerWorker
    spread: PerWorker
    spread_low: PerWorker
    spread_high: PerWorker
    slope: PerWorker
    slope_low: PerWorker
    slope_high: PerWorker
    error: PerWorker
    quality: PerWorker
    quality_low: PerWorker
    quality_high: PerWorker
    wild: PerWorker


@dataclass(frozen=True, eq=False)
class Counted:
    """What is known when the iterations have ended, and what the last of them counted.

    Attributes:
        errors: (workers, 9), see families/numeric/kernel.py.
        workers: What was known of the workers when these were counted, a `NumericWorkers`.
        typical: The mean variance of errors.
        of_values: The variance of the true values of the items.
        wild: (workers), the expected number of wild answers; None if the method does not look for them.
        items: The number of items.
    """

    errors: Array
    workers: Any
    typical: float
    of_values: float
    wild: Array | None
    items: float


def worker_errors(counted: Counted) -> WorkerErrors:
    """Return how every worker errs; all NaN but the numbers of answers if no item has two answers."""
    usual, share, of_value, informative = counted.errors[:, [0, 3, 4, 5]].T
    known = counted.workers
    unknown = np.full(len(usual), np.nan)
    wild = unknown if counted.wild is None else counted.wild
    # With wild answers, sums of probabilities and of one minus them; rounding errors are far from a half.
    answers = np.rint(usual if counted.wild is None else usual + wild).astype(np.int64)
    if answers.sum() <= counted.items:
        names = [one.name for one in fields(WorkerErrors)]
        return WorkerErrors(**{**dict.fromkeys(names, unknown), "answers": answers, "wild": wild})
    line = _lines(counted)
    bias, bias_variance, slope_variance = line.bias, line.doubts[:, 0], line.doubts[:, 1]
    hidden = 2 * known.variance * share - line.slope**2 * of_value
    seen = np.maximum(
        line.squares + hidden - (usual - informative) * known.variance, 0.1 * informative * known.variance
    )
    strength = _strength(seen, informative, counted.typical)
    evidence, total = strength + informative, (strength - 2) * counted.typical + seen
    variance = total / evidence
    low, high = _ends(total, evidence)
    half, half_slope = NORMAL * np.sqrt(bias_variance), NORMAL * np.sqrt(slope_variance)
    slope = line.slope if known.slope_precision is not None else unknown
    # A worker who compresses the scale is wrong about items far from the mean, however precisely it says so.
    off = line.slope - 1
    error = bias**2 + variance + off**2 * counted.of_values
    # The logarithm of the squared error is nearly normal.
    doubt = (
        4 * bias**2 * bias_variance + 2 * variance**2 / evidence + 4 * (off * counted.of_values) ** 2 * slope_variance
    )
    uncertain = np.exp(NORMAL * np.sqrt(doubt) / error)
    return WorkerErrors(
        answers,
        bias,
        bias - half,
        bias + half,
        np.sqrt(variance),
        np.sqrt(np.minimum(low, variance)),
        np.sqrt(np.maximum(high, variance)),
        slope,
        slope - half_slope,
        slope + half_slope,
        np.sqrt(error),
        _quality(counted.of_values, error),
        _quality(counted.of_values, error * uncertain),
        _quality(counted.of_values, error / uncertain),
        wild,
    )


def _lines(counted: Counted) -> Lines:
    """Return the bias and the slope of every worker, and how uncertain they are.

    If the method learned biases, these are they. If not, the precision of biases around 0 is estimated here. Each
    answer tells of its worker only as much as the worker has no share in the value.
    """
    known = counted.workers
    usual, error, square, share, of_value, _, away, away_square, _ = counted.errors.T
    precision, told = 1 / known.variance, np.maximum(usual - share, 0)
    bias, slope, nothing = known.bias, known.slope, np.zeros(len(usual))
    if known.slope_precision is not None:
        part = precision * np.divide(told, usual, out=nothing.copy(), where=usual > 0)
        doubts = doubts_of(
            known.bias_precision + precision * told,
            known.slope_precision + part * (away_square + of_value),
            part * away,
        )
    else:
        around_zero = known.bias_precision
        for _ in range(0 if around_zero is not None else _ROUNDS):
            around_zero = around_zero or 10 / counted.typical
            bias = precision * error / (around_zero + precision * told)
            bias = bias - bias.mean()
            around_zero = precision_of_biases(bias, 1 / (around_zero + precision * told), counted.typical)
        doubts = np.column_stack([1 / (around_zero + precision * told), nothing, nothing])
    moved = bias - known.bias
    squares = square - 2 * moved * error + usual * moved**2
    return Lines(bias, slope, doubts, squares + expected_doubts(doubts, counted.errors))


def _strength(squares: Array, counted: Array, typical: float) -> float:
    """Return the most probable of `_STRENGTHS`, given the sums of squared errors of workers.

    `counted` is how many answers to items of known value they are worth, `typical` the mean variance of errors.
    """
    from scipy import special  # imported here because it is slow to import

    a = _STRENGTHS[:, None]
    b = (a - 2) * typical
    log_likelihood = (
        a / 2 * np.log(b)
        - special.gammaln(a / 2)
        + special.gammaln((a + counted) / 2)
        - (a + counted) / 2 * np.log(b + squares)
    ).sum(axis=1)
    return float(_STRENGTHS[int(np.argmax(log_likelihood))])


def _ends(squares: Array, evidence: Array) -> tuple[Array, Array]:
    """Return the ends of the 95 % interval of variances, given sums of squares of so many errors."""
    from scipy import special  # imported here because it is slow to import

    upper, lower = 2 * special.gammaincinv(evidence / 2, 0.975), 2 * special.gammaincinv(evidence / 2, 0.025)
    return squares / upper, squares / lower


def _quality(of_values: float, error: Array) -> Array:
    """Return the share of the variance of answers that is due to the items; 1 if there is no error at all."""
    return np.divide(of_values, of_values + error, out=np.ones_like(error), where=error > 0)
