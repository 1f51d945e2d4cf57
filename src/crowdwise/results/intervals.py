"""`wilson`: a 95 % interval of a share, such as the share of answers that are right."""

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
