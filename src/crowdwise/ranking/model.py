r"""The model of a vote: Davidson's, with judges who differ in discrimination, position and tie tendency.

Judge j saw a first and b second. With eta = d_j (theta_a - theta_b) + b_j,

    P(first) = e^{eta/2} / Z,   P(second) = e^{-eta/2} / Z,   P(tie) = e^{c_j} / Z

so that the log odds of first against second are eta whatever c_j is, and a tie counts as half a win for each.
"""

from typing import NamedTuple

import numpy as np

from ..numerics import Array
from .comparisons import Cells


class Judges(NamedTuple):
    """The parameters of judges, one entry for each: discrimination, position and tie tendency."""

    d: Array
    b: Array
    c: Array  # minus infinity where there are no ties


class Sums(NamedTuple):
    """The derivatives of the log likelihood of every cell; e = (p1 - p2) / 2 is the expected score."""

    x: Array  # theta_a - theta_b
    g: Array  # (n1 - n2) / 2 - n e, by eta
    v: Array  # n ((p1 + p2) / 4 - e^2), minus the second one by eta
    gc: Array  # n0 - n p0, by c
    vc: Array  # n p0 (1 - p0)
    vx: Array  # -n e p0, by eta and c


def probabilities(eta: Array, c: Array) -> tuple[Array, Array, Array]:
    """Return the probabilities of first, second and tie; no exponential overflows."""
    top = np.maximum(np.abs(eta) / 2, c)
    first, second, tie = np.exp(eta / 2 - top), np.exp(-eta / 2 - top), np.exp(c - top)
    total = first + second + tie
    return first / total, second / total, tie / total


def sums(cells: Cells, theta: Array, judges: Judges) -> Sums:
    """Return the derivatives of every cell."""
    x = theta[cells.first] - theta[cells.second]
    p1, p2, p0 = probabilities(judges.d[cells.judge] * x + judges.b[cells.judge], judges.c[cells.judge])
    e, n = (p1 - p2) / 2, cells.n
    g = (cells.n1 - cells.n2) / 2 - n * e
    return Sums(x, g, n * ((p1 + p2) / 4 - e * e), cells.n0 - n * p0, n * p0 * (1 - p0), -n * e * p0)
