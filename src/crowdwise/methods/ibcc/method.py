r"""iBCC: independent Bayesian classifier combination, Dawid-Skene with everything integrated out.

$$ \pi \sim Dir(\nu), \quad C_{jk} \sim Dir(\beta_k), \; z_i \sim Cat(\pi), \; y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$

Kim and Ghahramani, "Bayesian Classifier Combination", AISTATS 2012, https://proceedings.mlr.press/v22/kim12.html.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...data.labels import Labels
from ...errors import CallError, require_whole
from ...inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted
from ...inference.loop import Progress
from ...kernels import Array
from ...results.result import Result
from .expectation_propagation import fit_messages


@dataclass(frozen=True)
class IBCC(ConfusionMethod):
    """Bayesian confusion matrices.

    Use it where workers confuse particular classes and some have few labels: a worker with none is its prior, mostly
    right. Expectation propagation leaves each label out when it judges it, and is what the BWA paper's table has; it
    keeps a number per label and class, so it needs all labels in memory. Variational inference does not: it is quicker,
    goes through any engine, and is surer of itself than it should be.

    Args:
        inference: "expectation_propagation" or "variational".
        diagonal: beta_kk, the prior's count of right labels in every class. Unless given, 7/3 of the others in a row
            together, so that workers are right seven times in ten, or 4 with variational inference: as released.
        off_diagonal: beta_kl, its count in every other cell.
        class_count: nu, its count of items in every class.
        tolerance: Stop when no probability moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    inference: Literal["expectation_propagation", "variational"] = "expectation_propagation"
    diagonal: float | None = None
    off_diagonal: float = 1.0
    class_count: float = 1.0
    tolerance: float = 1e-3
    max_iterations: int = 500

    def __post_init__(self) -> None:
        known = ("expectation_propagation", "variational")
        if self.inference not in known:
            raise CallError(f"inference={self.inference!r} is neither {known[0]!r} nor {known[1]!r}.")
        require_whole(1, max_iterations=self.max_iterations)

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called with the iteration and the change after each iteration.
        """
        if self.inference == "variational":
            return super().fit(labels, progress=progress)
        labels.require_suitable(self)
        self.check(labels)
        n_classes = labels.n_classes
        return fit_messages(self, labels, self._prior(n_classes), np.full(n_classes, self.class_count), progress)

    @property
    def in_memory_only(self) -> str:
        """Why all labels must be in memory at once; empty where parts of them do."""
        if self.inference == "variational":
            return ""
        return "because expectation propagation keeps numbers for every label (inference=variational does not)"

    @property
    def not_a_sum(self) -> str:
        """Why votes do not add up; empty where they do."""
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
