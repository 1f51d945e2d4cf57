"""`ExpectedAccuracy`: how many inferred labels are right, as far as can be told without a truth, with an interval."""

import math
from dataclasses import dataclass

from . import calibration
from .intervals import NORMAL, wilson


@dataclass(frozen=True)
class ExpectedAccuracy:
    """The share of the inferred labels that is expected to be right.

    Attributes:
        value: The mean confidence of all labels that were inferred, not given as gold.
        low: The lower end of a 95 % interval.
        high: The upper end of it.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, confidence: float, items: int, calibrated_as: str, gold: float = 0) -> "ExpectedAccuracy":
        """Return the expected accuracy of labels.

        Args:
            confidence: The sum of the confidences of all items whose class is not known.
            items: The number of these items.
            calibrated_as: The name of the method's constant; see `Method.calibrated_as`.
            gold: The number of items of known class that confidence was fitted to; they say how far off it is.
        """
        if items == 0:
            return cls(1.0, 1.0, 1.0)  # all classes are known
        mean = min(confidence / items, 1.0)
        spread = calibration.constant(calibrated_as).spread
        # The information about log odds: what other crowds say, and what so many items of this crowd say.
        spread = (spread**-2 + gold * mean * (1 - mean)) ** -0.5
        return cls(mean, *interval(mean, items, spread))


def interval(mean: float, items: int, spread: float) -> tuple[float, float]:
    """Return the ends of a 95 % interval for the share of labels that is right.

    Two things make this share differ from the mean confidence. By chance, more or fewer of the items are right than
    expected: Wilson's interval. And confidence is right on average over crowds, but not on each of them. The distances
    of the ends of both intervals from the mean add up as squares do (Zou and Donner, 2008,
    https://doi.org/10.1002/sim.3095).

    Args:
        mean: The mean confidence.
        items: The number of items.
        spread: How far off the mean confidence is on other crowds, like a standard deviation of log odds.

    >>> [round(end, 2) for end in interval(0.8, 100, 0.0)], [round(end, 2) for end in interval(0.8, 10**6, 0.7)]
    ([0.71, 0.87], [0.5, 0.94])
    """
    _, low, high = wilson(mean * items, items)
    factor = math.exp(NORMAL * spread)  # of the odds
    below, above = mean / (mean + (1 - mean) * factor), mean * factor / (mean * factor + 1 - mean)
    return (
        max(0.0, mean - math.hypot(mean - low, mean - below)),
        min(1.0, mean + math.hypot(high - mean, above - mean)),
    )
