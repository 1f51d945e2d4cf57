r"""iBCC: every worker has a confusion matrix with a prior, fitted by Bayesian inference.

$$ \pi \sim Dir(\nu), \quad C_{jk} \sim Dir(\beta_k), \; z_i \sim Cat(\pi), \; y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, and C_jk the row
for true class k of the worker's confusion matrix. nu (`class_count`) and beta (`diagonal` and `off_diagonal`) are the
counts of the priors.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ...families.confusion_matrices.base import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, by_true_class
from ...fitting.in_memory import result_of_steps
from ...fitting.iterations import Progress
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, settled_within
from ...numerics import Array
from ...results.in_parts import Inferred
from .expectation_propagation import propagate


@dataclass(frozen=True)
class IBCC(ConfusionMethod):
    """Confusion matrices with a prior, by Bayesian inference.

    Use it where workers confuse particular classes and some of them have few labels: the fewer labels a worker has, the
    more its matrix stays like the prior, which expects workers to be mostly right.

    By default it is fitted by expectation propagation, as in the BWA paper's comparison: each label is judged by a
    matrix that leaves it out. That takes a number per label and class, so all labels must be in memory. With
    `inference="variational"` they need not be, and it is faster, but its probabilities are too close to 0 and 1.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(IBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "ibcc"
    summary: ClassVar[str] = (
        "iBCC: independent Bayesian classifier combination, the model of Dawid-Skene fitted by Bayesian inference."
    )
    paper: ClassVar[Reference] = Reference(
        "Kim and Ghahramani",
        "Bayesian Classifier Combination",
        "AISTATS 2012",
        "https://proceedings.mlr.press/v22/kim12.html",
    )

    inference: Literal["expectation_propagation", "variational"] = parameter(
        "expectation_propagation",
        'How the model is fitted. "expectation_propagation": each label is judged by a confusion matrix that leaves it '
        'out. "variational": faster and on any engine, but its probabilities are too close to 0 and 1.',
    )
    diagonal: float | None = parameter(
        None,
        "How many right labels the prior counts in every row of a confusion matrix. If None, 7/3 of the wrong labels "
        "in the row together, so that the prior expects workers to be right seven times in ten; with variational "
        "inference, 4. Both are as in released code.",
        above=0,
    )
    off_diagonal: float = parameter(
        1.0, "How many labels the prior counts of each wrong class in every row of a confusion matrix.", above=0
    )
    class_count: float = parameter(1.0, "How many items the prior counts in every class.", above=0)
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(500)

    def infer(self, labels: Any, progress: Progress | None) -> Inferred:
        """Run expectation propagation in memory, or variational inference on the engine where the labels are."""
        if self.inference == "variational":
            return super().infer(labels, progress)
        class_prior = np.full(labels.n_classes, self.class_count)
        steps = propagate(labels, self._prior(labels.n_classes), class_prior)
        return result_of_steps(self, self.scale, labels, steps, progress)

    @property
    def calibrated_as(self) -> str:
        """Variational inference has a constant of its own: its probabilities are too close to 0 and 1."""
        return "ibcc-variational" if self.inference == "variational" else self.key

    def limits(self) -> Limits:
        """Expectation propagation keeps numbers for every label; variational inference has no limits."""
        if self.inference == "variational":
            return super().limits()
        return replace(
            super().limits(),
            in_memory="because expectation propagation keeps numbers for every label (inference=variational does not)",
            no_gold="because the messages of expectation propagation leave no class out (with inference=variational it "
            "does)",
            no_history="because expectation propagation counts nothing that could be added up (inference=variational "
            "does)",
            unexplained="expectation propagation judges each vote by a confusion matrix that leaves it out, which is "
            "not kept",
        )

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """The expected logarithms of all probabilities under their Dirichlet posteriors."""
        from scipy import special  # imported here because it is slow to import

        cells = by_true_class(counts) + self._prior(len(counts.classes))
        rows = cells.sum(axis=2, keepdims=True)
        expected = special.digamma(cells) - special.digamma(rows)
        classes = counts.classes + self.class_count
        log_prior = special.digamma(classes) - special.digamma(classes.sum())
        return Confusions(as_evidence(expected), log_prior, cells / rows, -counts.log_likelihood)

    def _prior(self, n_classes: int) -> Array:
        """(true class, said class): the counts of every worker before any label."""
        diagonal = self.diagonal
        if diagonal is None:
            seven_in_ten = 7 / 3 * max(n_classes - 1, 1) * self.off_diagonal
            diagonal = 4.0 if self.inference == "variational" else seven_in_ten
        return np.asarray(self.off_diagonal + (diagonal - self.off_diagonal) * np.eye(n_classes))
