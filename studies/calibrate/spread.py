"""How far mean confidence is from accuracy on crowds that the constant was not fitted to, and what intervals follow."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from crowdwise.results.expected_accuracy import QUANTILES


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

    def needed(self, level: int) -> float:
        """Return the smallest spread with which the interval of this level holds the accuracy."""
        error = math.asin(math.sqrt(self.accuracy)) - math.asin(math.sqrt(self.confidence))
        return math.sqrt(max(error**2 - QUANTILES[level] ** 2 / (4 * self.items), 0.0))


def spread(crowds: Sequence[LeftOut], level: int) -> float:
    """Return the smallest spread with which so many percent of new families' crowds would be inside their intervals.

    It is the quantile of conformal prediction: if the new family is as these are, its crowds are inside at least that
    often, whatever the distribution is. Every family weighs the same, and a family not seen yet is one more of them.
    """
    sizes = Counter(crowd.family for crowd in crowds)
    wanted = level / 100 * (len(sizes) + 1)
    total = 0.0
    ranked = sorted((crowd.needed(level), 1 / sizes[crowd.family]) for crowd in crowds)
    for needed, weight in ranked:
        total += weight
        if total >= wanted - 1e-9:
            return needed
    return ranked[-1][0]


def covered(crowds: Sequence[LeftOut], level: int) -> float:
    """Return how often a crowd is inside its interval, where its family has no part in the spread.

    Every family weighs the same.
    """
    sizes = Counter(crowd.family for crowd in crowds)
    total = 0.0
    for family in sizes:
        found = spread([crowd for crowd in crowds if crowd.family != family], level)
        inside = sum(crowd.needed(level) <= found for crowd in crowds if crowd.family == family)
        total += inside / sizes[family]
    return total / len(sizes)
