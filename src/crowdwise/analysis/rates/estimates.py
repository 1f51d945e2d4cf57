r"""`estimate`: a share of items by judges' verdicts on all of them and the truth of a random few.

f_i is the share of an item's votes that pass it, for N items; y_i is 1 if an item truly passes, for n of them that were
drawn at random (prediction-powered inference, https://doi.org/10.1126/science.adi6000, with a fitted weight):

    lambda = cov(y, f) / var(f) on the gold, cut to [0, 1];   e_i = y_i - lambda f_i
    share  = lambda mean_N(f) + mean_n(e);   s2 = (sum (e - mean e)^2 + 0.5) / (n - 1)
    var    = (1 - n/N) s2 / n + share (1 - share) / N;   interval = share +- t(n - 2) sqrt(var), cut to [0, 1]

The last term of `var` is left out if these N items are all there is. A difference of two systems on the same prompts is
the same of y_A - y_B and f_A - f_B; on different items, two estimates are subtracted and their variances added.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from scipy.special import stdtrit

from ...numerics import Array
from ...results.intervals import NORMAL, wilson

# How an estimate was made.
POWERED: Final = "judges and gold"
GOLD_ONLY: Final = "gold only"
ELSEWHERE: Final = "gold from elsewhere"
# Judges who explain less of the truth than this (R^2 on the gold) make an interval wider, so gold stands alone.
LEAST_EXPLAINED: Final = 0.1
# With fewer gold items, nothing is known of how much judges explain.
FEWEST_GOLD: Final = 10
# Half an imagined error: no interval has a width of 0.
_IMAGINED: Final = 0.5


class Estimate(NamedTuple):
    """A share, or a difference of two.

    Attributes:
        value: The estimate; NaN if there is none.
        error: Its standard error.
        low: One end of its 95 % interval.
        high: The other end.
        method: How it was made.
        freedom: The degrees of freedom of the interval.
        explained: How much of the truth the judges explain on the gold (R^2).
        weight: The weight of the judges (lambda).
    """

    value: float
    error: float
    low: float
    high: float
    method: str
    freedom: float
    explained: float = 0.0
    weight: float = 0.0


class Sample(NamedTuple):
    """What is known of the items of one system, or of the differences between two.

    Attributes:
        mean: The mean of f over all items.
        items: The number of items.
        truth: (gold), y.
        judged: (gold), f.
    """

    mean: float
    items: int
    truth: Array
    judged: Array


def estimate(sample: Sample, *, these_items: bool = False, difference: bool = False) -> Estimate:
    """Return the share of items that truly pass; with `difference`, y and f are differences."""
    truth, judged, items = sample.truth, sample.judged, sample.items
    gold = len(truth)
    weight, explained = _weight(truth, judged)
    if weight == 0 or explained < LEAST_EXPLAINED or gold < FEWEST_GOLD:
        weight = 0.0
    errors = truth - weight * judged
    least = -1.0 if difference else 0.0
    value = float(min(max(weight * sample.mean + errors.mean(), least), 1.0))
    left = 1 - gold / items
    variance = left * _variance(errors) / gold
    if not these_items:
        variance += (_variance(truth) if difference else value * (1 - value)) / items
    freedom = max(gold - (1 if weight in (0.0, 1.0) else 2), 1)
    error = math.sqrt(variance)
    if weight == 0 and not difference:
        _, low, high = wilson_of(value, gold / left if these_items and left else gold)
        ends = (value, value) if these_items and not left else (low, high)
        return Estimate(value, error, *ends, GOLD_ONLY, freedom, explained)
    half = float(stdtrit(freedom, 0.975)) * error
    ends = max(value - half, least), min(value + half, 1.0)
    return Estimate(value, error, *ends, POWERED if weight else GOLD_ONLY, freedom, explained, weight)


def wilson_of(share: float, count: float) -> tuple[float, float, float]:
    """Return a share, and Wilson's 95 % interval of it."""
    value, low, high = wilson(share * count, count)
    return float(value), float(low), min(float(high), 1.0)


def subtract(one: Estimate, other: Estimate) -> Estimate:
    """Return the difference of estimates on different items."""
    value = one.value - other.value
    error, freedom = math.hypot(one.error, other.error), one.freedom + other.freedom
    half = float(stdtrit(freedom, 0.975)) * error
    method = POWERED if POWERED in (one.method, other.method) else GOLD_ONLY
    return Estimate(value, error, max(value - half, -1.0), min(value + half, 1.0), method, freedom)


def _weight(truth: Array, judged: Array) -> tuple[float, float]:
    """Return lambda and R^2."""
    y, f = truth - truth.mean(), judged - judged.mean()
    both, yy, ff = float(y @ f), float(y @ y), float(f @ f)
    if min(yy, ff) <= 1e-12:
        return 0.0, 0.0
    return min(max(both / ff, 0.0), 1.0), both * both / (yy * ff)


def _variance(values: Array) -> float:
    centred = values - values.mean()
    return (float(centred @ centred) + _IMAGINED) / max(len(values) - 1, 1)


class Counts(NamedTuple):
    """How often something was so, of how many."""

    yes: float
    of: int


def rogan_gladen(passed: Counts, sensitivity: Counts, specificity: Counts) -> Estimate | None:
    """Return the share by error rates from elsewhere: (p + sp - 1) / (se + sp - 1), with Lang and Reiczigel's interval.

    None if the verdicts do not tell items that pass from others (se + sp <= 1). Lang and Reiczigel (2014),
    https://doi.org/10.1016/j.prevetmed.2013.09.015: counts are increased before, as Agresti and Coull do.
    """
    z = NORMAL
    raw = passed.yes / passed.of, sensitivity.yes / sensitivity.of, specificity.yes / specificity.of
    n, n_se, n_sp = passed.of + z * z, sensitivity.of + 2, specificity.of + 2
    p, se, sp = (passed.yes + z * z / 2) / n, (sensitivity.yes + 1) / n_se, (specificity.yes + 1) / n_sp
    told, told_raw = se + sp - 1, raw[1] + raw[2] - 1
    if min(told, told_raw) <= 0:
        return None
    share = (p + sp - 1) / told
    of_se, of_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (share * of_se - (1 - share) * of_sp)
    error = math.sqrt(p * (1 - p) / n + share**2 * of_se + (1 - share) ** 2 * of_sp) / told
    low, high = (float(np.clip(share + shift + side * z * error, 0, 1)) for side in (-1, 1))
    value = float(np.clip((raw[0] + raw[2] - 1) / told_raw, low, high))
    return Estimate(value, error, low, high, ELSEWHERE, math.inf)


def width(gold: int, items: int, share: float = 0.5, explained: float = 0.0) -> float:
    """Return about how wide the interval is with so many gold items; at a share of one half it is widest."""
    if explained < LEAST_EXPLAINED:
        _, low, high = wilson_of(share, gold)
        return high - low
    spread = (gold * share * (1 - share) * (1 - explained) + _IMAGINED) / (gold - 1)
    variance = (1 - gold / items) * spread / gold + share * (1 - share) / items
    return 2 * float(stdtrit(gold - 2, 0.975)) * math.sqrt(variance)
