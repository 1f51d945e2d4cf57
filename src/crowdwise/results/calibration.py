"""`probabilities`: turn the scores of any method into calibrated probabilities, by one constant for each method.

Confidence is to keep its word: of the labels with a confidence of 0.8, about eight in ten are right. No scores do that
by themselves. Those of Dawid-Skene are mostly 0 and 1, and those of weighted votes are sums without a unit. One
constant c for each method makes probabilities of them, in one of four forms. K is the number of classes, n the number
of votes on the item and s_k the score of class k:

    probability            p_k ~ max(s_k, 1e-6)^t            a power c below 1 says: less sure than the method
    share                  p_k = (n s_k + c / K) / (n + c)   c imagined votes, shared by all classes
    margin                 p_k ~ exp(c s_k / n)              what a vote adds on average, times c, is a log odds
    margin_over_guessing   p_k ~ exp(c s_k / n * u)          the same, where weights are K times an accuracy, minus 1

Here ~ means: divided by their sum. Shares are divided by their sum first. The power t is c for two classes, and in
general c + (1 - c) log(K - 1) / log(1e6): then K - 1 classes that a method calls impossible are together as probable as
one class that has all their 1e-6. With the power c alone, hundreds of classes that nobody named would together leave
nothing for the label; for the same reason, the number of imagined votes does not grow with the classes. The constant 1
leaves probabilities as they are.

u = log(K) / (K - 1) turns the weight of a perfect worker, K - 1, into log(K), which is what its vote says more than a
guess. Margins are divided by n because workers are not independent: a hundred votes do not make an answer ten times as
sure as ten votes do. All forms keep the order of the classes, so the label stays the class with the largest
probability, and a method's scores stay as they are.

The scores of the adjudicator are such probabilities already, by the form "pool": pooling.py has it.

The constants are in calibration.toml, which `python -m calibrate` writes; docs/confidence.md has what was measured.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, cast

import numpy as np

from ..kernels import Array
from .learned import chances
from .pooling import FLOOR as FLOOR  # the forms here have the same
from .pooling import Weights

# The meaning of scores; see `Result.scale`.
Scale = Literal["probability", "weight", "margin"]
Form = Literal["probability", "share", "margin", "margin_over_guessing", "pool"]

# The form for scores of each scale, for methods that have no constant and those that say nothing else.
FORMS: Final[Mapping[Scale, Form]] = {"probability": "probability", "weight": "share", "margin": "margin"}


@dataclass(frozen=True)
class Constant:
    """What turns the scores of a method into confidence.

    Attributes:
        form: Which of the forms above; None to choose it by the scale of the scores.
        value: c in the forms above; 1 for a pool.
        spread: How far mean confidence is from accuracy, on crowds that the constant was not fitted to; it is like a
            standard deviation of log odds. See `ExpectedAccuracy`.
        weights: ALPHA and GAMMA of a pool; None for the other forms.
    """

    form: Form | None
    value: float
    spread: float
    weights: Weights | None = None


def probabilities(calibrated_as: str, scale: Scale, scores: Array, votes: Array) -> Array:
    """Return (items, classes): the calibrated probability of every class; those of an item add up to one.

    What is said of an item depends on its own scores and votes alone.

    Args:
        calibrated_as: The name of the method's constant; see `Method.calibrated_as`. A method without one gets the
            constant 1.
        scale: The meaning of the scores; see `Result.scale`.
        scores: (items, classes).
        votes: (items), the number of votes.

    >>> scores, votes = np.array([[0.75, 0.25]]), np.array([4])
    >>> probabilities("a method of yours", "weight", scores, votes).round(3).tolist()
    [[0.7, 0.3]]
    """
    known = constant(calibrated_as)
    return transform(known.form or FORMS[scale], known.value, scores, votes)


def transform(form: Form, value: float, scores: Array, votes: Array) -> Array:
    """Return the probabilities that a form gives with this constant; see `probabilities`."""
    classes = scores.shape[1]
    counts = np.maximum(votes, 1)[:, None]
    others = max(classes - 1, 1)
    if form == "pool":
        return scores
    if form == "share":
        found = _shares(scores)
        found *= counts
        found += value / classes
        found /= counts + value
        return found
    if form == "probability":
        power = value + (1 - value) * np.log(others) / -np.log(FLOOR)
        return chances(power * np.log(np.maximum(scores, FLOOR)))
    unit = np.log(classes) / others if form == "margin_over_guessing" else 1.0
    return chances(value * unit * scores / counts)


def of_shares(calibrated_as: str, shares: Array, votes: Array, classes: int) -> Array:
    """Return (items): the calibrated probability of one class of each item, whose share of the votes is known.

    It is what `probabilities` returns for the scores of all classes, if these are the shares of votes.
    """
    value = constant(calibrated_as).value
    return np.asarray((votes * shares + value / classes) / (votes + value))


def constant(calibrated_as: str) -> Constant:
    """Return the constant of this name.

    If there is none, it is 1, and the spread is the largest of all: nothing is known of how sure the scores are.
    """
    constants = _constants()
    if calibrated_as in constants:
        return constants[calibrated_as]
    return Constant(None, 1.0, max(known.spread for known in constants.values()))


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
    """Read calibration.toml."""
    text = resources.files(__package__).joinpath("calibration.toml").read_text(encoding="utf-8")
    return {name: _constant(row) for name, row in tomllib.loads(text).items()}


def _constant(row: Mapping[str, Any]) -> Constant:
    weights = Weights(float(row["alpha"]), float(row["gamma"])) if "alpha" in row else None
    return Constant(cast(Form, row["form"]), float(row.get("constant", 1.0)), float(row["spread"]), weights)


def _shares(scores: Array) -> Array:
    """Return the scores of each item divided by their sum; equal shares if all scores are zero."""
    total = scores.sum(axis=1, keepdims=True)
    if (total > 0).all():
        return np.asarray(scores / total)
    return np.asarray(np.divide(scores, total, out=np.full_like(scores, 1 / scores.shape[1]), where=total > 0))
