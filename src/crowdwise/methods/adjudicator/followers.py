r"""`leave_out_followers`: who agrees suspiciously often, and a reading of the votes without those of followers.

A pair is suspicious if it has n >= 20 comparisons, a correlation c >= 0.85 and a residual correlation of at least 0.05
at its lower bound. This bound is the larger of two: that of families/dependence/pairs.py, which can follow a pair
itself where there are few workers, and one for which the others show the truth. With w = n / (n + 10), S_jk the mean of
c_jl over l other than k, and T that of c_lm over l and m other than j and k, both weighted by w:

$$ a_j = S_{jk} / \sqrt{T}, \quad \rho_{jk} = \frac{c_{jk} - a_j a_k}{\sqrt{(1 - a_j^2)(1 - a_k^2)}} $$
"""

from typing import Any, Final

import numpy as np

from ...families.dependence.pairs import ERRORS_BELOW, PairCounts, common_truth, correlations, residuals
from ...fitting.engines.base import Engine
from ...fitting.iterations import Progress
from ...numerics import Array
from .copying import Search, Suspects
from .joint_counts import JointCounts
from .readings import Reading

# It was confirmed on panels of so many workers. With more, one copy costs little, and experts are taken for copies.
_FEWEST_WORKERS, _MOST_WORKERS = 4, 30
# How many blocks are tried in a round, and the most rounds.
_MOST_TRIED: Final = 12
_MOST_ROUNDS: Final = 10
# The least n, c and lower bound of a suspicious pair. With a lower c, workers who know are taken for copies.
_LEAST_COMPARED: Final = 20
_LEAST_CORRELATION: Final = 0.85
_LEAST_RESIDUAL: Final = 0.05
# A correlation counts in full only if it is from many more items than this.
_FEW_ITEMS: Final = 10.0
# The least T, the largest a, and the least (1 - a_j^2)(1 - a_k^2).
_LEAST_COMMON, _MOST_COMMON, _LEAST_UNEXPLAINED = 0.02, 0.95, 0.01


def can_follow(n_workers: int, n_classes: int) -> bool:
    """Whether followers are looked for among so many workers."""
    return _FEWEST_WORKERS <= n_workers <= _MOST_WORKERS and n_classes > 1


def leave_out_followers(
    method: Any,
    engine: Engine,
    plain: Reading,
    counts: PairCounts,
    progress: Progress | None,
    rounds: int = _MOST_ROUNDS,
    blocks: int = _MOST_TRIED,
) -> Reading:
    """Return a reading of the votes without those of workers who follow others; `plain` if nobody does.

    In a round, so many blocks are tried, those who agree most first; followers are left out of the next round.
    """
    suspects = find_suspects(counts)
    if not suspects.pairs.any():
        return plain
    workers = [*plain.workers.copies.blocks, np.flatnonzero(suspects.pairs.any(axis=1))]
    joint = JointCounts.of(engine, np.concatenate(workers))
    search = Search(method, engine, suspects, joint, progress, blocks)
    found = search.explain(plain)
    for _ in range(rounds):
        better = search.with_more_followers(found)
        if better is None:
            break
        found = better
    best = search.describe(found, plain) if found.nats else plain
    engine.sweep(best.workers)  # the engine has the scores of the reading that was tried last
    return best


def look_for_followers(method: Any, engine: Engine, counts: PairCounts) -> Any:
    """Return the workers of a reading without those who follow others, in crowds of any size; None if nobody does.

    In a crowd of more than 30 workers, only the workers who agree most are tried.
    """
    if len(counts.given) < _FEWEST_WORKERS or not find_suspects(counts).pairs.any():
        return None
    votes, _ = engine.sweep(None)
    found = method.read(engine, votes, None)
    if not can_follow(len(counts.given), engine.n_classes):
        found = leave_out_followers(method, engine, found, counts, None, rounds=1, blocks=1)
    return None if found.workers.copying is None else found.workers


def find_suspects(counts: PairCounts) -> Suspects:
    """Find the pairs of workers who agree more often than can be explained by the truth, as others show it."""
    c, n = correlations(counts)
    residual, error = residuals(c, n, common_truth(c, n))
    low = np.maximum(residual - ERRORS_BELOW * error, _beyond_the_others(c, n))
    pairs = (n >= _LEAST_COMPARED) & (c >= _LEAST_CORRELATION) & (low >= _LEAST_RESIDUAL)
    np.fill_diagonal(pairs, False)
    return Suspects(pairs, c, n)


def _beyond_the_others(c: Array, n: Array) -> Array:
    """(workers, workers), lower bounds of the residual correlations, given the truth as all others show it."""
    w = n / (n + _FEW_ITEMS)
    wc = w * c
    tops, bottoms = wc.sum(axis=1), w.sum(axis=1)
    s = _mean(tops[:, None] - wc, bottoms[:, None] - w)
    t = _mean(tops.sum() - 2 * (tops[:, None] + tops - wc), bottoms.sum() - 2 * (bottoms[:, None] + bottoms - w))
    a = np.clip(s / np.sqrt(np.maximum(t, _LEAST_COMMON)), -_MOST_COMMON, _MOST_COMMON)
    scale = np.sqrt(np.maximum((1 - a**2) * (1 - a.T**2), _LEAST_UNEXPLAINED))
    error = 1.0 / (np.sqrt(np.maximum(n, 1)) * scale)
    return np.asarray((c - a * a.T) / scale - ERRORS_BELOW * error)


def _mean(total: Array, weight: Array) -> Array:
    """A weighted mean; 0 where nothing has a weight, up to rounding: one comparison weighs far more."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-6)
