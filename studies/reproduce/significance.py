"""Statistical tests of methods: Wilcoxon, Holm's correction, Friedman and Nemenyi."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Vector = NDArray[np.float64]

# Accuracies are rounded to this many decimals before they are compared. They are fractions with the number of items as
# the denominator, so a smaller difference is a rounding error.
_DECIMALS: Final = 9


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed rank test of a method against a baseline.

    Attributes:
        ranks: The ranks of the differences that are not zero, by their absolute value.
        minus: W-, the sum of the ranks where the method is worse.
        plus: W+, the sum of the ranks where the method is better.
    """

    ranks: Vector
    minus: float
    plus: float

    @classmethod
    def of(cls, method: Sequence[float], baseline: Sequence[float]) -> "SignedRanks":
        """Compare the accuracies of a method and of a baseline on the same datasets.

        >>> SignedRanks.of([0.8, 0.7, 0.6], [0.7, 0.7, 0.62]).minus
        1.0
        """
        difference = np.round(np.subtract(method, baseline), _DECIMALS)
        difference = difference[difference != 0]
        ranks = stats.rankdata(np.abs(difference))
        return cls(ranks, float(ranks[difference < 0].sum()), float(ranks[difference > 0].sum()))

    @property
    def n(self) -> int:
        """N_r, the number of differences that are not zero."""
        return len(self.ranks)

    @property
    def smaller(self) -> float:
        """The smaller of W- and W+, which SciPy gives as the statistic and the paper's table calls W-."""
        return min(self.minus, self.plus)

    @property
    def exact_p(self) -> float:
        """The exact one-sided p: of all ways to choose the signs, the share whose W- is this small or smaller.

        A small p means that the method is better than the baseline.
        """
        # Tied differences have ranks such as 2.5, so the ranks are doubled to be whole numbers.
        doubled = np.rint(2 * self.ranks).astype(np.int64)
        ways = np.zeros(int(doubled.sum()) + 1)
        ways[0] = 1.0
        for rank in doubled:
            ways[rank:] += ways[: len(ways) - rank].copy()
        return float(ways[: round(2 * self.minus) + 1].sum() / ways.sum())


def normal_p(n: int, w: float) -> float:
    """Return p as the paper computes it from N_r and W.

    It is the normal approximation, without corrections for continuity and for ties.

    >>> round(normal_p(18, 39), 4)
    0.0214
    """
    if n == 0:  # all accuracies are the same
        return 1.0
    return float(stats.norm.cdf((w - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))


def level(n: int, w: float) -> str:
    """Return the level at which W is significant by the exact one-sided test: * (0.1), ** (0.05) or *** (0.025).

    It is "" if W is not significant.

    >>> level(18, 39), level(19, 91)
    ('***', '')
    """
    ranks = SignedRanks(np.arange(1.0, n + 1), w, n * (n + 1) / 2 - w)
    return "".join("*" for bound in (0.1, 0.05, 0.025) if ranks.exact_p <= bound)


def holm(values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests, by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(values)
    scaled = np.asarray(values)[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return [float(value) for value in adjusted]


@dataclass(frozen=True)
class Ranking:
    """The ranks of several methods on several datasets.

    Attributes:
        average: The average rank of every method, the best method first; rank 1 is best.
        datasets: The number of datasets.
        friedman_p: The p-value of Friedman's test of the hypothesis that all methods are equally good.
        critical_difference: Two methods are different by Nemenyi's test at level 0.05 if their average ranks differ by
            at least this much.
    """

    average: Mapping[str, float]
    datasets: int
    friedman_p: float
    critical_difference: float

    @classmethod
    def of(cls, accuracies: Mapping[str, Sequence[float]]) -> "Ranking":
        """Rank methods by their accuracies on the same datasets; equal methods have the mean of their ranks."""
        table = np.round(np.array(list(accuracies.values())), _DECIMALS)
        count, datasets = table.shape
        ranks = stats.rankdata(-table, axis=0).mean(axis=1)
        average = dict(sorted(zip(accuracies, map(float, ranks), strict=True), key=lambda pair: pair[1]))
        studentized = float(stats.studentized_range.ppf(0.95, count, np.inf)) / math.sqrt(2)
        difference = studentized * math.sqrt(count * (count + 1) / (6 * datasets))
        return cls(average, datasets, float(stats.friedmanchisquare(*table).pvalue), difference)
