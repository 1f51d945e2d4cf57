r"""ZenCrowd: every worker has one accuracy, and all classes are equally likely.

$$ z_i \sim Uniform, \quad P(y_{ij} = z_i) = p_j $$

Here z_i is the true class of item i, y_ij the class that worker j said, and p_j the accuracy of the worker. A wrong
label names each of the other classes equally often.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..crowd.labels import Labels
from ..families.coins.base import CoinCounts, CoinMethod, Coins
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from ..results.quality import share_right


@dataclass(frozen=True)
class ZenCrowd(CoinMethod):
    """One accuracy for every worker, with all classes equally likely before any label.

    Use it where workers differ in how careful they are but not in which classes they confuse, and all classes are about
    equally common. Where some class is rare, `one_coin` is better, because it learns how common each class is.

    `ZenCrowd.released()` is what the BWA paper compared with: always twenty iterations, converged or not.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(ZenCrowd().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "zc"
    summary: ClassVar[str] = (
        "ZenCrowd: every worker is right with a probability of its own, and all classes are equally likely."
    )
    paper: ClassVar[Reference] = Reference(
        "Demartini, Difallah and Cudré-Mauroux",
        "ZenCrowd: leveraging probabilistic reasoning and crowdsourcing techniques for large-scale entity linking",
        "WWW 2012",
        "https://doi.org/10.1145/2187836.2187900",
    )

    first_accuracy: float = parameter(0.8, "Every worker's accuracy at the start.", above=0, below=1)
    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    @classmethod
    def released(cls) -> "ZenCrowd":
        """The method as in the released code that the BWA paper compared with."""
        return cls(tolerance=0.0, max_iterations=20)

    def start(self, labels: Labels) -> tuple[Array, Coins | None]:
        """Start with the same accuracy for all workers."""
        accuracy = np.full(labels.n_workers, self.first_accuracy)
        first = Coins(accuracy, np.full(labels.n_classes, -np.log(labels.n_classes)), np.zeros(1))
        return np.zeros((labels.n_items, labels.n_classes)), first

    def estimate(self, counts: CoinCounts, previous: Coins | None, change: Array) -> Coins:
        """M step: the share of each worker's labels that are right."""
        flat = np.full(len(counts.classes), -np.log(len(counts.classes)))
        return Coins(share_right(counts.right, counts.given), flat, -counts.log_likelihood)
