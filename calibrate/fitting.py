"""Fits the constant of a method by log loss, and measures it on the crowds of each family that it was not fitted to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize_scalar

from crowdwise.analysis.calibration_measures import CalibrationMeasures, measures_of
from crowdwise.kernels import Array
from crowdwise.results.calibration import FORMS, Constant, Form, transform
from crowdwise.results.tempering import tempered

from .measuring import Measured
from .spread import LeftOut, covered, spread

# Methods that say in another way than by their scale what their scores are.
_FORMS: Final[dict[str, Form]] = {
    "mv": "share",  # shares of votes, which are called probabilities
    "iwmv": "margin_over_guessing",
    "la": "margin_over_guessing",
}
# The answers of this method have a temperature already, which is a parameter of the method. So the constant is not
# fitted; the spread is measured as for all others.
CALIBRATES_ITSELF: Final = "adjudicator"

# Constants lie between these, and are looked for on a logarithmic scale. The log loss of a crowd is computed at this
# many constants; a spline through these points is then minimised, which is as exact and much faster.
_LOWEST, _HIGHEST, _POINTS = 0.01, 30.0, 81
# Constants are rounded to this many digits, so that rounding errors of another machine do not change the file.
_DIGITS: Final = 4


@dataclass(frozen=True, eq=False)
class CrowdScores:
    """What a method says of one crowd, in one form of calibration."""

    measured: Measured
    form: Form

    def calibrated(self, value: float) -> Array:
        """Return the probabilities with this constant."""
        return transform(self.form, value, self.measured.scores, self.measured.votes)

    def measures(self, probabilities: Array) -> CalibrationMeasures:
        """Measure probabilities against the truth."""
        return measures_of(probabilities, self.measured.answers, self.measured.truths, self.measured.hits)

    @property
    def uncalibrated(self) -> Array:
        """What the scores say by themselves: as they are, divided by their sum if they are weights."""
        return self.calibrated(0.0 if self.form == "share" else 1.0)

    @cached_property
    def losses(self) -> Array:
        """The log loss at each of `_points()`."""
        return np.array([self.measures(self.calibrated(math.exp(point))).log_loss for point in _points()])


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was found out about one method.

    Attributes:
        constant: The constant, fitted to all crowds.
        crowds: What the method says of each crowd.
        left_out: The constants that were fitted without the family of each crowd.
        coverage: How often the interval of the expected accuracy holds the accuracy, with constants and spreads that
            come from other families; each family weighs the same.
    """

    constant: Constant
    crowds: Sequence[CrowdScores]
    left_out: Sequence[float]
    coverage: float

    @property
    def families(self) -> list[str]:
        """The family of each crowd."""
        return [crowd.measured.family for crowd in self.crowds]


def fit(name: str, measured: Sequence[Measured]) -> Fitted:
    """Fit the constant of a method, and measure it on families that it was not fitted to.

    Args:
        name: The name of the constant.
        measured: What the method says of the crowds.
    """
    form = _FORMS.get(name, FORMS[measured[0].scale])
    crowds = [CrowdScores(one, form) for one in measured]
    families = {one.family for one in measured}
    without = {family: _fit([one for one in crowds if one.measured.family != family], name) for family in families}
    left_out = [without[one.family] for one in measured]
    gaps = [_left_out(crowd, value) for crowd, value in zip(crowds, left_out, strict=True)]
    constant = Constant(form, _rounded(_fit(crowds, name)), _rounded(spread(gaps)))
    return Fitted(constant, crowds, left_out, covered(gaps))


def own_temperature(measured: Sequence[Measured]) -> float:
    """Return the power of the adjudicator's answers, as they are measured, that would have the lowest log loss.

    It is one if its temperature is what would be fitted to these crowds.
    """
    crowds = [CrowdScores(one, "probability") for one in measured]
    families = [one.family for one in measured]

    def loss(power: float) -> float:
        losses = [crowd.measures(tempered(crowd.measured.scores, power)).log_loss for crowd in crowds]
        return by_family(families, losses)

    return float(minimize_scalar(loss, bounds=(0.3, 3.0), method="bounded", options={"xatol": 1e-3}).x)


def by_family(families: Sequence[str], values: Sequence[float]) -> float:
    """Return the mean of a value for each crowd, in which every family weighs the same.

    >>> by_family(["css", "css", "rte"], [1.0, 3.0, 4.0])
    3.0
    """
    found: dict[str, list[float]] = {}
    for family, value in zip(families, values, strict=True):
        found.setdefault(family, []).append(value)
    return math.fsum(math.fsum(group) / len(group) for group in found.values()) / len(found)


def _fit(crowds: Sequence[CrowdScores], name: str) -> float:
    """Return the constant with the lowest log loss, averaged over the families."""
    if name == CALIBRATES_ITSELF:
        return 1.0
    families = [crowd.measured.family for crowd in crowds]
    losses = np.array([crowd.losses for crowd in crowds])
    means = [by_family(families, column.tolist()) for column in losses.T]
    ends = (math.log(_LOWEST), math.log(_HIGHEST))
    curve = CubicSpline(_points(), means)
    found = minimize_scalar(lambda point: float(curve(point)), bounds=ends, method="bounded", options={"xatol": 1e-6})
    return math.exp(float(found.x))


def _left_out(crowd: CrowdScores, value: float) -> LeftOut:
    measured = crowd.measured
    accuracy = float(measured.hits.mean())
    mean = crowd.measures(crowd.calibrated(value)).overconfidence + accuracy
    return LeftOut(measured.family, mean, accuracy, len(measured.hits))


def _points() -> Array:
    return np.linspace(math.log(_LOWEST), math.log(_HIGHEST), _POINTS)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
