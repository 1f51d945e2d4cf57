r"""`pooled`: the probability of every class, from the adjudicator's answer, the votes and the latent class.

Item i has v_i(k) votes for class k of K, n_i in all. a_i is the adjudicator's answer and q_i the latent class, both of
the same pass. n is one number for the whole crowd: labels divided by items that have labels, and at least 2.

    s_i(k) = (v_i(k) + 1/K) / (n_i + 1)
    u_i(k) = ALPHA (log max(a_i(k), 1e-6) + log s_i(k)) + GAMMA / sqrt(n) * log max(q_i(k), 1e-6)
    p_i(k) = (1 - EPSILON) softmax_k(power * u_i) + EPSILON / K

`power` is a parameter of the method, 1 by default. The answer a is bounded by the adjudicator's reliability, however
many votes agree. The shares s are the votes as they are. q is the evidence of independent votes, and n of them count
like sqrt(n), because votes on one item are not independent: a dense panel cannot confirm itself. n is that of the crowd
and not of the item, so that one more vote for the leading class never lowers its probability.

More than 16 classes: thousands of classes that nobody named would together outweigh the label. So let R be all classes
with u <= (the 16th largest u) + 1e-9, and u_R the formula applied to the sums of a, s and q over R. Each class of R
gets exp(u(k)) * min(1, exp(u_R) / sum_R exp(u)) before normalising. Equal classes stay equal, larger ones larger.

No item with two votes, and nothing else known: agreement says nothing, so votes alone count,

    p_i(k) = (v_i(k) + .98/K) / (n_i + .98)

ALPHA and GAMMA are in calibration.toml, which `python -m calibrate` writes; docs/confidence.md has what was measured.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from ..numerics import Array
from ..numerics.softmax import softmax

# Probabilities below this are taken as this. Some methods give exactly 0, which no power changes; and the log loss, by
# which the constants are fitted, is measured with this limit, so it cannot tell smaller probabilities apart.
FLOOR: Final = 1e-6
# The share of the probability that all classes have alike.
EPSILON: Final = 0.01
# How many imagined votes all classes share where votes alone count.
ALONE: Final = 0.98
# With more classes than this, all but the best 15 of an item are looked at together.
MOST_CLASSES: Final = 16
# Two u that differ by less are the same.
_TIE: Final = 1e-9


class Weights(NamedTuple):
    """How much the parts of the pool count: ALPHA of the answer and of the vote shares, GAMMA of the latent class."""

    alpha: float
    gamma: float


def pooled(parts: tuple[Array, Array, Array], n: float, weights: Weights, power: float = 1.0) -> Array:
    """Return (items, classes), the probabilities p; the formula is above.

    `parts` are three arrays (items, classes): the answers a, the numbers of votes v, and the latent classes q.

    >>> a, v, q = np.array([[0.9, 0.1]]), np.array([[3, 0]]), np.array([[0.99, 0.01]])
    >>> pooled((a, v, q), 4.0, Weights(0.26, 0.53)).round(3).tolist()
    [[0.904, 0.096]]
    """
    answers, votes, latent = parts
    n_classes = votes.shape[1]
    of_all = answers, vote_shares(votes), latent
    u = power * _logarithms(of_all, n, weights)
    if n_classes > MOST_CLASSES and len(u):
        u = u + _without_crowding(u, of_all, n, weights, power)
    return np.asarray((1 - EPSILON) * softmax(u) + EPSILON / n_classes)


def votes_alone(votes: Array, power: float = 1.0) -> Array:
    """Return (items, classes), the probabilities where nothing is known but single votes (items, classes)."""
    return softmax(power * np.log(vote_shares(votes, ALONE)))


def vote_shares(votes: Array, imagined: float = 1.0) -> Array:
    """Return (items, classes), the shares s of the votes and of so many imagined votes, which all classes share."""
    return np.asarray((votes + imagined / votes.shape[1]) / (votes.sum(axis=1, keepdims=True) + imagined))


def _logarithms(parts: tuple[Array, Array, Array], n: float, weights: Weights) -> Array:
    """Return u, given a, s and q."""
    answers, shares, latent = parts
    found = np.log(np.maximum(answers, FLOOR)) + np.log(shares)
    found *= weights.alpha
    found += weights.gamma / math.sqrt(n) * np.log(np.maximum(latent, FLOOR))
    return np.asarray(found)


def _without_crowding(u: Array, parts: tuple[Array, Array, Array], n: float, weights: Weights, power: float) -> Array:
    """Return (items, classes), what is added to u so that the classes of R do not outweigh the others."""
    last = np.partition(u, u.shape[1] - MOST_CLASSES, axis=1)[:, u.shape[1] - MOST_CLASSES, None]
    rest = u <= last + _TIE
    answers, shares, latent = (np.where(rest, part, 0.0).sum(axis=1, keepdims=True) for part in parts)
    of_rest = power * _logarithms((answers, shares, latent), n, weights)
    highest = u.max(axis=1, keepdims=True)
    total = highest + np.log(np.where(rest, np.exp(u - highest), 0.0).sum(axis=1, keepdims=True))
    return np.where(rest, np.minimum(of_rest - total, 0.0), 0.0)
