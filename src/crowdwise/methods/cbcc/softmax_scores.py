"""What CBCC computes with the scores whose softmax is a row of a confusion matrix.

The scores s of a row are normally distributed, with means m and variances v. The expectation of the logarithm of their
softmax has no closed form, so a bound of it is used (Knowles and Minka, "Non-conjugate Variational Message Passing",
NIPS 2011):

    E lse(s) <= sum a^2 v / 2 + lse(m + (1/2 - a) v),  a = softmax(m + (1/2 - a) v)

where lse(s) is the logarithm of the sum of the exponentials of s, and a is one number for every class. All functions
here work on many rows at once: the last axis of an array is the class that is said.
"""

from typing import Final, NamedTuple

import numpy as np

from ...numerics import Array
from ...numerics.elementary import softmax

_TILT_STEPS: Final = 10
_PRIOR_STEPS: Final = 50


class RowPrecision(NamedTuple):
    """The precision matrices of the scores of all rows before any label.

    Nothing but the true class tells one class from another, so the matrix of a row has four different numbers. The
    matrix of row k times a vector, and its inverse times a vector, then take as many operations as there are classes.

    Attributes:
        own: The precision of the score of class k.
        other: The precision of the score of each other class.
        between_own: The number between class k and another class.
        between_others: The number between two other classes.
    """

    own: float
    other: float
    between_own: float
    between_others: float

    @classmethod
    def of_first(cls, matrix: Array) -> "RowPrecision":
        """The four numbers, read from the matrix of row 0; those that a small matrix lacks are zero."""
        size = len(matrix)
        return cls(
            float(matrix[0, 0]),
            float(matrix[1, 1]) if size > 1 else float(matrix[0, 0]),
            float(matrix[0, 1]) if size > 1 else 0.0,
            float(matrix[1, 2]) if size > 2 else 0.0,
        )

    def plus(self, precision: float) -> "RowPrecision":
        """These matrices plus the same number everywhere on the diagonal."""
        return self._replace(own=self.own + precision, other=self.other + precision)

    def times(self, rows: Array) -> Array:
        """The matrix of every row k times row k of `rows` (true class, said class)."""
        of_own = np.diagonal(rows)[:, None]
        of_others = rows.sum(axis=1, keepdims=True) - of_own
        product = (
            (self.other - self.between_others) * rows + self.between_own * of_own + self.between_others * of_others
        )
        np.fill_diagonal(product, self.own * of_own[:, 0] + self.between_own * of_others[:, 0])
        return np.asarray(product)

    def solve(self, rows: Array) -> tuple[Array, float]:
        """The inverse of the matrix of every row k times row k of `rows`, and the trace of one such inverse."""
        others = len(rows) - 1
        of_own = np.diagonal(rows)[:, None]
        of_others = rows.sum(axis=1, keepdims=True) - of_own
        # Summed over the other classes, two unknowns are left: the own one, and the sum of the others.
        apart = self.other - self.between_others
        together = apart + others * self.between_others
        determinant = self.own * together - others * self.between_own**2
        own = (together * of_own - self.between_own * of_others) / determinant
        sum_of_others = (self.own * of_others - others * self.between_own * of_own) / determinant
        solution = (rows - self.between_own * own - self.between_others * sum_of_others) / apart
        np.fill_diagonal(solution, own)
        return np.asarray(solution), (others - 1) / apart + (self.own + together) / determinant


def tilt(mean: Array, variance: Array) -> Array:
    """The numbers a of the bound, found by repeated substitution; every step goes only half of the way."""
    a = softmax(mean)
    for _ in range(_TILT_STEPS):
        a = (a + softmax(mean + (0.5 - a) * variance)) / 2
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

    `mean` and `variance` are those of the scores so far, `said` is how often each class was said.
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

    `said` is the prior knowledge, as counts of how often each class was said. Before these counts, the scores are
    normal with an unknown mean, N(0, I), and an unknown precision, Wishart(1, I).
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


def _dot(left: Array, right: Array) -> Array:
    """The dot products along the last axis, which is kept with length one."""
    return np.asarray((left * right).sum(axis=-1, keepdims=True))
