r"""`uncertainty`: how far off theta may be: a sandwich over clusters of votes that are not independent.

With A_j the cross Hessian of a judge's (d, b, c) and theta, M_j the judge's covariance, s the scores of votes,

    S    = H - sum_j A_j' M_j A_j
    IF_C = S^-1 [sum_{v in C} score_theta(v) - sum_j A_j' M_j s_{j,C}]                 influence of cluster C on theta
    mI_C = sum_j w_j sign(d_j) (M_j s_{j,C})_d - (sum_j w_j sign(d_j) A_j' M_j[d,:]')' IF_C       and on the scale
    IF_C += theta mI_C;   centred in each component;   V = C / (C - 1) sum_C IF_C IF_C'

Everything is linear in the scores, so IF = R Q with a sparse matrix R (clusters, objects + 3 judges) of scores.
A variance is the largest of the model's, f V_prompt, and f (V_prompt + V_judge - V_{prompt and judge}).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.sparse import coo_array
from scipy.special import stdtrit

from ..numerics import Array
from .comparisons import Cells, Comparisons
from .fit import Fit, laplacian
from .model import sums

# Rows of clusters that are worked on at a time.
_ROWS: Final = 65_536
# At least this share of the votes is left after the parameters that were learned.
_LEAST_LEFT: Final = 0.25


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Candidates for the covariance of theta, of which the one with the largest variance holds for each difference.

    Attributes:
        candidates: The covariances: that of the model, by prompt, and by prompt and judge.
        quantile: How many standard errors an end of the 95 % interval is away.
        clusters: The number of clusters that are taken as independent.
    """

    candidates: tuple[Array, ...]
    quantile: float
    clusters: int

    def errors(self) -> Array:
        """Return the standard error of theta of every object."""
        variances: Array = np.max([np.diag(one) for one in self.candidates], axis=0)
        return np.asarray(np.sqrt(variances.clip(0.0)))

    def errors_between(self, first: Array, second: Array) -> Array:
        """Return the standard error of every difference theta[first] - theta[second]."""
        variances = [np.diag(one)[first] + np.diag(one)[second] - 2 * one[first, second] for one in self.candidates]
        largest: Array = np.max(variances, axis=0)
        return np.asarray(np.sqrt(largest.clip(0.0)))


def uncertainty(comparisons: Comparisons, fit: Fit) -> Uncertainty:
    """Return how far off theta may be, for comparisons that are `in_order` and their fit."""
    cells = comparisons.cells(by_prompt=True)
    judge = np.zeros_like(cells.judge) if fit.plain else cells.judge  # whose parameters are meant
    inverse, linear, scale_of_theta, scale_noise = _linear_map(cells, judge, fit)
    # theta moves with the scale, and each component has a mean of 0.
    centre = _centring(comparisons.component)
    moved = np.eye(len(fit.theta)) - np.outer(fit.theta, scale_of_theta)
    model = moved @ inverse @ moved.T + scale_noise * np.outer(fit.theta, fit.theta)
    model = centre(centre(model).T)
    linear = centre(linear)
    scores = _scores(cells, judge, fit)
    f = _inflation(len(comparisons), inverse, fit)
    candidates = [model]
    prompts = _count(cells.prompt)
    if prompts > 1:
        by_prompt = _sandwich(scores, cells.prompt, linear)
        candidates.append(f * by_prompt)
        if _count(cells.judge) > 1:
            both = cells.prompt * len(comparisons.judges) + cells.judge
            by_judge = _sandwich(scores, cells.judge, linear)
            candidates.append(f * (by_prompt + by_judge - _sandwich(scores, both, linear)))
    quantile = float(stdtrit(max(prompts - 1, 1), 0.975))
    return Uncertainty(tuple(candidates), quantile, prompts)


def _count(codes: Array) -> int:
    return len(np.unique(codes))


def _centring(component: Array) -> Any:
    """Return a function that subtracts from every row of a matrix its mean within each component."""
    sizes = np.bincount(component)
    one_hot = np.zeros((len(component), len(sizes)))
    one_hot[np.arange(len(component)), component] = 1.0

    def centre(matrix: Array) -> Array:
        return matrix - ((matrix @ one_hot) / sizes)[:, component]

    return centre


def _linear_map(cells: Cells, judge: Array, fit: Fit) -> tuple[Array, Array, Array, float]:
    """Return S^-1, the matrix Q above, how the scale depends on theta, and the variance that it has besides."""
    derivatives = sums(cells._replace(judge=judge), fit.theta, fit.judges)
    objects, judges = len(fit.theta), len(fit.judges.d)
    d = fit.judges.d[judge]
    cross = np.zeros((3, judges, objects))
    # The expected information: the observed one of d and theta has g besides, whose expectation is 0.
    for row, by in enumerate((d * derivatives.v * derivatives.x, d * derivatives.v, d * derivatives.vx)):
        for sign, end in ((1, cells.first), (-1, cells.second)):
            flat = np.bincount(judge * objects + end, sign * by, judges * objects)
            cross[row] += flat.reshape(judges, objects)
    by_judge = cross.transpose(1, 0, 2)  # A_j
    solved = fit.covariances @ by_judge  # M_j A_j
    hessian = laplacian(cells.first, cells.second, d * d * derivatives.v, objects) + np.eye(objects) / fit.priors.t2
    flat_cross, flat_solved = by_judge.reshape(-1, objects), solved.reshape(-1, objects)
    inverse = np.linalg.inv(hessian - flat_cross.T @ flat_solved)
    linear = np.concatenate([np.eye(objects), -flat_solved]) @ inverse
    if fit.plain:
        return inverse, linear, np.zeros(objects), 0.0
    signed = fit.weights * np.sign(fit.judges.d)
    scale_of_theta = signed @ solved[:, 0, :]
    of_scores = np.concatenate([np.zeros(objects), (signed[:, None] * fit.covariances[:, 0, :]).ravel()])
    linear = linear + np.outer(of_scores - linear @ scale_of_theta, fit.theta)
    return inverse, linear, scale_of_theta, float(signed**2 @ fit.covariances[:, 0, 0])


def _scores(cells: Cells, judge: Array, fit: Fit) -> tuple[Array, Array]:
    """Return the columns of R of every cell, and the scores in them: of two objects, and of d, b and c."""
    derivatives = sums(cells._replace(judge=judge), fit.theta, fit.judges)
    of_object = fit.judges.d[judge] * derivatives.g
    places = len(fit.theta) + 3 * judge
    columns = np.stack([cells.first, cells.second, places, places + 1, places + 2])
    values = np.stack([of_object, -of_object, derivatives.g * derivatives.x, derivatives.g, derivatives.gc])
    return columns, values


def _sandwich(scores: tuple[Array, Array], cluster: Array, linear: Array) -> Array:
    """Return C / (C - 1) sum_C IF_C IF_C', for the cluster of every cell."""
    columns, values = scores
    present, codes = np.unique(cluster, return_inverse=True)
    count = len(present)
    rows = np.broadcast_to(codes, columns.shape)
    matrix = coo_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(count, len(linear))).tocsr()
    matrix.sum_duplicates()
    if (np.diff(matrix.indptr).astype(np.float64) ** 2).sum() < matrix.nnz * linear.shape[1]:
        total = linear.T @ ((matrix.T @ matrix) @ linear)
    else:
        total = np.zeros((linear.shape[1], linear.shape[1]))
        for start in range(0, count, _ROWS):
            influence = matrix[start : start + _ROWS] @ linear
            total += influence.T @ influence
    return np.asarray(total) * count / (count - 1)


def _inflation(votes: int, inverse: Array, fit: Fit) -> float:
    """Return f = (N - 1) / (N - p), with p the effective number of parameters."""
    effective = len(fit.theta) - float(np.trace(inverse)) / fit.priors.t2
    diagonal = np.diagonal(fit.covariances, axis1=1, axis2=2)
    effective += float((1 - diagonal * fit.priors.precisions(fit.plain))[:, fit.free].sum())
    return (votes - 1) / max(votes - effective, votes * _LEAST_LEFT)
