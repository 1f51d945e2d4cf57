r"""Learning from crowds: Dawid-Skene with smoothed confusion matrices.

$$ z_i \sim Cat(\pi), \quad y_{ij} \mid z_i = k \sim Cat(C_{jk}), \quad C_{jk} \sim Dir(1 + \alpha) $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, C_jk the row for
true class k of the worker's confusion matrix, and alpha the counts of the prior (`smoothing` in every cell, and
`diagonal_smoothing` more on the diagonal). The matrices are at the maximum of the posterior.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..families.confusion_matrices.base import (
    ConfusionCounts,
    ConfusionMethod,
    Confusions,
    as_evidence,
    by_true_class,
    log,
)
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from .ds import row_frequencies


@dataclass(frozen=True)
class LearningFromCrowds(ConfusionMethod):
    """A smoothed confusion matrix for every worker.

    Use it where workers confuse particular classes but some have few labels: because of the smoothing, a single label
    does not decide a whole row of a matrix. With many labels per worker it is much like `ds`.

    `LearningFromCrowds.released()` is what the BWA paper compared with: it has no smoothing, so it is Dawid-Skene,
    started from majority vote and run for twenty iterations.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LearningFromCrowds().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "lfc"
    summary: ClassVar[str] = "Learning from crowds: Dawid-Skene with a prior on every row of every confusion matrix."
    paper: ClassVar[Reference] = Reference(
        "Raykar, Yu, Zhao, Valadez, Florin, Bogoni and Moy",
        "Learning From Crowds",
        "JMLR 11, 2010",
        "https://jmlr.org/papers/v11/raykar10a.html",
    )

    smoothing: float = parameter(0.1, "The count to add to every cell of every confusion matrix.", at_least=0)
    diagonal_smoothing: float = parameter(
        1.0, "The count to add to the cells on the diagonal, in addition to smoothing.", at_least=0
    )
    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    @classmethod
    def released(cls) -> "LearningFromCrowds":
        """The method as in the released code that the BWA paper compared with."""
        return cls(smoothing=0.0, diagonal_smoothing=0.0, tolerance=0.0, max_iterations=20)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: confusion matrices as relative frequencies, after the counts of the prior are added."""
        prior = self.smoothing + self.diagonal_smoothing * np.eye(len(counts.classes))
        confusion = row_frequencies(by_true_class(counts) + prior)
        log_prior = log(counts.classes / counts.classes.sum())
        return Confusions(as_evidence(log(confusion)), log_prior, confusion, -counts.log_likelihood)
