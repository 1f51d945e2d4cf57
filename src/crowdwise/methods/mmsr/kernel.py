"""M-MSR: weighted means that leave out the smallest and the largest values."""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating


@allocating
def trimmed_ratios(values: Array, importance: Array, factor: Array, trim: float, out: Array) -> None:
    """Overwrite `out` (rows) by the weighted mean of `values[i, j] / factor[j]` over j, without the extremes.

    `values` and `importance` are (rows, rows), `factor` is (rows). The weight of a ratio is
    `importance[i, j] * factor[j]**2`, as in least squares. The ratios are sorted, and the share `trim` of the total
    weight is left out at each end; a ratio at the cut keeps the part of its weight that is inside. If a row has no
    weight at all, `out` stays as it is there.
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
