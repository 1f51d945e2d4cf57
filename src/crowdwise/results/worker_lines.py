r"""The bias and the slope of every worker, from what a numeric method counted.

$$ y_{ij} \sim N(m + b_j + s_j (z_i - m), 1/v_j), \quad b_j \sim N(0, 1/\tau), \quad s_j \sim N(1, 1/\rho) $$

Here m is the mean of the values. A worker who compresses the scale has a slope below 1. The bias and the slope of a
worker are those of a regression line of its answers on the values of the items, whose uncertainty counts as well:

$$ \left[ v_j \sum_i \begin{pmatrix} 1 & d_i \\ d_i & d_i^2 + w_i \end{pmatrix}
   + \begin{pmatrix} \tau & 0 \\ 0 & \rho \end{pmatrix} \right]
   \begin{pmatrix} b_j \\ s_j \end{pmatrix}
   = v_j \sum_i \begin{pmatrix} y_{ij} - m \\ (y_{ij} - m) d_i \end{pmatrix}
   + \begin{pmatrix} 0 \\ \rho \end{pmatrix} $$

with d_i = z_i - m, and w_i the variance of z_i.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ..numerics import Array

# The precision of slopes around 1 to begin with.
FIRST_SLOPE_PRECISION: Final = 25.0
# One imagined worker has a slope that is so far from 1, squared.
_IMAGINED_SLOPE: Final = 0.01


class Lines(NamedTuple):
    """The bias and the slope of every worker.

    Attributes:
        bias, slope: (workers); the mean bias is 0.
        doubts: (workers, 3), the variance of the bias, the variance of the slope, and twice their covariance.
        squares: (workers), the expected sums of squared errors around these lines.
    """

    bias: Array
    slope: Array
    doubts: Array
    squares: Array


def worker_lines(errors: Array, workers: Any) -> Lines:
    """Return the lines that follow from `errors` (workers, 9), counted with the lines before, a `NumericWorkers`.

    See families/numeric/kernel.py for what is counted.
    """
    usual, error, square, _, of_value, _, away, away_square, cross = errors.T
    nothing = np.zeros(len(usual))
    bias, slope, doubts = workers.bias, workers.slope, np.zeros((len(usual), 3))
    if workers.bias_precision is not None:
        precision = 1 / workers.variance
        one = workers.bias_precision + precision * usual
        answers = precision * (error + usual * bias)
        if workers.slope_precision is None:
            bias, doubts = answers / one, np.column_stack([1 / one, nothing, nothing])
        else:
            both, two = precision * away, workers.slope_precision + precision * (away_square + of_value)
            answers = answers + both * slope
            of_slope = precision * (cross + away * bias + away_square * slope) + workers.slope_precision
            size = one * two - both**2
            bias, slope = (two * answers - both * of_slope) / size, (one * of_slope - both * answers) / size
            doubts = doubts_of(one, two, both)
        # Adding the same to all biases and taking it off all values changes no answer: the mean bias is 0.
        bias = bias - bias.mean()
    moved, turned = bias - workers.bias, slope - workers.slope
    squares = square - 2 * (moved * error + turned * cross) + usual * moved**2
    squares += 2 * moved * turned * away + turned**2 * away_square
    return Lines(bias, slope, doubts, squares + expected_doubts(doubts, errors))


def doubts_of(one: Array, two: Array, both: Array) -> Array:
    """Return (workers, 3), see `Lines`, given the matrices [[one, both], [both, two]] of information."""
    return np.asarray(np.column_stack([two, one, -2 * both]) / (one * two - both**2)[:, None])


def expected_doubts(doubts: Array, errors: Array) -> Array:
    """Return (workers), what squared errors are larger by because biases and slopes are uncertain."""
    usual, of_value, away, away_square = errors[:, [0, 4, 6, 7]].T
    return np.asarray((doubts * np.column_stack([usual, away_square + of_value, away])).sum(axis=1))


def precision_of_biases(bias: Array, variance: Array, typical: float) -> float:
    """Return the precision of biases around 0, given their estimates and how uncertain they are.

    One imagined worker, whose squared bias is a tenth of the mean variance of errors, keeps it from becoming infinite.
    """
    return float((len(bias) + 1) / ((bias**2 + variance).sum() + 0.1 * typical))


def precision_of_slopes(slope: Array, variance: Array) -> float:
    """Return the precision of slopes around 1, as `precision_of_biases` does."""
    return float((len(slope) + 1) / (((slope - 1) ** 2 + variance).sum() + _IMAGINED_SLOPE))
