"""How far mean confidence is from accuracy on crowds that the constant was not fitted to, and what intervals follow."""

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from scipy.optimize import brentq

from crowdwise.results.expected_accuracy import interval

# No spread is larger than this; an interval is then from 0 to 1.
_LARGEST: Final = 10.0
_COVERAGE: Final = 0.95


class LeftOut(NamedTuple):
    """A crowd whose family the constant was not fitted to.

    Attributes:
        family: The family of the crowd.
        confidence: The mean confidence.
        accuracy: The share of right labels.
        items: The number of items whose truth is known.
    """

    family: str
    confidence: float
    accuracy: float
    items: int

    def inside(self, spread: float) -> bool:
        """Return whether the interval of the expected accuracy holds the accuracy, with this spread."""
        low, high = interval(self.confidence, self.items, spread)
        return low <= self.accuracy <= high

    @property
    def needed(self) -> float:
        """The smallest spread with which the interval holds the accuracy."""
        if self.inside(0.0):
            return 0.0

        def missing(spread: float) -> float:
            low, high = interval(self.confidence, self.items, spread)
            return max(low - self.accuracy, self.accuracy - high)

        if missing(_LARGEST) > 0:
            return _LARGEST
        return float(brentq(missing, 0.0, _LARGEST, xtol=1e-9))


def spread(crowds: Sequence[LeftOut]) -> float:
    """Return the smallest spread with which 95 % of a new family's crowds would be inside their intervals.

    It is the quantile of conformal prediction: if the new family is as these are, its crowds are inside at least that
    often, whatever the distribution is. Every family weighs the same, and a family not seen yet is one more of them.
    """
    sizes = Counter(crowd.family for crowd in crowds)
    wanted = _COVERAGE * (len(sizes) + 1)
    total = 0.0
    ranked = sorted((crowd.needed, 1 / sizes[crowd.family]) for crowd in crowds)
    for needed, weight in ranked:
        total += weight
        if total >= wanted - 1e-9:
            return needed
    return ranked[-1][0]


def covered(crowds: Sequence[LeftOut]) -> float:
    """Return how often a crowd is inside its interval, where its family has no part in the spread.

    Every family weighs the same.
    """
    sizes = Counter(crowd.family for crowd in crowds)
    total = 0.0
    for family in sizes:
        found = spread([crowd for crowd in crowds if crowd.family != family])
        total += sum(crowd.inside(found) for crowd in crowds if crowd.family == family) / sizes[family]
    return total / len(sizes)
