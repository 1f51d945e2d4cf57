"""`log_loss`, `brier` and `overconfidence`: how well confidence keeps its word, given a known truth."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..crowd.reading_report import several
from ..numerics import Array
from ..reading.read_truth import read_truth
from ..results.in_parts import Inferred
from ..results.result import Result
from .evaluation import Matched, hits, match
from .pairing import require_result

# Probabilities below this count as this, so that a class that was called impossible and is true has a finite log loss.
_CLIP: Final = 1e-6


@dataclass(frozen=True)
class CalibrationMeasures:
    """Means over the items whose truth is known; for all of them, less is better, and zero is best.

    Attributes:
        log_loss: The negative logarithm of the probability of the true class.
        brier: The squared distance of the probabilities from those of somebody who knows the truth; at most 2.
        overconfidence: The confidence minus the share of right labels; negative if the labels are better than said.
    """

    log_loss: float
    brier: float
    overconfidence: float


def log_loss(result: Inferred, truth: Any) -> float:
    """Return the mean negative logarithm of the probability of the true class, calibrated.

    Probabilities below 1e-6 count as 1e-6. A true class that nobody named has the probability 0.

    Args:
        result: The result of a method.
        truth: The true labels: a path, a table, or a mapping from item to class.

    Raises:
        DataError: The truth has no item or no class in common with the labels.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 20, classes=3, seed=1)
    >>> log_loss(cw.BWA().fit(crowd.labels), crowd.truth) < 0.5
    True
    """
    return _measures(result, truth).log_loss


def brier(result: Inferred, truth: Any) -> float:
    """Return the mean Brier score of the calibrated probabilities; see `log_loss` for the arguments.

    It is the sum over the classes of the squared difference between the probability, and 1 for the true class or 0 for
    the others. A true class that nobody named has the probability 0.
    """
    return _measures(result, truth).brier


def overconfidence(result: Inferred, truth: Any) -> float:
    """Return the mean confidence minus the accuracy; see `log_loss` for the arguments.

    It is above zero if the labels are right less often than confidence says. Tied classes count as in `accuracy`.
    """
    return _measures(result, truth).overconfidence


def confidence_off(result: Result, known: Matched) -> str:
    """Return a sentence that says how many answers are right, and by how much confidence was off.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 20, classes=3, seed=1)
    >>> result = cw.MajorityVote().fit(crowd.labels)
    >>> confidence_off(result, match(result, crowd.truth))
    'Of 200 items with known truth, 90.8% are right; confidence said 66.5%, which is 24.3 points too low.'
    """
    right = float(hits(result, known).mean())
    said = float(result.confidence[known.items].mean())
    items = several(len(known.items), "item", "items")
    points = abs(round(100 * said, 1) - round(100 * right, 1))  # of what is shown, so that readers can check it
    off = f"{points:.1f} points too {'high' if said > right else 'low'}" if points > 0.05 else "as it should be"
    return f"Of {items} with known truth, {right:.1%} are right; confidence said {said:.1%}, which is {off}."


def measures(result: Result, known: Matched) -> CalibrationMeasures:
    """Return all measures of a result in memory, given the codes of the truth."""
    probabilities = result.probabilities[known.items]
    return measures_of(probabilities, result.answers[known.items], known.truths, hits(result, known))


def measures_of(probabilities: Array, answers: Array, truths: Array, right: Array) -> CalibrationMeasures:
    """Return all measures of probabilities.

    Args:
        probabilities: (items, classes).
        answers: (items), the code of the inferred label.
        truths: (items), the code of the true class; -1 if nobody named it.
        right: (items), whether the label is right, as `evaluation.hits` says.
    """
    rows = np.arange(len(truths))
    of_true = np.where(truths >= 0, probabilities[rows, truths], 0.0)
    return CalibrationMeasures(
        log_loss=float(-np.log(np.maximum(of_true, _CLIP)).mean()),
        brier=float(((probabilities**2).sum(axis=1) - 2 * of_true + 1).mean()),
        overconfidence=float(probabilities[rows, answers].mean() - right.mean()),
    )


def _measures(result: Inferred, truth: Any) -> CalibrationMeasures:
    require_result(result)
    known = read_truth(truth)
    measured = result.about(known["item"])
    return measures(measured, match(measured, known))
