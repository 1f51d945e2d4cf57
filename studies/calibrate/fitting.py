"""Fits the constants of a method by log loss, and measures them on families that they were not fitted to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import CubicSpline, RectBivariateSpline
from scipy.optimize import minimize, minimize_scalar

from crowdwise.analysis.calibration_measures import CalibrationMeasures, measures_of
from crowdwise.numerics import Array
from crowdwise.results.calibration import FORMS, LEVELS, Constant, Form, Weights, pooled, transform
from crowdwise.results.scores import TIE

from .measuring import Measured
from .spread import LeftOut, covered, spread

# The constants of a form: one, or ALPHA and GAMMA of a pool.
Values: TypeAlias = tuple[float, ...]

# Methods that say in another way than by their scale what their scores are.
_FORMS: Final[dict[str, tuple[Form, ...]]] = {
    "adjudicator": ("pool",),
    "mv": ("share",),  # shares of votes, which are called probabilities
    "iwmv": ("margin_over_guessing",),
    "la": ("margin_over_guessing",),
}
# Forms that are tried for probabilities; the one with the lower log loss on families that were left out is taken.
_OF_PROBABILITIES: Final[tuple[Form, ...]] = ("probability", "evidence")

# One constant lies between these, and is looked for on a logarithmic scale. The log loss of a crowd is computed at this
# many constants; a spline through these points is then minimised, which is as exact and much faster.
_LOWEST, _HIGHEST, _POINTS = 0.05, 12.0, 33
# ALPHA and GAMMA are looked for in the same way, on a grid around those of the specification, .26 and .53.
_ALPHAS, _GAMMAS = np.linspace(0.14, 0.38, 7), np.linspace(0.29, 0.77, 7)
# Constants are rounded to this many digits, so that rounding errors of another machine do not change the file. ALPHA
# and GAMMA are known to no more than two.
_DIGITS, _WEIGHT_DIGITS = 4, 2


class Outcome(NamedTuple):
    """What is said of the items of a crowd with some constants.

    Attributes:
        probabilities: (items, classes).
        answers: (items), the code of the label.
        hits: (items), 1 if the label is right and 0 if it is not; of m tied classes, each counts 1/m.
        measures: How well confidence keeps its word.
    """

    probabilities: Array
    answers: Array
    hits: Array
    measures: CalibrationMeasures


@dataclass(frozen=True, eq=False)
class CrowdScores:
    """What a method says of one crowd, in one form of calibration."""

    measured: Measured
    form: Form

    def outcome(self, values: Values) -> Outcome:
        """Return what is said with these constants; the label is that of the method, or the best one of a pool."""
        one = self.measured
        if self.form != "pool":
            found = transform(self.form, values[0], one.scores, one.votes, one.density)
            return self._outcome(found, one.answers, one.hits)
        assert one.parts is not None, "the crowd has no parts of a pool"
        found = pooled(one.parts, one.density, Weights(*values))
        best = found.max(axis=1, keepdims=True)
        wins = found >= best * (1 - TIE)
        hits = (wins[np.arange(len(wins)), one.truths] & (one.truths >= 0)) / wins.sum(axis=1)
        return self._outcome(found, found.argmax(axis=1), hits)

    @property
    def uncalibrated(self) -> Outcome:
        """What the scores say by themselves: as they are, divided by their sum if they are weights.

        For a pool, it is the answer alone.
        """
        one = self.measured
        if self.form == "pool":
            assert one.parts is not None, "the crowd has no parts of a pool"
            return self._outcome(one.parts[0], one.answers, one.hits)
        form: Form = "probability" if self.form == "evidence" else self.form
        found = transform(form, 0.0 if form == "share" else 1.0, one.scores, one.votes, one.density)
        return self._outcome(found, one.answers, one.hits)

    def _outcome(self, found: Array, answers: Array, hits: Array) -> Outcome:
        return Outcome(found, answers, hits, measures_of(found, answers, self.measured.truths, hits))

    @cached_property
    def losses(self) -> Array:
        """The log loss at each of the constants that are tried; see `_tried`."""
        return np.array([self.outcome(values).measures.log_loss for values in _tried(self.form)])


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was found out about one method.

    Attributes:
        constant: The constants, fitted to all crowds.
        crowds: What the method says of each crowd.
        left_out: The constants that were fitted without the family of each crowd.
        ranges: The smallest and the largest value of each constant in these fits.
        coverage: How often the interval of the expected accuracy holds the accuracy, for each level, with constants and
            spreads that come from other families; each family weighs the same.
        tried: The log loss on families that were left out, for each form that was tried.
    """

    constant: Constant
    crowds: Sequence[CrowdScores]
    left_out: Sequence[Values]
    ranges: Sequence[tuple[float, float]]
    coverage: dict[int, float]
    tried: dict[Form, float]

    @property
    def families(self) -> list[str]:
        """The family of each crowd."""
        return [crowd.measured.family for crowd in self.crowds]

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """What is said of each crowd with the constants that were fitted without its family."""
        return [crowd.outcome(values) for crowd, values in zip(self.crowds, self.left_out, strict=True)]


def fit(name: str, measured: Sequence[Measured]) -> Fitted:
    """Fit the constants of a method, and measure them on families that they were not fitted to.

    Args:
        name: The name of the constant.
        measured: What the method says of the crowds.
    """
    own: Form = FORMS[measured[0].scale]
    forms = _FORMS.get(name, _OF_PROBABILITIES if own == "probability" else (own,))
    fits = [_fit_form(form, measured) for form in forms]
    families = [one.family for one in measured]
    tried = {
        one.constant.form: by_family(families, [found.measures.log_loss for found in one.outcomes])
        for one in fits
        if one.constant.form is not None
    }
    best = min(fits, key=lambda one: tried[one.constant.form or own])
    best.tried.update(tried)
    return best


def by_family(families: Sequence[str], values: Sequence[float]) -> float:
    """Return the mean of a value for each crowd, in which every family weighs the same.

    >>> by_family(["css", "css", "rte"], [1.0, 3.0, 4.0])
    3.0
    """
    found: dict[str, list[float]] = {}
    for family, value in zip(families, values, strict=True):
        found.setdefault(family, []).append(value)
    return math.fsum(math.fsum(group) / len(group) for group in found.values()) / len(found)


def _fit_form(form: Form, measured: Sequence[Measured]) -> Fitted:
    """Fit the constants of one form."""
    crowds = [CrowdScores(one, form) for one in measured]
    best = _best(crowds)
    without = {
        family: _best([one for one in crowds if one.measured.family != family])
        for family in {one.family for one in measured}
    }
    left_out = [without[one.family] for one in measured]
    gaps = [_left_out(crowd, values) for crowd, values in zip(crowds, left_out, strict=True)]
    spreads = {level: _rounded(spread(gaps, level), _DIGITS) for level in LEVELS}
    coverage = {level: covered(gaps, level) for level in LEVELS}
    digits = _WEIGHT_DIGITS if form == "pool" else _DIGITS
    values = [_rounded(value, digits) for value in best]
    weights = Weights(*values) if form == "pool" else None
    constant = Constant(form, values[0] if weights is None else 1.0, spreads, weights)
    ranges = [(_rounded(min(each), _DIGITS), _rounded(max(each), _DIGITS)) for each in zip(*left_out, strict=True)]
    return Fitted(constant, crowds, left_out, ranges, coverage, {})


def _left_out(crowd: CrowdScores, values: Values) -> LeftOut:
    outcome = crowd.outcome(values)
    accuracy = float(outcome.hits.mean())
    confidence = outcome.measures.overconfidence + accuracy
    return LeftOut(crowd.measured.family, min(confidence, 1.0), accuracy, len(outcome.hits))


def _best(crowds: Sequence[CrowdScores]) -> Values:
    """Return the constants with the lowest log loss, averaged over the families."""
    families, form = [crowd.measured.family for crowd in crowds], crowds[0].form
    losses = np.array([crowd.losses for crowd in crowds])
    means = np.array([by_family(families, column.tolist()) for column in losses.T])
    if form == "pool":
        surface = RectBivariateSpline(_ALPHAS, _GAMMAS, means.reshape(len(_ALPHAS), len(_GAMMAS)))
        ends = [(float(grid[0]), float(grid[-1])) for grid in (_ALPHAS, _GAMMAS)]
        start = list(_tried(form)[int(means.argmin())])

        def height(at: Any) -> float:
            return float(surface(*at)[0, 0])

        weights = minimize(height, start, bounds=ends, method="Nelder-Mead", tol=1e-6).x
        return tuple(float(value) for value in weights)
    curve = CubicSpline(np.log([values[0] for values in _tried(form)]), means)
    interval = (math.log(_LOWEST), math.log(_HIGHEST))
    found = minimize_scalar(lambda at: float(curve(at)), bounds=interval, method="bounded", options={"xatol": 1e-6})
    return (math.exp(float(found.x)),)


def _tried(form: Form) -> list[Values]:
    """Return the constants at which the log loss is computed."""
    if form == "pool":
        return [(float(alpha), float(gamma)) for alpha in _ALPHAS for gamma in _GAMMAS]
    return [(math.exp(point),) for point in np.linspace(math.log(_LOWEST), math.log(_HIGHEST), _POINTS)]


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
