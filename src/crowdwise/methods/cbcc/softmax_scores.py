"""Communities of workers: Gaussian scores behind confusion matrices, by variational message passing.

A row of a confusion matrix is the softmax of scores, which are normal around those of the community. Softmax is
not conjugate to anything: the expectation of its logarithm is bounded by

    E lse(s) <= sum a^2 v / 2 + lse(m + (1/2 - a) v),  a = softmax(m + (1/2 - a) v)

for scores with means m and variances v (Knowles and Minka, "Non-conjugate Variational Message Passing", NIPS 2011). All
functions here work on many rows at once: the last axis is the class that is said.
"""

from typing import Final

import numpy as np

from ...kernels import Array

_TILT_STEPS: Final = 10
_PRIOR_STEPS: Final = 50


def tilt(mean: Array, variance: Array) -> Array:
    """The a of the bound, by damped substitution."""
    a = _softmax(mean)
    for _ in range(_TILT_STEPS):
        a = (a + _softmax(mean + (0.5 - a) * variance)) / 2
    return a


def expected_log(mean: Array, variance: Array) -> Array:
    """The bound's expectation of the logarithm of softmax."""
    a = tilt(mean, variance)
    shifted = mean + (0.5 - a) * variance
    highest = shifted.max(axis=-1, keepdims=True)
    log_sum = highest + np.log(np.exp(shifted - highest).sum(axis=-1, keepdims=True))
    return np.asarray(mean - (a**2 * variance).sum(axis=-1, keepdims=True) / 2 - log_sum)


def softmax_message(mean: Array, variance: Array, said: Array) -> tuple[Array, Array]:
    """What counts of what was said tell the scores: a precision and a precision times mean."""
    a = tilt(mean, variance)
    total = said.sum(axis=-1, keepdims=True)
    precision = -total[..., None] * a[..., :, None] * a[..., None, :] * (a[..., :, None] + a[..., None, :])
    places = np.arange(a.shape[-1])
    precision[..., places, places] = total * a * (1 - a)
    return precision, said - total * a + np.einsum("...kl,...l->...k", precision, mean)


def score_posterior(mean: Array, variance: Array, said: Array, centre: Array, precision: float) -> tuple[Array, Array]:
    """Means and variances of scores around `centre`, as sure of it as `precision`, after the message of what was said.

    The message's precision is a diagonal d less n (b a' + a b') with b = a^2, for n labels, so that two unknowns are
    solved for instead of a matrix inverted (Woodbury).
    """
    a = tilt(mean, variance)
    b = a**2
    n = said.sum(axis=-1, keepdims=True)
    d = n * (a * (1 - a) + 2 * a * b)
    linear = said - n * a + d * mean - n * (b * _dot(a, mean) + a * _dot(b, mean)) + precision * centre
    d += precision
    # (D - n (b a' + a b'))^-1 x = D^-1 (x + n (b u + a v)), where u and v are a' and b' times the left side.
    aa, ab, bb = _dot(a, a / d), _dot(a, b / d), _dot(b, b / d)
    determinant = (1 - n * ab) ** 2 - n**2 * aa * bb
    by_a, by_b = _dot(a, linear / d), _dot(b, linear / d)
    u = ((1 - n * ab) * by_a + n * aa * by_b) / determinant
    v = ((1 - n * ab) * by_b + n * bb * by_a) / determinant
    crossed = 2 * (1 - n * ab) * a * b + n * (aa * b**2 + bb * a**2)
    return (linear + n * (b * u + a * v)) / d, (1 + n * crossed / (determinant * d)) / d


def score_prior(said: Array) -> tuple[Array, Array]:
    """Mean and precision of the scores of one row before any label, from counts that stand for prior knowledge.

    The scores' own prior is normal with unknown mean, N(0, I), and unknown precision, Wishart(1, I).
    """
    size = len(said)
    mean, centre = np.zeros(size), np.zeros(size)
    unit: Array = np.eye(size)
    tightness = precision = covariance = unit
    for _ in range(_PRIOR_STEPS):
        message, linear = softmax_message(mean, np.diag(covariance), said)
        precision = tightness + message
        covariance = np.linalg.inv(precision)
        mean = covariance @ (tightness @ centre + linear)
        centre_covariance = np.linalg.inv(unit + tightness)
        centre = centre_covariance @ tightness @ mean
        away = mean - centre
        tightness = 1.5 * np.linalg.inv(unit + (covariance + centre_covariance + np.outer(away, away)) / 2)
    return mean, precision


def _softmax(values: Array) -> Array:
    weights = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _dot(left: Array, right: Array) -> Array:
    return np.asarray((left * right).sum(axis=-1, keepdims=True))
