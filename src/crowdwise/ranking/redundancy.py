"""`redundancy`: what judges have in common on an item besides the order of the objects, and what a vote is worth."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import coo_array

from ..numerics import Array
from .comparisons import BY_VOTE, Comparisons
from .fit import Fit
from .model import probabilities

# Two judges are compared on at least so many items that both judged, among at most so many judges.
_LEAST_SHARED: Final = 10
_MOST_JUDGES: Final = 2000


@dataclass(frozen=True, eq=False)
class Redundancy:
    """How much judges agree on items beyond what the order of the objects explains.

    Attributes:
        correlation: The mean correlation of the residuals of two judges; None if no two can be compared.
        votes: The mean number of votes on an item, a pair of objects on a prompt.
        effective: How many independent votes these are worth.
        nearest: For every judge the one whose residuals are most like its own; -1 if there is none.
        nearest_correlation: The correlation with that one; NaN if there is none.
        shared: On how many items both said something.
    """

    correlation: float | None
    votes: float
    effective: float
    nearest: Array
    nearest_correlation: Array
    shared: Array


def redundancy(comparisons: Comparisons, fit: Fit) -> Redundancy:
    """Compare the residuals y - (p1 - p2) of every two judges on the items that both judged."""
    judges = len(comparisons.judges)
    nothing = Redundancy(None, 1.0, 1.0, np.full(judges, -1), np.full(judges, np.nan), np.zeros(judges, np.int64))
    _, item = np.unique(comparisons.prompt * len(comparisons.objects) ** 2 + comparisons.pair, return_inverse=True)
    items = int(item.max()) + 1
    votes = len(comparisons) / items
    if comparisons.cluster == BY_VOTE or not 2 <= judges <= _MOST_JUDGES:
        return nothing
    judge = np.zeros_like(comparisons.judge) if fit.plain else comparisons.judge
    x = fit.theta[comparisons.first] - fit.theta[comparisons.second]
    p1, p2, _ = probabilities(fit.judges.d[judge] * x + fit.judges.b[judge], fit.judges.c[judge])
    spread = np.sqrt(np.maximum(p1 + p2 - (p1 - p2) ** 2, 1e-12))
    residual = (comparisons.outcome - (p1 - p2)) / spread
    residual *= np.where(comparisons.first < comparisons.second, 1.0, -1.0)
    place = item, comparisons.judge
    total = coo_array((residual, place), shape=(items, judges)).tocsr()
    given = coo_array((np.ones(len(residual)), place), shape=(items, judges)).tocsr()
    mean, present, squares = total.copy(), given.copy(), total.copy()
    mean.data = total.data / given.data
    present.data = np.ones_like(given.data)
    squares.data = mean.data**2
    n, sx, sxx, sxy = (
        np.asarray((one.T @ other).toarray())
        for one, other in ((present, present), (mean, present), (squares, present), (mean, mean))
    )
    n_safe = np.maximum(n, 1)
    covariance = sxy / n_safe - sx * sx.T / n_safe**2
    variance = np.maximum(sxx / n_safe - (sx / n_safe) ** 2, 0.0)
    product = np.sqrt(variance * variance.T)
    known = (n >= _LEAST_SHARED) & (product > 1e-9) & ~np.eye(judges, dtype=bool)
    correlation = np.where(known, covariance / np.where(known, product, 1.0), np.nan)
    if not known.any():
        return nothing
    rho = float(correlation[known].mean())
    ranked = np.where(known, correlation, -np.inf)
    nearest = np.where(known.any(1), ranked.argmax(1), -1)
    rows = np.arange(judges)
    effective = votes / (1 + (votes - 1) * max(rho, 0.0))
    near = np.where(nearest >= 0, correlation[rows, nearest], np.nan)
    return Redundancy(
        rho, votes, effective, nearest, near, np.where(nearest >= 0, n[rows, nearest], 0).astype(np.int64)
    )
