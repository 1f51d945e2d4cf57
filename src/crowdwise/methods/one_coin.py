r"""The model of `OneCoin`.

$$ z_i \sim Cat(\pi), \quad P(y_{ij} = z_i) = p_j $$

with errors even over the other classes.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..inference.coins import CoinCounts, CoinMethod, Coins
from ..inference.confusion_matrices import log
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from ..results.quality import share_right


@dataclass(frozen=True)
class OneCoin(CoinMethod):
    """One accuracy per worker, and a learned prior over classes, by expectation-maximisation from majority vote.

    Use it where workers have few labels each: a number is learned sooner than a matrix. Where workers confuse
    particular classes, a confusion-matrix method sees more.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(OneCoin().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "one_coin"
    summary: ClassVar[str] = (
        "One-coin Dawid-Skene: every worker is right with a probability of its own; how common classes are is learned."
    )
    paper: ClassVar[Reference] = Reference(
        "Zhang, Chen, Zhou and Jordan",
        "Spectral Methods Meet EM: A Provably Optimal Algorithm for Crowdsourcing",
        "JMLR 17, 2016",
        "https://jmlr.org/papers/v17/14-511.html",
    )

    tolerance: float = parameter(1e-4, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)

    def estimate(self, counts: CoinCounts, previous: Coins | None, change: Array) -> Coins:
        """The share of labels that are right, and of items in each class."""
        return Coins(
            share_right(counts.right, counts.given), log(counts.classes / counts.classes.sum()), -counts.log_likelihood
        )
