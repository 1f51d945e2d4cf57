r"""`Recalibration`: fit confidence to one crowd, by random items of it whose class is known.

$$ p'_k = p_k^t / \sum_l p_l^t $$

Here p are the probabilities of the classes of an item, and t a power. Constants that are right for crowds on average
make confidence too high on one crowd and too low on another. The power is the most probable one, given items that the
method did not know the class of when it found their probabilities, and the prior log t ~ N(0, 0.5^2), so that a few
items change little. What gold of earlier labels says about log t is kept as a Gaussian (Laplace approximation of its
likelihood) and added to the prior. The order of the classes stays as it is. With more than 16 classes, `tempered` keeps
the many small probabilities from outweighing the large one.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..numerics import Array
from .calibration import MOST_CLASSES
from .scores import TIE

# The precision of log t before any item is known; its mean is 0.
_PRECISION: Final = 0.5**-2
# The logarithm of t is between minus this and this.
_LARGEST: Final = 3.0
# A probability is taken as this if it is smaller, so that one item does not decide.
_SMALLEST: Final = 1e-6
# The step of the differences that second derivatives are estimated from.
_STEP: Final = 1e-3


@dataclass(frozen=True)
class Recalibration:
    """The power t, and what it follows from.

    Attributes:
        power: What probabilities are raised to before they are divided by their sum again; below 1, the labels say less
            than they do on other crowds.
        taught: (2, 2), what known classes, also earlier ones, say about x = log t: the matrix [[L, h], [h, n]] of the
            log likelihood -L x^2 / 2 + h x of n items. It adds up over disjoint sets of items.
    """

    power: float
    taught: Array = field(default_factory=lambda: np.zeros((2, 2)), compare=False, repr=False)

    @property
    def items(self) -> float:
        """How many items of known class it was fitted to; earlier ones may count as less than one each."""
        return float(self.taught[1, 1])

    def apply(self, probabilities: Array) -> Array:
        """Return probabilities (items, classes) fitted to the crowd."""
        return tempered(probabilities, self.power)

    @classmethod
    def known(cls, taught: Array) -> "Recalibration":
        """Return the most probable power by known classes of earlier labels alone; see `taught`."""
        return cls._at(float(taught[0, 1] / (_PRECISION + taught[0, 0])), taught)

    @classmethod
    def fit(cls, probabilities: Array, truths: Array, earlier: "Recalibration | None" = None) -> "Recalibration":
        """Return the most probable power, given the true classes (items) of items.

        `probabilities` (items, classes) were found without knowing them; `earlier` is what gold of earlier labels says.
        """
        from scipy import optimize  # imported here because it is slow to import

        before = np.zeros((2, 2)) if earlier is None else earlier.taught

        def likelihood(place: float) -> float:
            found = cls._at(place, before).apply(probabilities)[np.arange(len(truths)), truths]
            # The sum does not depend on the order of the items, not even by rounding.
            return math.fsum(np.log(np.maximum(found, _SMALLEST)).tolist())

        def misfit(place: float) -> float:
            return float((_PRECISION + before[0, 0]) * place**2 / 2 - before[0, 1] * place) - likelihood(place)

        options: Any = {"xatol": 1e-5}
        best = float(
            optimize.minimize_scalar(misfit, bounds=(-_LARGEST, _LARGEST), method="bounded", options=options).x
        )
        around = likelihood(best - _STEP) - 2 * likelihood(best) + likelihood(best + _STEP)
        information = before[0, 0] + max(-around / _STEP**2, 0.0)
        slope = (_PRECISION + information) * best  # so that `known` returns this power again
        return cls._at(best, np.array([[information, slope], [slope, before[1, 1] + len(truths)]]))

    @classmethod
    def _at(cls, place: float, taught: Array) -> "Recalibration":
        return cls(float(np.exp(np.clip(place, -_LARGEST, _LARGEST))), taught)


def tempered(probabilities: Array, power: float) -> Array:
    """Return probabilities raised to a power and divided by their sum; below 1 they become less certain.

    Powers of many small probabilities would together outweigh a large one. So if there are more than 16 classes and the
    power is below 1, all but the 15 best of an item are taken for one class, whose part they share as before. Equal
    probabilities stay equal, and larger ones larger.

    >>> tempered(np.array([[0.9, 0.1]]), 0.5).round(2).tolist()
    [[0.75, 0.25]]
    """
    if power == 1 or len(probabilities) == 0:
        return probabilities
    n_classes = probabilities.shape[1]
    if n_classes <= MOST_CLASSES or power > 1:
        # Relative to the best class, so that no power is too small for a number.
        raised = (probabilities / probabilities.max(axis=1, keepdims=True)) ** power
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))
    last = np.partition(probabilities, n_classes - MOST_CLASSES, axis=1)[:, n_classes - MOST_CLASSES, None]
    # Classes that are tied with the last one are all among the rest, also if rounding makes them differ.
    best = probabilities > last * (1 + TIE)
    rest = np.where(best, 0.0, probabilities).sum(axis=1, keepdims=True)
    # Without anything left for the others, they keep nothing.
    shared = np.divide(rest**power, rest, out=np.zeros_like(rest), where=rest > 0)
    raised = np.where(best, probabilities**power, probabilities * shared)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
