r"""`fit`: the parameters of objects and judges by Newton steps, with priors whose variances are learned.

    theta_k ~ N(0, t2);   d_j ~ N(1, tau2);   b_j ~ N(b0, s2);   c_j ~ N(c0, sc2)

One iteration is a step for theta in each connected component, one for every judge's (d, b, c), and new b0, c0 and
variances, to whose sums of squares the variances of the Laplace approximation are added. After the last one, theta is
scaled once, so that it is the log odds in a vote of this panel's average judge.
"""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from ..numerics import Array
from .comparisons import Cells, Comparisons
from .model import Judges, Sums, sums

# Steps are not longer than this, of theta and of the parameters of judges.
_LONGEST_STEP: Final = 2.0
_LONGEST_JUDGE_STEP: Final = 1.5
# Means of b and c stay within this, also where all votes are ties.
_LARGEST_MEAN: Final = 12.0
# The prior of variances: two imagined parameters with these squares; and the limits of variances.
_IMAGINED: Final = 2
_SQUARES: Final = {"t2": 4.0, "tau2": 0.25, "s2": 0.25, "sc2": 1.0}
_LIMITS: Final = {"t2": (0.01, 16.0), "tau2": (0.01, 1.0), "s2": (0.01, 4.0), "sc2": (0.01, 9.0)}
# b0 is learned if at least this share of votes is on pairs that were shown in both orders.
_BOTH_ORDERS: Final = 0.2
# After so many iterations, theta and d are no longer rescaled: that can end in a cycle of two, and is only for speed.
_SEARCHES: Final = 300
# The search along the scale of theta and d.
_SCALE_STEPS: Final = 200
_SCALE_TOLERANCE: Final = 1e-12
# What is added to the curvature by the means of priors, relative to their precision: it may be 0 if judges are extreme.
_FLAT: Final = 1e-6
# The precision of the tie tendency that all have in common, so that it is finite where all votes are ties.
_COMMON_TIES: Final = 1e-6


class Priors(NamedTuple):
    """The means and variances of the priors; see above."""

    t2: float
    tau2: float
    s2: float
    sc2: float
    b0: float
    c0: float

    def precisions(self, plain: bool) -> Array:
        """The precisions of (d, b, c)."""
        return np.array([0.0, 0.0, _COMMON_TIES]) if plain else 1 / np.array([self.tau2, self.s2, self.sc2])


@dataclass(frozen=True, eq=False)
class Fit:
    """What was learned. In a plain fit all judges are one, whose d is 1 and whose b is 0.

    Attributes:
        theta: The log odds of every object against an average one.
        judges: The parameters of the judges.
        covariances: (judges, 3, 3), the covariance of every judge's (d, b, c) if theta is known.
        weights: (judges), how much every judge tells about theta; they add up to 1.
        priors: The means and variances of the priors.
        free: (3), whether d, b and c are learned.
        of_means: (3), whether the means 1, b0 and c0 of their priors are learned.
        plain: Whether all judges are one.
        agreement: The weighted mean of d before theta was scaled; low if judges do not agree on an order.
        iterations: The number of iterations.
        converged: Whether they converged.
    """

    theta: Array
    judges: Judges
    covariances: Array
    weights: Array
    priors: Priors
    free: Array
    of_means: Array
    plain: bool
    agreement: float
    iterations: int
    converged: bool

    def judge_errors(self) -> Array:
        """Return the standard errors of every judge's (d, b, c), where the means of their priors are uncertain too."""
        variances = np.diagonal(self.covariances, axis1=1, axis2=2)
        if self.of_means.any():
            pulled, bend = _by_means(self.covariances, self.priors.precisions(self.plain), self.of_means)
            pulled = pulled[:, self.of_means]
            variances = variances + np.einsum("jak,ab,jbk->jk", pulled, np.linalg.inv(bend), pulled).clip(0.0)
        return np.asarray(np.sqrt(variances))


def fit(comparisons: Comparisons, *, plain: bool = False, tolerance: float = 1e-6, max_iterations: int = 2000) -> Fit:
    """Fit the model to comparisons that are `in_order`; with `plain`, Bradley and Terry's, with Davidson's ties."""
    cells = comparisons.cells(by_judge=not plain)
    ties, decided = float(cells.n0.sum()), float((cells.n1 + cells.n2).sum())
    free = np.array([not plain, not plain and comparisons.ordered, ties > 0])
    of_means = np.array([False, comparisons.ordered and comparisons.share_in_both_orders() >= _BOTH_ORDERS, True])
    of_means &= free & (not plain)
    c0 = np.log(ties / max(decided / 2, 0.5)) if ties else -np.inf
    count = 1 if plain else len(comparisons.judges)
    judges = Judges(np.ones(count), np.zeros(count), np.full(count, c0))
    priors = Priors(1.0, 0.25, 0.25, 1.0, 0.0, float(c0))
    theta = np.zeros(len(comparisons.objects))
    blocks = _blocks(cells, comparisons.component)
    covariances, converged, iteration = np.zeros((count, 3, 3)), False, 0
    for iteration in range(1, (max_iterations if decided else 1) + 1):
        before, judges_before, priors_before = theta, judges, priors
        theta, trace = _step_objects(blocks, sums(cells, theta, judges), theta, judges, priors, cells)
        judges, covariances = _step_judges(cells, sums(cells, theta, judges), judges, priors, free, of_means)
        priors = _learn(theta, trace, judges, covariances, priors, free, of_means, plain)
        if not plain and iteration <= _SEARCHES:
            unlearned = trace / priors_before.t2, float(covariances[:, 0, 0].sum()) / priors_before.tau2
            theta, judges, priors = _along_the_scale(theta, judges, priors, unlearned)
        moves = [np.abs(theta - before).max(), *(_moved(*two) for two in zip(judges, judges_before, strict=True))]
        moves += [_moved(np.array(priors), np.array(priors_before))]
        if max(moves) < tolerance:
            converged = True
            break
    found = Fit(theta, judges, covariances, np.ones(count), priors, free, of_means, plain, 1.0, iteration, converged)
    return _scaled(found, sums(cells, theta, judges), cells)


def _moved(now: Array, before: Array) -> float:
    finite = np.isfinite(now)
    return float(np.abs(now[finite] - before[finite]).max(initial=0.0))


class _Block(NamedTuple):
    """One connected component: its objects, its cells, and the places of these objects among them."""

    objects: Array
    cells: slice
    first: Array
    second: Array


def _blocks(cells: Cells, component: Array) -> list[_Block]:
    of_cells = component[cells.first]
    starts = np.searchsorted(of_cells, np.arange(component.max() + 2))
    order = np.argsort(component, kind="stable")
    sizes = np.bincount(component)
    ends = np.cumsum(sizes)
    place = np.empty(len(component), np.int64)
    place[order] = np.arange(len(component)) - np.repeat(ends - sizes, sizes)
    blocks = []
    for number, (size, end) in enumerate(zip(sizes, ends, strict=True)):
        its = slice(int(starts[number]), int(starts[number + 1]))
        blocks.append(_Block(order[end - size : end], its, place[cells.first[its]], place[cells.second[its]]))
    return blocks


def laplacian(first: Array, second: Array, weight: Array, count: int) -> Array:
    """Return the matrix with the sums of weights on its diagonal, and minus those of both objects elsewhere."""
    between = np.bincount(first * count + second, weight, count * count).reshape(count, count)
    between += between.T
    return np.diag(between.sum(1)) - between


def _step_objects(
    blocks: list[_Block], derivatives: Sums, theta: Array, judges: Judges, priors: Priors, cells: Cells
) -> tuple[Array, float]:
    """Return theta after a Newton step in every component, and the trace of the inverse of the Hessian."""
    d = judges.d[cells.judge]
    gradient, weight = d * derivatives.g, d * d * derivatives.v
    theta, trace = theta.copy(), 0.0
    for objects, its, first, second in blocks:
        count = len(objects)
        hessian = laplacian(first, second, weight[its], count) + np.eye(count) / priors.t2
        inverse = np.linalg.inv(hessian)
        slope = np.bincount(first, gradient[its], count) - np.bincount(second, gradient[its], count)
        step = inverse @ (slope - theta[objects] / priors.t2)
        step *= min(1.0, _LONGEST_STEP / max(np.abs(step).max(), 1e-300))
        moved = theta[objects] + step
        theta[objects] = moved - moved.mean()
        trace += float(np.trace(inverse))
    return theta, trace


def _step_judges(
    cells: Cells, derivatives: Sums, judges: Judges, priors: Priors, free: Array, of_means: Array
) -> tuple[Judges, Array]:
    """Return the judges after a Newton step each, and their covariances before it.

    `of_means` says which of the means 1, b0 and c0 are learned. They take part in the step, because judges who lean to
    one side all alike would move slowly towards a mean that follows them.
    """
    x, g, v, gc, vc, vx = derivatives
    count = len(judges.d)

    def by_judge(values: Array) -> Array:
        return np.bincount(cells.judge, values, count)

    now = np.stack([judges.d, judges.b, np.where(free[2], judges.c, 0.0)], axis=1)
    plain = not free[0]
    means = np.array([1.0, priors.b0, priors.c0 if free[2] and not plain else 0.0])
    precisions = priors.precisions(plain)
    gradient = np.stack([by_judge(g * x), by_judge(g), by_judge(gc)], axis=1) - (now - means) * precisions
    vxx = by_judge(v * x), by_judge(vx * x), by_judge(vx)
    information = np.empty((count, 3, 3))
    information[:, 0, 0], information[:, 1, 1], information[:, 2, 2] = by_judge(v * x * x), by_judge(v), by_judge(vc)
    for (row, column), values in zip(((0, 1), (0, 2), (1, 2)), vxx, strict=True):
        information[:, row, column] = information[:, column, row] = values
    information += np.diag(precisions)
    covariances = np.zeros((count, 3, 3))
    places = np.flatnonzero(free)
    if len(places):
        covariances[:, places[:, None], places] = np.linalg.inv(information[:, places[:, None], places])
    if of_means.any():
        pulled, bend = _by_means(covariances, precisions, of_means)
        slope = ((now - means) * precisions + (pulled @ gradient[:, :, None])[:, :, 0]).sum(0)[of_means]
        moved = means[of_means] + np.linalg.solve(bend, slope)
        gradient[:, of_means] += precisions[of_means] * (
            np.clip(moved, -_LARGEST_MEAN, _LARGEST_MEAN) - means[of_means]
        )
    step = (covariances @ gradient[:, :, None])[:, :, 0]
    longest = np.abs(step).max(1, keepdims=True)
    step *= np.minimum(1.0, _LONGEST_JUDGE_STEP / np.maximum(longest, 1e-300))
    d, b, c = (now + step).T
    return Judges(d, b, c if free[2] else judges.c), covariances


def _by_means(covariances: Array, precisions: Array, of_means: Array) -> tuple[Array, Array]:
    """Return P M_j, how much every judge's (d, b, c) follows the means, and the curvature by those that are learned."""
    pulled = covariances * precisions[:, None]
    whole = len(covariances) * (1 + _FLAT) * np.diag(precisions)
    return pulled, (whole - (pulled * precisions).sum(0))[np.ix_(of_means, of_means)]


def _along_the_scale(
    theta: Array, judges: Judges, priors: Priors, unlearned: tuple[float, float]
) -> tuple[Array, Judges, Priors]:
    """Return the best of theta * m and d / m, which give the same likelihood, with the variances that follow.

    Steps above would find it too, but slowly, because theta, d and both variances move together. The fixed point is the
    same: there, m is 1.
    """
    squares, d = float(theta @ theta), judges.d
    scale, t2, tau2 = 1.0, priors.t2, priors.tau2
    for _ in range(_SCALE_STEPS):
        # The derivative of -m^2 squares / (2 t2) - sum (d / m - 1)^2 / (2 tau2) by log m is 0 at the root of this.
        slope = -(scale**2) * squares / t2 + float((d / scale - 1) @ (d / scale)) / tau2
        bend = 2 * scale**2 * squares / t2 + float((2 * d / scale - 1) @ (d / scale)) / tau2
        step = float(np.clip(slope / max(bend, 1e-12), -0.5, 0.5))
        scale *= np.exp(step)
        t2 = _variance("t2", scale**2 * theta**2, unlearned[0])
        tau2 = _variance("tau2", (d / scale - 1) ** 2, unlearned[1])
        if abs(step) < _SCALE_TOLERANCE:
            break
    return theta * scale, judges._replace(d=d / scale), priors._replace(t2=t2, tau2=tau2)


def _variance(name: str, squares: Array, unlearned: float) -> float:
    """Return the variance of parameters with these squares, `unlearned` of which the votes say nothing about.

    That is the sum of their variances by the last variance of the prior. The fixed point is that of
    (squares + variances + imagined) / (number + imagined), which creeps where each parameter has few votes.
    """
    imagined = _IMAGINED * _SQUARES[name]
    found = (float(squares.sum()) + imagined) / (len(squares) + _IMAGINED - min(unlearned, len(squares)))
    return float(np.clip(found, *_LIMITS[name]))


def _learn(
    theta: Array,
    trace: float,
    judges: Judges,
    covariances: Array,
    priors: Priors,
    free: Array,
    of_means: Array,
    plain: bool,
) -> Priors:
    """Return the means and variances of the priors that follow from the parameters."""
    t2 = _variance("t2", theta**2, trace / priors.t2)
    if plain:
        return priors._replace(t2=t2, c0=float(judges.c[0]))
    d, b, c = judges
    b0 = float(np.clip(b.mean(), -_LARGEST_MEAN, _LARGEST_MEAN)) if of_means[1] else 0.0
    c0 = float(np.clip(c.mean(), -_LARGEST_MEAN, _LARGEST_MEAN)) if free[2] else priors.c0
    tau2 = _variance("tau2", (d - 1) ** 2, covariances[:, 0, 0].sum() / priors.tau2)
    s2 = _variance("s2", (b - b0) ** 2, covariances[:, 1, 1].sum() / priors.s2)
    sc2 = _variance("sc2", (c - c0) ** 2, covariances[:, 2, 2].sum() / priors.sc2) if free[2] else priors.sc2
    return Priors(t2, tau2, s2, sc2, b0, c0)


def _scaled(found: Fit, derivatives: Sums, cells: Cells) -> Fit:
    """Return a fit whose mean |d|, weighted by how much judges tell about theta, is 1."""
    weights = np.bincount(cells.judge, derivatives.v, len(found.judges.d))
    weights = weights / weights.sum()
    d = found.judges.d
    m = float(weights @ np.abs(d))
    if found.plain or m <= 0:
        return replace(found, weights=weights)
    covariances = found.covariances.copy()
    covariances[:, 0, :] /= m
    covariances[:, :, 0] /= m
    priors = found.priors._replace(t2=found.priors.t2 * m * m, tau2=found.priors.tau2 / m**2)
    return replace(
        found,
        theta=found.theta * m,
        judges=found.judges._replace(d=d / m),
        covariances=covariances,
        weights=weights,
        priors=priors,
        agreement=float(weights @ d),
    )
