r"""The model of `IBCC`.

$$ \pi \sim Dir(\nu), \quad C_{jk} \sim Dir(\beta_k), \; z_i \sim Cat(\pi), \; y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ...inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted
from ...inference.in_memory import run_steps
from ...inference.method import Progress, Reference
from ...inference.parameters import parameter
from ...kernels import Array
from ...results.inferred import Inferred
from .expectation_propagation import propagate


@dataclass(frozen=True)
class IBCC(ConfusionMethod):
    """Bayesian confusion matrices.

    Use it where workers confuse particular classes and some have few labels: a worker with none is its prior, mostly
    right. Expectation propagation leaves each label out when it judges it, and is what the BWA paper's table has; it
    keeps a number per label and class, so it needs all labels in memory. Variational inference does not: it is quicker,
    goes through any engine, and is surer of itself than it should be.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "ibcc"
    summary: ClassVar[str] = (
        "iBCC: independent Bayesian classifier combination, Dawid-Skene with everything integrated out."
    )
    paper: ClassVar[Reference] = Reference(
        "Kim and Ghahramani",
        "Bayesian Classifier Combination",
        "AISTATS 2012",
        "https://proceedings.mlr.press/v22/kim12.html",
    )

    inference: Literal["expectation_propagation", "variational"] = parameter(
        "expectation_propagation",
        '"expectation_propagation" or "variational".',
    )
    diagonal: float | None = parameter(
        None,
        "beta_kk, the prior's count of right labels in every class. Unless given, 7/3 of the others in a row "
        "together, so that workers are right seven times in ten, or 4 with variational inference: as released.",
        above=0,
    )
    off_diagonal: float = parameter(1.0, "beta_kl, its count in every other cell.", above=0)
    class_count: float = parameter(1.0, "nu, its count of items in every class.", above=0)
    tolerance: float = parameter(1e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(500, "Stop then at the latest.", at_least=1)

    def infer(self, labels: Any, progress: Progress | None) -> Inferred:
        """Pass messages in memory, or sweep where the labels are."""
        if self.inference == "variational":
            return super().infer(labels, progress)
        class_prior = np.full(labels.n_classes, self.class_count)
        steps = propagate(labels, self._prior(labels.n_classes), class_prior)
        return run_steps(self, self.scale, labels, steps, progress)

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once; empty with variational inference."""
        if self.inference == "variational":
            return ""
        return "because expectation propagation keeps numbers for every label (inference=variational does not)"

    @property
    def unexplained_reason(self) -> str:
        """Why nobody can say what a single vote contributes; empty with variational inference."""
        if self.inference == "variational":
            return ""
        return "expectation propagation judges each vote by a confusion matrix that leaves it out, which is not kept"

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Expected logarithms under the Dirichlet posteriors."""
        from scipy import special  # slow to import: not before it is needed

        cells = counted(counts) + self._prior(len(counts.classes))
        rows = cells.sum(axis=2, keepdims=True)
        expected = special.digamma(cells) - special.digamma(rows)
        classes = counts.classes + self.class_count
        log_prior = special.digamma(classes) - special.digamma(classes.sum())
        return Confusions(as_evidence(expected), log_prior, cells / rows, -counts.log_likelihood)

    def _prior(self, n_classes: int) -> Array:
        """(true class, said class): counts of every worker before any label."""
        diagonal = self.diagonal
        if diagonal is None:
            even = 7 / 3 * max(n_classes - 1, 1) * self.off_diagonal
            diagonal = 4.0 if self.inference == "variational" else even
        return np.asarray(self.off_diagonal + (diagonal - self.off_diagonal) * np.eye(n_classes))
