r"""BWA's second extension: votes are yes or no, so their link to the truth is logistic instead of Gaussian.

$$ P(y_{ij} = z_i) = \frac{e^{w_j}}{e^{w_j} + K - 1}, \quad w_j \sim Gamma(a/2, a / (2 w_0)), \quad w_j \ge 0 $$

with w the log odds that a vote carries, and w0 those of a worker as good as the vote shares say workers are. Classes
are discrete and their posteriors are probabilities; weights are the modes of their posteriors.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...data.crowd import Crowd, require_single_votes
from ...inference.coins import CoinCounts, CoinMethod, Coins
from ...kernels import Array
from ...results.learned import Trust

_BISECTIONS: Final = 50
_LARGEST_WEIGHT: Final = 60.0  # an accuracy of one, as far as numbers go


@dataclass(frozen=True, eq=False)
class LogisticWeights(Coins):
    """Coins with the weights behind them.

    Attributes:
        weight: (workers), w, the log odds of a vote.
        typical: w0.
    """

    weight: Array
    typical: float

    def trust(self) -> Trust:
        """What a worker's vote weighs."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class LogisticLink(CoinMethod):
    """The loop behind `BWA(link="logistic")`."""

    prior_strength: float
    tolerance: float
    max_iterations: int

    def check(self, labels: Crowd) -> None:
        """One class a vote: the truth is one of them."""
        require_single_votes(labels, 'BWA(link="logistic")')

    def estimate(self, counts: CoinCounts, previous: Coins | None, change: Array) -> Coins:
        """The mode of every worker's weight."""
        others = max(len(counts.classes) - 1, 1)
        if isinstance(previous, LogisticWeights):
            typical = previous.typical
        else:
            agreement = np.clip(counts.right.sum() / counts.given.sum(), 1 / (others + 1) + 0.05, 0.98)
            typical = float(np.log(agreement * others / (1 - agreement)))
        shape, rate = self.prior_strength / 2 - 1, self.prior_strength / (2 * typical)
        low, high = np.zeros(len(counts.given)), np.full(len(counts.given), _LARGEST_WEIGHT)
        for _ in range(_BISECTIONS):  # the slope of the log posterior falls, so its zero is bracketed
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
