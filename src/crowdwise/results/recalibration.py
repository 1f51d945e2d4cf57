r"""`Recalibration`: fit confidence to one crowd, by the items of it whose class is known.

$$ p'_k = (1 - f) \frac{p_k^t}{\sum_l p_l^t} + \frac{f}{K} $$

Here p are the probabilities of the K classes of an item, t a temperature, and f a floor: the share of items on which
the labels say nothing. Constants that are right for crowds on average make confidence too high on one crowd and too low
on another. Both numbers are the most probable ones, given items that the method did not know the class of when it found
their probabilities, and the priors log t ~ N(0, 0.7^2) and logit f ~ N(-4, 1.5^2), so that a few items change little.
What gold of earlier labels says about (log t, logit f) is kept as a Gaussian (Laplace approximation of its likelihood)
and added to the priors. The order of the classes stays as it is. With more than 16 classes, `tempered` keeps the many
small probabilities from outweighing the large one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..kernels import Array
from .tempering import tempered

# The standard deviation of log t, and the mean and the standard deviation of logit f, before any item is known.
_TEMPERATURE_SPREAD: Final = 0.7
_FLOOR_MEAN: Final = -4.0
_FLOOR_SPREAD: Final = 1.5
# A probability is taken as this if it is smaller, so that one item does not decide.
_SMALLEST: Final = 1e-6
# The mean and the precision of (log t, logit f) before any item is known.
_MEAN: Final = np.array([0.0, _FLOOR_MEAN])
_PRECISION: Final = np.diag([_TEMPERATURE_SPREAD**-2, _FLOOR_SPREAD**-2])
# The step of the differences that second derivatives are estimated from.
_STEP: Final = 1e-3


@dataclass(frozen=True)
class Recalibration:
    """A temperature and a floor.

    Attributes:
        temperature: The power that probabilities are raised to before they are divided by their sum again; below 1, the
            labels say less than they do on other crowds.
        floor: The share of the probability that all classes have alike.
        taught: (3, 3), what known classes, also earlier ones, say about x = (log t, logit f): the matrix
            [[L, h], [h, n]] of the log likelihood -x L x / 2 + h x of n items. It adds up over disjoint sets of items.
    """

    temperature: float
    floor: float
    taught: Array = field(default_factory=lambda: np.zeros((3, 3)), compare=False, repr=False)

    @property
    def items(self) -> float:
        """How many items of known class it was fitted to; earlier ones may count as less than one each."""
        return float(self.taught[2, 2])

    def apply(self, probabilities: Array) -> Array:
        """Return probabilities (items, classes) fitted to the crowd."""
        shares = tempered(probabilities, self.temperature)
        return np.asarray((1 - self.floor) * shares + self.floor / probabilities.shape[1])

    @classmethod
    def known(cls, taught: Array) -> "Recalibration":
        """Return the most probable temperature and floor by known classes of earlier labels alone; see `taught`."""
        place = np.linalg.solve(_PRECISION + taught[:2, :2], _PRECISION @ _MEAN + taught[:2, 2])
        return cls._at(place, taught)

    @classmethod
    def fit(cls, probabilities: Array, truths: Array, earlier: "Recalibration | None" = None) -> "Recalibration":
        """Return the most probable temperature and floor.

        Args:
            probabilities: (items, classes), found without knowing the classes of these items.
            truths: (items), the true classes.
            earlier: What known classes of earlier labels say; None if there are none.
        """
        from scipy import optimize  # imported here because it is slow to import

        before = np.zeros((3, 3)) if earlier is None else earlier.taught

        def likelihood(place: Array) -> float:
            found = cls._at(place, before).apply(probabilities)
            return float(np.log(np.maximum(found[np.arange(len(truths)), truths], _SMALLEST)).sum())

        def misfit(place: Array) -> float:
            away = place - _MEAN
            known = place @ before[:2, :2] @ place / 2 - before[:2, 2] @ place
            return float(away @ _PRECISION @ away / 2 + known) - likelihood(place)

        corners = _MEAN + np.array([[0.0, 0.0], [_TEMPERATURE_SPREAD, 0.0], [0.0, _FLOOR_SPREAD]])
        options: Any = {"initial_simplex": corners, "xatol": 1e-4, "fatol": 1e-6}
        best = np.asarray(optimize.minimize(misfit, _MEAN, method="Nelder-Mead", options=options).x)
        taught = before.copy()
        taught[:2, :2] += _information(likelihood, best)
        # So that `known` returns this temperature and floor again.
        taught[:2, 2] = (_PRECISION + taught[:2, :2]) @ best - _PRECISION @ _MEAN
        taught[2, :2] = taught[:2, 2]
        taught[2, 2] += len(truths)
        return cls._at(best, taught)

    @classmethod
    def _at(cls, place: Array, taught: Array) -> "Recalibration":
        log_temperature, logit = np.clip(place, [-5, -30], [5, 30])
        return cls(float(np.exp(log_temperature)), float(1 / (1 + np.exp(-logit))), taught)


def _information(likelihood: Callable[[Array], float], place: Array) -> Array:
    """(2, 2), minus the second derivatives of a log likelihood, without directions in which it is not concave."""
    steps = _STEP * np.eye(2)
    second = np.array(
        [
            [sum(a * b * likelihood(place + a * one + b * other) for a in (-1, 1) for b in (-1, 1)) for other in steps]
            for one in steps
        ]
    ) / (4 * _STEP**2)
    values, vectors = np.linalg.eigh(-(second + second.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)
