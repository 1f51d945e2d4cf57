r"""One-coin Dawid-Skene: every worker has one accuracy, and how common the classes are is learned.

$$ z_i \sim Cat(\pi), \quad P(y_{ij} = z_i) = p_j $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, and p_j the
accuracy of the worker. A wrong label names each of the other classes equally often.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..families.coins.base import CoinCounts, CoinMethod, Coins
from ..families.confusion_matrices.base import log
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, settled_within
from ..numerics import Array
from ..results.quality import share_right


@dataclass(frozen=True)
class OneCoin(CoinMethod):
    """One accuracy for every worker, and how common the classes are, by expectation-maximisation from majority vote.

    Use it where workers have few labels each: one number is learned from fewer labels than a matrix. Where workers
    confuse particular classes and have many labels, a confusion-matrix method such as `ds` is better.

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

    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    def estimate(self, counts: CoinCounts, previous: Coins | None, change: Array) -> Coins:
        """M step: the share of a worker's labels that are right, and the share of the items that are of a class."""
        return Coins(
            share_right(counts.right, counts.given), log(counts.classes / counts.classes.sum()), -counts.log_likelihood
        )
