"""Whether methods differ: the signed rank test as the paper did it and as it should be, and ranks of many methods."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Vector = NDArray[np.float64]

# Accuracies are fractions of the same denominators: what differs by less than this is the same fraction.
_DECIMALS: Final = 9


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed rank test of a method against another.

    Attributes:
        ranks: The ranks of the differences that are not zero, by their size.
        minus: W-, the sum of the ranks where the method is worse.
        plus: W+, where it is better.
    """

    ranks: Vector
    minus: float
    plus: float

    @classmethod
    def of(cls, method: Sequence[float], baseline: Sequence[float]) -> "SignedRanks":
        """Compare accuracies on the same datasets.

        >>> SignedRanks.of([0.8, 0.7, 0.6], [0.7, 0.7, 0.62]).minus
        1.0
        """
        difference = np.round(np.subtract(method, baseline), _DECIMALS)
        difference = difference[difference != 0]
        ranks = stats.rankdata(np.abs(difference))
        return cls(ranks, float(ranks[difference < 0].sum()), float(ranks[difference > 0].sum()))

    @property
    def n(self) -> int:
        """N_r, how many differences are not zero."""
        return len(self.ranks)

    @property
    def smaller(self) -> float:
        """What the paper's table calls W-: SciPy's statistic, the smaller of the two sums."""
        return min(self.minus, self.plus)

    @property
    def exact_p(self) -> float:
        """The one-sided p that the method is no better: the share of all signs whose W- is as small as this."""
        # Ranks may be halves where differences tie, so sums are counted in halves.
        doubled = np.rint(2 * self.ranks).astype(np.int64)
        ways = np.zeros(int(doubled.sum()) + 1)
        ways[0] = 1.0
        for rank in doubled:
            ways[rank:] += ways[: len(ways) - rank].copy()
        return float(ways[: round(2 * self.minus) + 1].sum() / ways.sum())


def normal_p(n: int, w: float) -> float:
    """The paper's p for N_r and W: the normal approximation, corrected neither for continuity nor for ties.

    >>> round(normal_p(18, 39), 4)
    0.0214
    """
    if n == 0:  # nothing differs
        return 1.0
    return float(stats.norm.cdf((w - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)))


def level(n: int, w: float) -> str:
    """The smallest of the paper's levels at which W is significant by the exact one-sided test: *, ** or ***.

    >>> level(18, 39), level(19, 91)
    ('***', '')
    """
    ranks = SignedRanks(np.arange(1.0, n + 1), w, n * (n + 1) / 2 - w)
    return "".join("*" for bound in (0.1, 0.05, 0.025) if ranks.exact_p <= bound)


def holm(values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number by Holm's method.

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
    """Many methods on many datasets.

    Attributes:
        average: The average rank of every method, the best first; 1 is best.
        datasets: Over how many datasets.
        friedman_p: The p of Friedman's test that all methods are alike.
        critical_difference: Average ranks closer than this do not differ by Nemenyi's test at 0.05.
    """

    average: Mapping[str, float]
    datasets: int
    friedman_p: float
    critical_difference: float

    @classmethod
    def of(cls, accuracies: Mapping[str, Sequence[float]]) -> "Ranking":
        """Rank methods by their accuracies on the same datasets; ties share their ranks."""
        table = np.round(np.array(list(accuracies.values())), _DECIMALS)
        count, datasets = table.shape
        ranks = stats.rankdata(-table, axis=0).mean(axis=1)
        average = dict(sorted(zip(accuracies, map(float, ranks), strict=True), key=lambda pair: pair[1]))
        studentized = float(stats.studentized_range.ppf(0.95, count, np.inf)) / math.sqrt(2)
        difference = studentized * math.sqrt(count * (count + 1) / (6 * datasets))
        return cls(average, datasets, float(stats.friedmanchisquare(*table).pvalue), difference)
