"""`probabilities`: turn the scores of any method into calibrated probabilities, by one constant for each method.

Confidence is to keep its word: of the labels with a confidence of 0.8, about eight in ten are right. No scores do that
by themselves. Those of Dawid-Skene are mostly 0 and 1, and those of weighted votes are sums without a unit. One
constant c for each method makes probabilities of them, in one of five forms. K is the number of classes, n_i the number
of votes on the item, n that of the mean item of the crowd (at least 2), and s_k the score of class k:

    evidence               p_k ~ max(s_k, 1e-6)^t            t follows from c / sqrt(n): votes are not independent
    probability            p_k ~ max(s_k, 1e-6)^t            t follows from c alone
    share                  p_k = (n_i s_k + c / K) / (n_i + c)   c imagined votes, shared by all classes
    margin                 p_k ~ exp(c s_k / n_i)            what a vote adds on average, times c, is a log odds
    margin_over_guessing   p_k ~ exp(c s_k / n_i * u)        the same, where weights are K times an accuracy, minus 1

Here ~ means: divided by their sum. Shares are divided by their sum first. The power t is c / sqrt(n), or c, for two
classes. In general, with one of these for w, it is w + (1 - w) log(K - 1) / log(1e6): then K - 1 classes that a method
calls impossible are together as probable as one class that has all their 1e-6. With the power w alone, hundreds of
classes that nobody named would together leave nothing for the label; for the same reason, the number of imagined votes
does not grow with the classes. In the form "evidence", all classes also share EPSILON of the probability, as in
the pool. The form "probability" with the constant 1 leaves probabilities as they are.

u = log(K) / (K - 1) turns the weight of a perfect worker, K - 1, into log(K), which is what its vote says more than a
guess. Margins are divided by n_i because workers are not independent: a hundred votes do not make an answer ten times
as sure as ten votes do. All forms keep the order of the classes, so the label stays the class with the largest
probability, and a method's scores stay as they are.

The pool is the sixth form. The scores of the adjudicator are such probabilities already, which `pooled` makes:

Item i has v_i(k) votes for class k of K, n_i in all. a_i is the adjudicator's answer and q_i the latent class, both of
the same pass. n is one number for the whole crowd: labels divided by items that have labels, and at least 2.

    s_i(k) = (v_i(k) + 1/K) / (n_i + 1)
    u_i(k) = ALPHA (log max(a_i(k), 1e-6) + log s_i(k)) + GAMMA / sqrt(n) * log max(q_i(k), 1e-6)
    p_i(k) = (1 - EPSILON) softmax_k(power * u_i) + EPSILON / K

`power` is a parameter of the method, 1 by default. The answer a is bounded by the adjudicator's reliability, however
many votes agree. The shares s are the votes as they are; where votes state probabilities, a share is what one of them
is worth, and log s counts n_i^(f/2) times for a share f of such votes; see `powers_of_shares` in crowd/votes.py. q is
the evidence of independent votes, and n of them count like sqrt(n), because votes on one item are not independent: a
dense panel cannot confirm itself. n is that of the crowd and not of the item, so that one more vote for the leading
class never lowers its probability.

More than 16 classes: thousands of classes that nobody named would together outweigh the label. So let R be all classes
with u <= (the 16th largest u) + 1e-9, and u_R the formula applied to the sums of a, s and q over R. Each class of R
gets exp(u(k)) * min(1, exp(u_R) / sum_R exp(u)) before normalising. Equal classes stay equal, larger ones larger.

No item with two votes, and nothing else known: agreement says nothing, so votes alone count,

    p_i(k) = (v_i(k) + .98/K) / (n_i + .98)

`python -m studies.calibrate` writes the constants to calibration.toml; measurements: docs/studies/confidence.md.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, NamedTuple, cast

import numpy as np

from ..crowd.votes import raised
from ..numerics import Array
from ..numerics.elementary import softmax, sum_of

# The meaning of scores; see `Result.scale`.
Scale = Literal["probability", "weight", "margin"]
Form = Literal["evidence", "probability", "share", "margin", "margin_over_guessing", "pool"]

# The levels of intervals of the expected accuracy, in percent.
LEVELS: Final = (80, 95)
# The form for scores of each scale, for methods that have no constant and those that say nothing else.
FORMS: Final[Mapping[Scale, Form]] = {"probability": "probability", "weight": "share", "margin": "margin"}

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


@dataclass(frozen=True)
class Constant:
    """What turns the scores of a method into confidence.

    Attributes:
        form: Which of the forms above; None to choose it by the scale of the scores.
        value: c in the forms above; 1 for a pool.
        spreads: How far mean confidence is from accuracy on crowds that the constant was not fitted to, for each level
            of an interval in percent; see `ExpectedAccuracy`.
        weights: ALPHA and GAMMA of a pool; None for the other forms.
    """

    form: Form | None
    value: float
    spreads: Mapping[int, float]
    weights: Weights | None = None


def density_of(n_labels: int, n_items: int) -> float:
    """Return n: how many labels an item of a crowd has, and at least 2."""
    return max(n_labels / max(n_items, 1), 2.0)


def probabilities(
    calibrated_as: str, scale: Scale, scores: Array, votes: Array, density: float, soft: Any = None
) -> Array:
    """Return (items, classes): the calibrated probability of every class; those of an item add up to one.

    `calibrated_as` is the name of the method's constant, which is 1 for a method that has none; `votes` (items) are the
    numbers of votes, and `density` is n. For votes with a probability or a weight, `soft` has (items) the weights and
    the powers of `stated.soft_items`, to which probabilities of the form "share" are raised.

    >>> scores, votes = np.array([[0.75, 0.25]]), np.array([4])
    >>> probabilities("a method of yours", "weight", scores, votes, 4.0).round(3).tolist()
    [[0.7, 0.3]]
    """
    known = constant(calibrated_as)
    form = known.form or FORMS[scale]
    if soft is None:
        return transform(form, known.value, scores, votes, density)
    found = transform(form, known.value, scores, soft.weight, density)
    return softmax(soft.power[:, None] * np.log(found)) if form == "share" else found


def transform(form: Form, value: float, scores: Array, votes: Array, density: float) -> Array:
    """Return the probabilities that a form gives with this constant; see `probabilities`."""
    if form == "pool":
        return scores
    classes = scores.shape[1]
    counts = np.where(votes > 0, votes, 1)[:, None]
    if form == "share":
        found = _shares(scores)
        found *= counts
        found += value / classes
        found /= counts + value
        return found
    if form == "probability":
        return _raised(scores, value)
    if form == "evidence":
        return np.asarray((1 - EPSILON) * _raised(scores, value / math.sqrt(density)) + EPSILON / classes)
    unit = np.log(classes) / max(classes - 1, 1) if form == "margin_over_guessing" else 1.0
    return softmax(value * unit * scores / counts)


def of_shares(calibrated_as: str, shares: Array, votes: Array, classes: int) -> Array:
    """Return (items): the calibrated probability of one class of each item, whose share of the votes is known.

    It is what `probabilities` returns for the scores of all classes, if these are the shares of votes.
    """
    value = constant(calibrated_as).value
    return np.asarray((votes * shares + value / classes) / (votes + value))


def _raised(scores: Array, power: float) -> Array:
    """Return probabilities raised to the power that follows from this one for so many classes, divided by their sum."""
    others = max(scores.shape[1] - 1, 1)
    return softmax((power + (1 - power) * math.log(others) / -math.log(FLOOR)) * np.log(np.maximum(scores, FLOOR)))


def constant(calibrated_as: str) -> Constant:
    """Return the constant of this name; if there is none, it is 1, and the spreads are the largest of all."""
    constants = _constants()
    if calibrated_as in constants:
        return constants[calibrated_as]
    return Constant(None, 1.0, {level: max(one.spreads[level] for one in constants.values()) for level in LEVELS})


def pool_weights(calibrated_as: str) -> Weights:
    """Return ALPHA and GAMMA of this name, whose form is a pool."""
    weights = constant(calibrated_as).weights
    assert weights is not None, f"{calibrated_as} has no pool"
    return weights


def is_calibrated(calibrated_as: str) -> bool:
    """Return whether there is a constant of this name."""
    return calibrated_as in _constants()


@cache
def _constants() -> Mapping[str, Constant]:
    text = resources.files(__package__).joinpath("calibration.toml").read_text(encoding="utf-8")
    return {name: _constant(row) for name, row in tomllib.loads(text).items()}


def _constant(row: Mapping[str, Any]) -> Constant:
    weights = Weights(float(row["alpha"]), float(row["gamma"])) if "alpha" in row else None
    spreads = {level: float(row[f"spread_{level}"]) for level in LEVELS}
    return Constant(cast(Form, row["form"]), float(row.get("constant", 1.0)), spreads, weights)


def _shares(scores: Array) -> Array:
    """Return the scores of each item divided by their sum; equal shares if all scores are zero."""
    total = scores.sum(axis=1, keepdims=True)
    if (total > 0).all():
        return np.asarray(scores / total)
    return np.asarray(np.divide(scores, total, out=np.full_like(scores, 1 / scores.shape[1]), where=total > 0))


def pooled(
    parts: tuple[Array, Array, Array], n: float, weights: Weights, power: float = 1.0, of_shares: Array | None = None
) -> Array:
    """Return (items, classes), the probabilities p; the formula is above.

    `parts` are three arrays (items, classes): the answers a, the numbers of votes v, and the latent classes q.
    `of_shares` (items) is the power of the vote shares, which is 1 for plain votes.

    >>> a, v, q = np.array([[0.9, 0.1]]), np.array([[3, 0]]), np.array([[0.99, 0.01]])
    >>> pooled((a, v, q), 4.0, Weights(0.26, 0.53)).round(3).tolist()
    [[0.904, 0.096]]
    """
    answers, votes, latent = parts
    n_classes = votes.shape[1]
    shares = vote_shares(votes)
    of_all = answers, raised(shares, of_shares), latent
    u = power * _logarithms(of_all, n, weights)
    if n_classes > MOST_CLASSES and len(u):
        u = u + _without_crowding(u, of_all, n, weights, power)
    return np.asarray((1 - EPSILON) * softmax(u) + EPSILON / n_classes)


def votes_alone(votes: Array, power: float = 1.0) -> Array:
    """Return (items, classes), the probabilities where nothing is known but single votes (items, classes)."""
    return softmax(power * np.log(vote_shares(votes, ALONE)))


def vote_shares(votes: Array, imagined: float = 1.0) -> Array:
    """Return (items, classes), the shares s of the votes and of so many imagined votes, which all classes share."""
    return np.asarray((votes + imagined / votes.shape[1]) / (sum_of(votes)[:, None] + imagined))


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
