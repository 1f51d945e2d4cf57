"""The kernel of the M step; model.py has the formulas.

Given the parts that rows share, the rest of every row is solved for by itself, so that no matrix of a worker is larger
than 2 K + 1, where K is the number of classes.
"""

import numpy as np

from ...numerics import Array
from ...numerics.compilation import allocating, compiled
from ...numerics.small_matrices import divide, invert, log_determinant, solve
from .constants import LEAST_EXPOSURE, LONGEST_MOVE


@allocating
def step_logits(
    first: int,
    last: int,
    confusion: Array,
    exposure: Array,
    strengths: Array,
    centre: Array,
    variances: Array,
    logits: Array,
    rest_total: Array,
    information: Array,
    squares: Array,
    uncertain: Array,
    log_determinants: Array,
) -> None:
    """M step of the workers from `first` to `last`: overwrite `logits`, and add to the last five arrays, `PartSums`."""
    n = centre.shape[0]
    n_parts = 2 * n + 1
    hessian, slope = np.empty((n, n, n)), np.empty((n, n))
    covariance = np.empty((n, n, n))  # of the rest of every row, given the shared parts
    precision = np.empty((n, n, n))  # of what the shared parts add to every row
    parts_precision, parts = np.empty((n_parts, n_parts)), np.empty(n_parts)
    design = np.empty((n_parts, n * n))  # the precision of every logit times its dependence on the shared parts
    shared, rest = np.empty((n, n)), np.empty((n, n))  # what the shared parts, and the rest, add to every logit
    scratch, inverse = np.empty((2, n)), np.empty((n_parts, n_parts))
    log_prior = np.log(variances[0]) + n * np.log(variances[1] * variances[2]) + n * n * np.log(variances[3])
    for j in range(first, last):
        for k in range(n):
            _row(k, confusion[j], exposure[j], strengths, logits[j, k], scratch[0], scratch[1], hessian[k], slope[k])
            # The slope that there would be at the centre: parts are solved for from there, not from where they are.
            for a in range(n):
                for b in range(n):
                    slope[k, a] += hessian[k, a, b] * (logits[j, k, b] - centre[k, b])
            log_determinants[0] += _without_shared_parts(hessian[k], variances[3], covariance[k], precision[k], rest)
        _shared_parts(precision, covariance, slope, variances, parts_precision, parts, design)
        solve(parts_precision, parts)
        log_determinants[0] += log_determinant(parts_precision) + log_prior
        _add_up(parts, hessian, covariance, slope, scratch[0], shared, rest)
        _move(centre, shared, rest, logits[j])
        # What is learned from the parts is learned from where they are drawn to, also if the move is cut.
        squares[0] += parts[0] ** 2
        for k in range(n):
            squares[1] += parts[1 + k] ** 2
            squares[2] += parts[1 + n + k] ** 2
            for a in range(n):
                squares[3] += rest[k, a] ** 2
                rest_total[k, a] += rest[k, a]
                uncertain[3] += covariance[k, a, a]
        _add_uncertainty(parts_precision, design, inverse, variances[3], precision, information, uncertain)


@compiled
def _without_shared_parts(
    hessian: Array, rest_variance: float, covariance: Array, precision: Array, scratch: Array
) -> float:
    """Solve one row for its rest: write its covariance given the shared parts, and the precision of these.

    Returns the logarithm of the determinant of the precision of the rest.
    """
    n = hessian.shape[0]
    for a in range(n):
        for b in range(n):
            covariance[a, b] = hessian[a, b] + (1.0 / rest_variance if a == b else 0.0)
    of_rest = invert(covariance, scratch)
    for a in range(n):
        for b in range(n):
            precision[a, b] = ((a == b) - covariance[a, b] / rest_variance) / rest_variance
    return of_rest


@compiled
def _add_up(
    parts: Array, hessian: Array, covariance: Array, slope: Array, pressure: Array, shared: Array, rest: Array
) -> None:
    """Write what the shared parts add to every logit, and the rest that follows; both are (true class, said class)."""
    n = slope.shape[0]
    for k in range(n):
        for a in range(n):
            shared[k, a] = parts[1 + n + a] + (parts[0] + parts[1 + k] if a == k else 0.0)
        for a in range(n):
            pressure[a] = slope[k, a]
            for b in range(n):
                pressure[a] -= hessian[k, a, b] * shared[k, b]
        for a in range(n):
            rest[k, a] = 0.0
            for b in range(n):
                rest[k, a] += covariance[k, a, b] * pressure[b]


@compiled
def _move(centre: Array, shared: Array, rest: Array, logits: Array) -> None:
    """Move a worker's logits to the sum of their parts, but none of them by more than `LONGEST_MOVE`."""
    n = logits.shape[0]
    longest = 0.0
    for k in range(n):
        for a in range(n):
            longest = max(longest, abs(centre[k, a] + shared[k, a] + rest[k, a] - logits[k, a]))
    scale = LONGEST_MOVE / longest if longest > LONGEST_MOVE else 1.0
    for k in range(n):
        for a in range(n):
            logits[k, a] += scale * (centre[k, a] + shared[k, a] + rest[k, a] - logits[k, a])


@compiled
def _row(
    k: int,
    confusion: Array,
    exposure: Array,
    strengths: Array,
    logits: Array,
    chance: Array,
    towards: Array,
    hessian: Array,
    slope: Array,
) -> None:
    """Write g and H of one row of a worker's logits; see `derivatives` in model.py."""
    n = chance.size
    highest = logits[0]
    for a in range(1, n):
        highest = max(highest, logits[a])
    total = labels = 0.0
    for a in range(n):
        chance[a] = np.exp(logits[a] - highest)
        total += chance[a]
        labels += confusion[a, k]
        slope[a], towards[a] = confusion[a, k], 0.0
    for a in range(n):
        chance[a] /= total
        for b in range(n):
            hessian[a, b] = 0.0
    once = twice = 0.0  # the sums of exposures over z, and over z squared
    neutral = labels
    for m in range(strengths.size):
        factor = np.exp(strengths[m]) - 1.0
        for a in range(n):
            exposed = exposure[m, k * n + a]
            if exposed < LEAST_EXPOSURE:
                continue
            neutral -= exposed
            lift = factor * chance[a]
            shrink = 1.0 / (1.0 + lift)
            once += exposed * shrink
            twice += exposed * shrink * shrink
            towards[a] += exposed * lift * shrink * shrink
            slope[a] -= exposed * lift * shrink
            hessian[a, a] += exposed * lift * shrink * (1.0 - lift * shrink)
    once += neutral
    twice += neutral
    for a in range(n):
        slope[a] -= once * chance[a]
        hessian[a, a] += once * chance[a]
        for b in range(n):
            hessian[a, b] -= twice * chance[a] * chance[b] + chance[a] * towards[b] + towards[a] * chance[b]


@compiled
def _shared_parts(
    precision: Array,
    covariance: Array,
    slope: Array,
    variances: Array,
    parts_precision: Array,
    parts: Array,
    design: Array,
) -> None:
    """Write the linear system of the parts that rows share: ability, class-wise parts and style, in this order.

    Overwrites `parts_precision` (parts, parts), `parts` (parts) with the right-hand side, and `design` (parts, logits).
    """
    n = slope.shape[0]
    for one in range(parts.size):
        parts[one] = 0.0
        for other in range(parts.size):
            parts_precision[one, other] = 0.0
        for logit in range(n * n):
            design[one, logit] = 0.0
    parts_precision[0, 0] = 1.0 / variances[0]
    for k in range(n):
        parts_precision[1 + k, 1 + k] = 1.0 / variances[1]
        parts_precision[1 + n + k, 1 + n + k] = 1.0 / variances[2]
    for k in range(n):
        own = precision[k, k, k]
        parts_precision[0, 0] += own
        parts_precision[1 + k, 1 + k] += own
        parts_precision[1 + k, 0] += own
        for a in range(n):
            pressure = 0.0
            for b in range(n):
                pressure += covariance[k, a, b] * slope[k, b]
                parts_precision[1 + n + a, 1 + n + b] += precision[k, a, b]
                design[1 + n + b, k * n + a] = precision[k, b, a]
            pressure /= variances[3]
            parts[1 + n + a] += pressure
            if a == k:
                parts[0] += pressure
                parts[1 + k] += pressure
            parts_precision[1 + n + a, 0] += precision[k, k, a]
            parts_precision[1 + n + a, 1 + k] += precision[k, k, a]
            design[0, k * n + a] = design[1 + k, k * n + a] = precision[k, k, a]


@compiled
def _add_uncertainty(
    factor: Array,
    design: Array,
    inverse: Array,
    rest_variance: float,
    precision: Array,
    information: Array,
    uncertain: Array,
) -> None:
    """Add one worker's information about the centre to `information`, and its variances to `uncertain`.

    `factor` is the Cholesky factor of the precision of the shared parts. `design` and `inverse` are overwritten.
    """
    n = precision.shape[0]
    for row in range(inverse.shape[0]):
        for column in range(inverse.shape[0]):
            inverse[row, column] = 1.0 if row == column else 0.0
    divide(factor, inverse)
    for part in range(inverse.shape[0]):
        variance = 0.0
        for inner in range(part, inverse.shape[0]):
            variance += inverse[inner, part] ** 2
        uncertain[0 if part == 0 else 1 if part <= n else 2] += variance
    divide(factor, design)
    for part in range(design.shape[0]):
        for one in range(n * n):
            uncertain[3] += (rest_variance * design[part, one]) ** 2
    for part in range(design.shape[0]):
        for one in range(n * n):
            weight = design[part, one]
            for other in range(one + 1):  # one after the other in memory, so that several fit in a register
                information[one, other] -= weight * design[part, other]
    for k in range(n):
        for a in range(n):
            for b in range(a + 1):
                information[k * n + a, k * n + b] += precision[k, a, b]
