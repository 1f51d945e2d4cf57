"""`ExpectedAccuracy`: how many inferred labels are right, as far as can be told without a truth, with intervals.

Two things make the share of right labels differ from the mean confidence m of N items: chance, and that confidence is
right on average over crowds, but not on each of them. The interval is that of intervals.py for N observations; SPREAD
is how far off other crowds were (results/calibration.toml has it for each method), z the quantile for its level.
Confidence that was fitted to g random items of known class is closer: with sigma^-2 = (SPREAD / z)^-2 + 4 g, SPREAD is
z sigma.
"""

import math
from dataclasses import dataclass
from typing import Final

from . import calibration
from .intervals import arcsine_interval

# The quantiles of the normal distribution for intervals of so many percent.
QUANTILES: Final = {80: 1.2816, 95: 1.96}
# With fewer items there is no interval.
FEWEST_ITEMS: Final = 20


@dataclass(frozen=True)
class ExpectedAccuracy:
    """The share of the inferred labels that is expected to be right.

    The ends of intervals are None if there are fewer than 20 items.

    Attributes:
        value: The mean confidence of all labels that were inferred, not given as gold.
        low, high: The ends of a 95 % interval.
        low_80, high_80: The ends of an 80 % interval, which is the one that is shown.
    """

    value: float
    low: float | None
    high: float | None
    low_80: float | None
    high_80: float | None

    @property
    def interval(self) -> str:
        """What the 80 % interval says, in words."""
        if self.low_80 is None or self.high_80 is None:
            return f"no interval: there are fewer than {FEWEST_ITEMS} items"
        if self.low_80 == 1:
            return "all classes were given"
        low, high = math.floor(100 * self.low_80 + 0.5), math.floor(100 * self.high_80 + 0.5)
        return f"in four of five crowds the share right is between {low} and {high} %"

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.interval})"

    @classmethod
    def of(cls, confidence: float, items: int, calibrated_as: str, gold: float = 0) -> "ExpectedAccuracy":
        """Return the expected accuracy, given the sum of the confidences of the items whose class is not known.

        `gold` is the number of random items of known class that confidence was fitted to.
        """
        if items == 0:
            return cls(1.0, 1.0, 1.0, 1.0, 1.0)  # all classes are known
        mean = min(confidence / items, 1.0)
        if items < FEWEST_ITEMS:
            return cls(mean, None, None, None, None)
        spreads = calibration.constant(calibrated_as).spreads
        return cls(
            mean,
            *interval(mean, items, fitted_spread(spreads[95], 95, gold), 95),
            *interval(mean, items, fitted_spread(spreads[80], 80, gold), 80),
        )


def fitted_spread(spread: float, level: int, gold: float) -> float:
    """Return SPREAD after confidence was fitted to so many random items of known class."""
    if gold == 0:
        return spread
    z = QUANTILES[level]
    return z / math.sqrt((spread / z) ** -2 + 4 * gold)


def interval(mean: float, items: int, spread: float, level: int) -> tuple[float, float]:
    """Return the ends of an interval of 80 or 95 percent for the share of labels that is right.

    >>> [round(end, 2) for end in interval(0.69, 1000, 0.157, 80)], [round(end, 2) for end in interval(0.8, 100, 0, 95)]
    ([0.54, 0.82], [0.72, 0.87])
    """
    low, high = arcsine_interval(mean, items, spread, QUANTILES[level])
    return float(low), float(high)
