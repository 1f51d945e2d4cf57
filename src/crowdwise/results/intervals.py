r"""Intervals of shares, such as the share of answers that are right: `wilson`, `paired` and `arcsine_interval`.

On the scale theta = arcsin sqrt(share), an error is about as large for any share. With SPREAD for how far off the share
is besides chance, n observations and the quantile z of the normal distribution,

    h = sqrt(SPREAD^2 + z^2 / (4 n));   ends sin^2(max(theta - h, 0)) and sin^2(min(theta + h, pi/2))
"""

import math
from typing import Any, Final

import numpy as np

# The quantile of the normal distribution that gives a 95 % interval.
NORMAL: Final = 1.959963984540054


def wilson(right: Any, count: Any) -> tuple[Any, Any, Any]:
    """Return the share right / count and the two ends of its 95 % interval; the arguments may be arrays.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953.

    >>> [round(float(value), 3) for value in wilson(8, 10)]
    [0.8, 0.49, 0.943]
    """
    share, unit = right / np.maximum(count, 1), NORMAL**2 / np.maximum(count, 1)
    middle = (share + unit / 2) / (1 + unit)
    half = np.sqrt(unit * share * (1 - share) + unit**2 / 4) / (1 + unit)
    # Without this, rounding errors could make the lower end larger than the share, or the upper end smaller.
    return share, np.minimum(share, middle - half), np.maximum(share, middle + half)


def arcsine_interval(share: Any, count: Any, spread: float, z: float) -> tuple[Any, Any]:
    """Return the two ends of the interval above; `share` and `count`, which is n, may be arrays.

    >>> [round(float(end), 2) for end in arcsine_interval(0.8, 100, 0.0, NORMAL)]
    [0.72, 0.87]
    """
    half = np.sqrt(spread**2 + z**2 / (4 * count))
    return arcsine_shift(share, -half), arcsine_shift(share, half)


def arcsine_shift(share: Any, by: Any) -> Any:
    """Return the share whose arcsin sqrt is larger by so much, within 0 and 1; both may be arrays."""
    return np.sin(np.clip(np.arcsin(np.sqrt(share)) + by, 0.0, np.pi / 2)) ** 2


def paired(differences: Any) -> tuple[float, float, float]:
    """Return the mean of differences between two shares on the same items, and the two ends of its 95 % interval.

    Every difference is from -1 to 1. Half an item is added to each cell of the table of what is right in one and in the
    other, so that the interval has a width also where nothing differs. Agresti and Min (2005),
    https://doi.org/10.1002/sim.1781.

    >>> [round(value, 3) for value in paired(np.array([1.0, 1.0, 0.0, -1.0, 0.0]))]
    [0.2, -0.407, 0.693]
    """
    count, total, squares = len(differences), float(differences.sum()), float((differences**2).sum())
    middle = total / (count + 2)
    half = NORMAL * math.sqrt(max((squares + 1) / (count + 2) - middle**2, 0.0) / (count + 2))
    mean = total / max(count, 1)
    return mean, max(min(mean, middle - half), -1.0), min(max(mean, middle + half), 1.0)
