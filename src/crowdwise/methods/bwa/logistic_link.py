r"""BWA with a logistic link: votes are right or wrong with a probability; their errors are not Gaussian.

$$ P(y_{ij} = z_i) = \frac{e^{w_j}}{e^{w_j} + K - 1}, \quad w_j \sim Gamma(a/2, a / (2 w_0)), \quad w_j \ge 0 $$

Here z_i is the true class of item i, y_ij the class that worker j said, K the number of classes, and a is
`prior_strength`. The weight w_j of worker j is the logarithm of the odds that it says the true class rather than a
given other one. The prior expects the weight w0, which is that of a worker who agrees with the vote shares as often as
workers do on average. Scores are posterior probabilities of the classes; every weight is the mode of its posterior.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from ...families.coins.base import CoinCounts, CoinMethod, Coins
from ...numerics import Array
from ...results.learned import PerWorker, Trust

_BISECTIONS: Final = 50
_LARGEST_WEIGHT: Final = 60.0  # with a larger weight, the accuracy is rounded to one anyway


@dataclass(frozen=True, eq=False)
class LogisticWeights(Coins):
    """How often every worker is right, with the weights that this follows from.

    Attributes:
        weight: (workers), w in the formula: the logarithm of the odds that a vote is right.
        typical: w0 in the formula: the weight that the prior expects.
    """

    weight: PerWorker
    typical: float

    def trust(self) -> Trust:
        """A worker is trusted by the weight of its votes."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class LogisticLink(CoinMethod):
    """What `BWA(link="logistic")` runs; the parameters are those of `BWA`."""

    prior_strength: float
    tolerance: float
    max_iterations: int

    calibrated_as: ClassVar[str] = "bwa-logistic"

    def estimate(self, counts: CoinCounts, previous: Coins | None, change: Array) -> Coins:
        """M step: the mode of the posterior of every worker's weight, and how common the classes are."""
        others = max(len(counts.classes) - 1, 1)
        if isinstance(previous, LogisticWeights):
            typical = previous.typical
        else:
            agreement = np.clip(counts.right.sum() / counts.given.sum(), 1 / (others + 1) + 0.05, 0.98)
            typical = float(np.log(agreement * others / (1 - agreement)))
        shape, rate = self.prior_strength / 2 - 1, self.prior_strength / (2 * typical)
        low, high = np.zeros(len(counts.given)), np.full(len(counts.given), _LARGEST_WEIGHT)
        # The slope of the log posterior falls as the weight grows, so bisection finds where it is zero.
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            accuracy = 1 / (1 + others * np.exp(-middle))
            rising = counts.right - counts.given * accuracy + shape / middle - rate > 0
            low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        weight = (low + high) / 2
        classes = np.maximum(counts.classes, 1e-300)
        return LogisticWeights(
            accuracy=1 / (1 + others * np.exp(-weight)),
            log_prior=np.log(classes / classes.sum()),
            objective=-counts.log_likelihood,
            weight=weight,
            typical=typical,
        )
