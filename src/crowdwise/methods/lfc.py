r"""The model of `LearningFromCrowds`.

$$ z_i \sim Cat(\pi), \quad y_{ij} \mid z_i = k \sim Cat(C_{jk}), \quad C_{jk} \sim Dir(1 + \alpha) $$

at the maximum of the posterior.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted, log
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from .ds import row_frequencies


@dataclass(frozen=True)
class LearningFromCrowds(ConfusionMethod):
    """Smoothed confusion matrices.

    Use it where workers confuse particular classes but some have few labels: a count of `smoothing` in every cell, and
    `diagonal_smoothing` more on the diagonal, keeps a row from being settled by one label.

    `LearningFromCrowds.released()` is what the BWA paper compared with: its prior is empty, so it is Dawid-Skene from
    majority vote, for twenty iterations.

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

    smoothing: float = parameter(0.1, "alpha, added to every cell of every confusion matrix.", at_least=0)
    diagonal_smoothing: float = parameter(1.0, "Added to the cells on the diagonal besides.", at_least=0)
    tolerance: float = parameter(1e-4, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)

    @classmethod
    def released(cls) -> "LearningFromCrowds":
        """The implementation in the BWA paper's comparison."""
        return cls(smoothing=0.0, diagonal_smoothing=0.0, tolerance=0.0, max_iterations=20)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Smoothed relative frequencies."""
        prior = self.smoothing + self.diagonal_smoothing * np.eye(len(counts.classes))
        confusion = row_frequencies(counted(counts) + prior)
        log_prior = log(counts.classes / counts.classes.sum())
        return Confusions(as_evidence(log(confusion)), log_prior, confusion, -counts.log_likelihood)
