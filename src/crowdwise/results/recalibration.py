r"""`Recalibration`: fit confidence to one crowd, by the items of it whose class is known.

$$ p'_k = (1 - f) \frac{p_k^t}{\sum_l p_l^t} + \frac{f}{K} $$

Here p are the probabilities of the K classes of an item, t a temperature, and f a floor: the share of items on which
the labels say nothing. Constants that are right for crowds on average make confidence too high on one crowd and too low
on another. Both numbers are the most probable ones, given items that the method did not know the class of when it found
their probabilities, and the priors log t ~ N(0, 0.7^2) and logit f ~ N(-4, 1.5^2), so that a few items change little.
The order of the classes stays as it is. With more than 16 classes, `tempered` keeps the many small probabilities from
outweighing the large one.
"""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Recalibration:
    """A temperature and a floor.

    Attributes:
        temperature: The power that probabilities are raised to before they are divided by their sum again; below 1, the
            labels say less than they do on other crowds.
        floor: The share of the probability that all classes have alike.
    """

    temperature: float
    floor: float

    def apply(self, probabilities: Array) -> Array:
        """Return probabilities (items, classes) fitted to the crowd."""
        shares = tempered(probabilities, self.temperature)
        return np.asarray((1 - self.floor) * shares + self.floor / probabilities.shape[1])

    @classmethod
    def fit(cls, probabilities: Array, truths: Array) -> "Recalibration":
        """Return the most probable temperature and floor.

        Args:
            probabilities: (items, classes), found without knowing the classes of these items.
            truths: (items), the true classes.
        """
        from scipy import optimize  # imported here because it is slow to import

        def misfit(place: Array) -> float:
            log_temperature, logit = place
            found = cls._at(log_temperature, logit).apply(probabilities)
            likelihood = np.log(np.maximum(found[np.arange(len(truths)), truths], _SMALLEST)).sum()
            priors = (log_temperature / _TEMPERATURE_SPREAD) ** 2 + ((logit - _FLOOR_MEAN) / _FLOOR_SPREAD) ** 2
            return float(priors / 2 - likelihood)

        start = np.array([0.0, _FLOOR_MEAN])
        corners = start + np.array([[0.0, 0.0], [_TEMPERATURE_SPREAD, 0.0], [0.0, _FLOOR_SPREAD]])
        options: Any = {"initial_simplex": corners, "xatol": 1e-4, "fatol": 1e-6}
        found = optimize.minimize(misfit, start, method="Nelder-Mead", options=options)
        return cls._at(*found.x)

    @classmethod
    def _at(cls, log_temperature: float, logit: float) -> "Recalibration":
        return cls(float(np.exp(np.clip(log_temperature, -5, 5))), float(1 / (1 + np.exp(-np.clip(logit, -30, 30)))))
