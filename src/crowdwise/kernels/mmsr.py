"""Means without the extremes."""

import numpy as np

from .compilation import Array, compiled


@compiled
def trimmed_ratios(values: Array, importance: Array, factor: Array, trim: float, out: Array) -> None:
    """For every row, the weighted mean of `values[i, j] / factor[j]` without the extremes.

    A ratio weighs `importance[i, j] * factor[j]**2`, as in least squares; the share `trim` of all weight is left out at
    either end, of a ratio on the edge only the part beyond it. A row without any weight stays as it is.
    """
    size = factor.size
    ratio, weight = np.empty(size), np.empty(size)
    for i in range(size):
        count = 0
        total = 0.0
        for j in range(size):
            amount = importance[i, j] * factor[j] ** 2
            if amount > 0.0:
                ratio[count] = values[i, j] / factor[j]
                weight[count] = amount
                total += amount
                count += 1
        if count == 0:
            continue
        order = np.argsort(ratio[:count])
        low, high = trim * total, (1.0 - trim) * total
        passed = mass = mean = 0.0
        for at in order:
            inside = min(passed + weight[at], high) - max(passed, low)
            if inside > 0.0:
                mean += inside * ratio[at]
                mass += inside
            passed += weight[at]
        out[i] = mean / mass
