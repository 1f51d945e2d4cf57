r"""iBCC: independent Bayesian classifier combination, Dawid-Skene with everything integrated out, by variational Bayes.

$$ \pi \sim Dir(\nu), \quad C_{jk} \sim Dir(\beta_k), \; z_i \sim Cat(\pi), \; y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$

Kim and Ghahramani, "Bayesian Classifier Combination", AISTATS 2012, https://proceedings.mlr.press/v22/kim12.html.
"""

from dataclasses import dataclass

import numpy as np

from ..confusion import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted
from ..kernels import Array
from ..labels import Labels
from .mv import shares


@dataclass(frozen=True)
class IBCC(ConfusionMethod):
    """Bayesian confusion matrices.

    Use it where workers confuse particular classes and some have few labels: a worker with none is its prior, mostly
    right.

    Args:
        diagonal: beta_kk, the prior's count of right labels in every class.
        off_diagonal: beta_kl, its count in every other cell.
        class_count: nu, its count of items in every class.
        tolerance: Stop when no probability moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    diagonal: float = 4.0
    off_diagonal: float = 1.0
    class_count: float = 1.0
    tolerance: float = 1e-3
    max_iterations: int = 500

    def start(self, labels: Labels) -> tuple[Array, Confusions | None]:
        """Vote shares."""
        return shares(labels), None

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Expected logarithms under the Dirichlet posteriors."""
        from scipy import special  # slow to import: not before it is needed

        n_classes = len(counts.classes)
        prior = self.off_diagonal + (self.diagonal - self.off_diagonal) * np.eye(n_classes)
        cells = counted(counts) + prior
        rows = cells.sum(axis=2, keepdims=True)
        expected = special.digamma(cells) - special.digamma(rows)
        classes = counts.classes + self.class_count
        log_prior = special.digamma(classes) - special.digamma(classes.sum())
        return Confusions(as_evidence(expected), log_prior, cells / rows, -counts.log_likelihood)
