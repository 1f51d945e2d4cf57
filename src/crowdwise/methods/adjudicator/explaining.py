r"""What each label of one item adds to the logarithm of the probability of every class; the sum is exact.

A latent class: let r(s) be the probability of type s of the item, given its labels and the class. Then

    log q(class) = sum_s r(s) [log p(s) + sum_e log p(label e | s)] + entropy of r + constant

exactly. An answer a follows from the types alone, so there the labels are let in gradually: with all of them to the
power w, the probability of the answer grows with w by sum_s r_w(s) log p(label e | s) for each label, and the mean over
w from 0 to 1 is what it adds (Aumann and Shapley). The vote shares s = (w v + 1/K) / (w n + 1) are let in the same way.
The pool (results/calibration.py) is a sum of the three, times their weights. All that is no label's is the prior. The
limits come last: no part of the pool counts as less than 1e-6, and no class has less than EPSILON / K.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...crowd.labels import Labels
from ...crowd.votes import as_said, powers_of_shares
from ...numerics import Array
from ...results.calibration import ALONE, FLOOR, pool_weights
from ...results.contributions import Contributions
from .structure import ItemTypes, StructuredWorkers

# The points and weights of Gauss and Legendre for a mean from 0 to 1.
_POWERS: Final = tuple(part / 2 for part in (np.polynomial.legendre.leggauss(20) + np.array([[1.0], [0.0]])))


def explain(method: Any, one: Labels, workers: StructuredWorkers, rescore: Callable[[Array], Array]) -> Contributions:
    """Return what the labels of one item add to the logarithms of its latent classes, or of the pool.

    `rescore` returns the scores (classes) of the item if its rows named other classes.
    """
    if method.read_out == "latent":
        total, evidence = _of_latent(one, workers.types(one))
    elif workers.lone:
        total, evidence = _of_shares(one, workers, ALONE)
    else:
        total, evidence = _of_pool(one, workers)
    return _contributions(one, method.power * total, method.power * evidence, rescore)


def _of_pool(one: Labels, workers: StructuredWorkers) -> tuple[Array, Array]:
    """Return (classes), the logarithms of the pool, and (rows, said class, class), what each row adds to them."""
    types, weights = workers.types(one), pool_weights("adjudicator")
    answers, by_answers = _of_answers(one, types)
    shares, by_shares = _of_shares(one, workers, 1.0)
    powers = powers_of_shares(one, workers.copies.counted(one))
    if powers is not None:
        shares, by_shares = powers[0] * shares, powers[0] * by_shares
    latent, by_latent = _of_latent(one, types)
    # A class that nobody named may be impossible, and has the smallest logarithm before any vote.
    impossible = latent == -np.inf
    latent, by_latent = np.where(impossible, math.log(FLOOR), latent), np.where(impossible, 0.0, by_latent)
    gamma = weights.gamma / math.sqrt(workers.density)
    total = weights.alpha * (answers + shares) + gamma * latent
    return total, weights.alpha * (by_answers + by_shares) + gamma * by_latent


def _contributions(one: Labels, total: Array, evidence: Array, rescore: Callable[[Array], Array]) -> Contributions:
    """The prior is what rows do not add to `total`, and the limits are what this and log scores differ by."""
    total = total - np.logaddexp.reduce(total)
    prior = total - evidence[np.arange(len(one.labels)), one.labels].sum(axis=0)
    with np.errstate(divide="ignore"):
        logarithms = np.log(rescore(one.labels))
    # A score that is too small for a number says nothing of its logarithm; there is no limit then.
    known = np.isfinite(logarithms) & np.isfinite(total)
    limits = np.subtract(logarithms, total, out=np.zeros_like(total), where=known)
    return Contributions(prior, evidence, logarithmic=True, rescore=rescore, limits=limits)


def _of_latent(one: Labels, types: ItemTypes) -> tuple[Array, Array]:
    """Return (classes), the logarithms of the latent classes, and (rows, said, class), what each row adds to them."""
    of_class = types.true_class[:, None] == np.arange(one.n_classes)
    joint = np.where(of_class, types.log_prior[:, None], -np.inf)  # (types, classes)
    made = _made(one, types)
    return _normalised(joint + made), _evidence(one, types, _shares(joint + made))


def _of_answers(one: Labels, types: ItemTypes) -> tuple[Array, Array]:
    """Return (classes), the logarithms of the answers, and (rows, said class, class), what each row adds to them."""
    joint, made = types.log_prior[:, None] + types.log_answer, _made(one, types)
    share = sum(weight * _shares(joint + power * made) for power, weight in zip(*_POWERS, strict=True))
    return _normalised(joint + made), _evidence(one, types, np.asarray(share))


def _of_shares(one: Labels, workers: StructuredWorkers, imagined: float) -> tuple[Array, Array]:
    """Return (classes), the logarithms of the vote shares with so many imagined votes, and what each row adds."""
    n_classes, said, kept = one.n_classes, one.labels.astype(np.int64), workers.copies.counted(one)
    counted = np.ones(len(said), bool) if kept is None else kept
    if one.soft is not None:
        return _of_soft_shares(one, counted * one.soft[:, -1], imagined)
    votes, n_votes = np.bincount(said[counted], minlength=n_classes), int(counted.sum())
    total = np.log((votes + imagined / n_classes) / (n_votes + imagined))
    # The mean over w of what each of so many votes adds: to the class it names, and to the sum over all classes.
    named = votes[None] + (said[:, None] != np.arange(n_classes))  # (rows, said), the votes if the row said that
    added = np.log1p(named * n_classes / imagined) / named
    lost = math.log1p(n_votes / imagined) / max(n_votes, 1)
    evidence = np.full((len(said), n_classes, n_classes), -lost)
    evidence[:, np.arange(n_classes), np.arange(n_classes)] += added
    evidence[~counted] = 0.0
    return total, evidence


def _of_soft_shares(one: Labels, weights: Array, imagined: float) -> tuple[Array, Array]:
    """The same for votes that weigh so much: each adds its weight times what it says, to every class."""
    n_classes, said = one.n_classes, as_said(one)
    votes, n_votes = weights @ one.chances, float(weights.sum())
    total = np.log((votes + imagined / n_classes) / (n_votes + imagined))

    def per_vote(count: Array | float, each: float) -> Array:
        return np.where(np.asarray(count) > 0, np.log1p(count * each) / np.maximum(count, np.finfo(float).tiny), each)

    other = np.arange(n_classes) != one.labels[:, None]  # (rows, said), what the row would have moved if it said that
    named = votes + np.where(other, weights[:, None] * (1 - one.chances), 0.0)
    added = said * np.where(
        other[:, :, None], per_vote(named, n_classes / imagined)[:, None, :], per_vote(votes, n_classes / imagined)
    )
    return total, weights[:, None, None] * (added - per_vote(n_votes, 1 / imagined))


def _made(one: Labels, types: ItemTypes) -> Array:
    """(types, 1), the logarithm of the probability of all labels of the item."""
    rows, said = np.arange(len(one.labels)), np.searchsorted(types.said_classes, one.labels)
    return np.asarray(types.log_said[:, rows, said].sum(axis=1)[:, None])


def _evidence(one: Labels, types: ItemTypes, share: Array) -> Array:
    """Return (rows, said class, class), what each row adds, given the probabilities of the types (types, classes)."""
    evidence = np.full((len(one.labels), one.n_classes, one.n_classes), np.nan)  # for classes that are not looked at
    evidence[:, types.said_classes] = np.tensordot(types.log_said, share, (0, 0))
    return evidence


def _normalised(joint: Array) -> Array:
    """Return (classes), the logarithms of probabilities that add up to one, given those of types and classes."""
    total = np.logaddexp.reduce(joint, axis=0)
    return np.asarray(total - np.logaddexp.reduce(total))


def _shares(joint: Array) -> Array:
    """(types, classes), the probability of every type given each class; zeros for a class that is impossible."""
    highest = joint.max(axis=0)
    weights = np.exp(joint - np.where(highest > -np.inf, highest, 0.0))
    return np.asarray(weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny))
