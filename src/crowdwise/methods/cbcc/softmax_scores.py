"""What CBCC computes with the scores whose softmax is a row of a confusion matrix.

The scores s of a row are normally distributed, with means m and variances v. The expectation of the logarithm of their
softmax has no closed form, so a bound of it is used (Knowles and Minka, "Non-conjugate Variational Message Passing",
NIPS 2011):

    E lse(s) <= sum a^2 v / 2 + lse(m + (1/2 - a) v),  a = softmax(m + (1/2 - a) v)

where lse(s) is the logarithm of the sum of the exponentials of s, and a is one number for every class. All functions
here work on many rows at once: the last axis of an array is the class that is said.
"""

from typing import Final

import numpy as np

from ...kernels import Array

_TILT_STEPS: Final = 10
_PRIOR_STEPS: Final = 50


def tilt(mean: Array, variance: Array) -> Array:
    """The numbers a of the bound, found by repeated substitution; every step goes only half of the way."""
    a = _softmax(mean)
    for _ in range(_TILT_STEPS):
        a = (a + _softmax(mean + (0.5 - a) * variance)) / 2
    return a


def expected_log(mean: Array, variance: Array) -> Array:
    """The expected logarithm of the softmax of scores with these means and variances, according to the bound."""
    a = tilt(mean, variance)
    shifted = mean + (0.5 - a) * variance
    highest = shifted.max(axis=-1, keepdims=True)
    log_sum = highest + np.log(np.exp(shifted - highest).sum(axis=-1, keepdims=True))
    return np.asarray(mean - (a**2 * variance).sum(axis=-1, keepdims=True) / 2 - log_sum)


def softmax_message(mean: Array, variance: Array, said: Array) -> tuple[Array, Array]:
    """What labels tell about the scores: a matrix of precisions for every row, and that matrix times the means.

    Args:
        mean: The means of the scores so far.
        variance: The variances of the scores so far.
        said: How often each class was said.
    """
    a = tilt(mean, variance)
    total = said.sum(axis=-1, keepdims=True)
    precision = -total[..., None] * a[..., :, None] * a[..., None, :] * (a[..., :, None] + a[..., None, :])
    places = np.arange(a.shape[-1])
    precision[..., places, places] = total * a * (1 - a)
    return precision, said - total * a + np.einsum("...kl,...l->...k", precision, mean)


def score_posterior(mean: Array, variance: Array, said: Array, centre: Array, precision: float) -> tuple[Array, Array]:
    """The means and variances of the scores, given what was said.

    Before any label, the scores are normally distributed around `centre` with this precision. `softmax_message` says
    what the labels add. For n labels, its matrix is a diagonal d minus n (b a' + a b') with b = a^2, so that only two
    unknowns are solved for and no matrix is inverted (the Woodbury identity).

    Args:
        mean: The means of the scores so far.
        variance: The variances of the scores so far.
        said: How often each class was said.
        centre: The means of the scores before any label.
        precision: The precision of each score before any label.
    """
    a = tilt(mean, variance)
    b = a**2
    n = said.sum(axis=-1, keepdims=True)
    d = n * (a * (1 - a) + 2 * a * b)
    linear = said - n * a + d * mean - n * (b * _dot(a, mean) + a * _dot(b, mean)) + precision * centre
    d += precision
    # (D - n (b a' + a b'))^-1 x = D^-1 (x + n (b u + a v)), where u is a' times the left side and v is b' times it.
    aa, ab, bb = _dot(a, a / d), _dot(a, b / d), _dot(b, b / d)
    determinant = (1 - n * ab) ** 2 - n**2 * aa * bb
    by_a, by_b = _dot(a, linear / d), _dot(b, linear / d)
    u = ((1 - n * ab) * by_a + n * aa * by_b) / determinant
    v = ((1 - n * ab) * by_b + n * bb * by_a) / determinant
    crossed = 2 * (1 - n * ab) * a * b + n * (aa * b**2 + bb * a**2)
    return (linear + n * (b * u + a * v)) / d, (1 + n * crossed / (determinant * d)) / d


def score_prior(said: Array) -> tuple[Array, Array]:
    """The means and the precision matrix of the scores of one row before any label.

    Args:
        said: The prior knowledge, as counts of how often each class was said.

    Before these counts, the scores are normal with an unknown mean, N(0, I), and an unknown precision, Wishart(1, I).
    """
    size = len(said)
    mean, centre = np.zeros(size), np.zeros(size)
    unit: Array = np.eye(size)
    prior_precision = precision = covariance = unit
    for _ in range(_PRIOR_STEPS):
        message, linear = softmax_message(mean, np.diag(covariance), said)
        precision = prior_precision + message
        covariance = np.linalg.inv(precision)
        mean = covariance @ (prior_precision @ centre + linear)
        centre_covariance = np.linalg.inv(unit + prior_precision)
        centre = centre_covariance @ prior_precision @ mean
        away = mean - centre
        prior_precision = 1.5 * np.linalg.inv(unit + (covariance + centre_covariance + np.outer(away, away)) / 2)
    return mean, precision


def _softmax(values: Array) -> Array:
    """The softmax along the last axis."""
    weights = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _dot(left: Array, right: Array) -> Array:
    """The dot products along the last axis, which is kept with length one."""
    return np.asarray((left * right).sum(axis=-1, keepdims=True))
