r"""PTBCC: each label comes from one of two prototypes that all workers share, a good and a contrary one.

$$ z_i \sim Cat(\tau), \quad x_{ij} \sim Cat(\pi_j), \quad y_{ij} \mid x_{ij} = s, z_i = k \sim Cat(V_{sk}) $$

Here z_i is the true class of item i, tau how common the classes are, y_ij the class that worker j said, and x_ij the
prototype that this label comes from. pi_j, the worker's mixture, is how often it answers as each prototype. V_s is the
confusion matrix of prototype s. So a worker has one number, however many classes there are.
"""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.limits import Limits
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, settled_within
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...numerics.elementary import softmax
from ...results.learned import ClassAxes, Learned, PerWorker, Shared, Trust
from .model import sweep_prototypes


class PrototypeCounts(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together.

    The raw counts, from which the priors are made, are counted in the first sweep only: as in the others, a label is
    shared between the prototypes, but its shares are not scaled to add up to one.
    """

    mixture: PerWorker  # (workers, prototypes): how many of the worker's labels come from each prototype
    # (prototypes, said class, true class): how many labels come from each cell of the prototypes
    matrix: Annotated[Shared, ClassAxes((1, 2))]
    # (classes): the sum over the items of the probability that the item is of this class
    classes: Annotated[Shared, ClassAxes((0,))]
    raw_mixture: PerWorker  # (workers, prototypes)
    raw_matrix: Array  # (prototypes, said class, true class)


@dataclass(frozen=True, eq=False)
class Prototypes(Learned):
    """The prototypes, and every worker's mixture of them.

    Attributes:
        mixture: (workers, prototypes), how often a worker is expected to answer as each prototype.
        matrix: (prototypes, true class, said class), the expected probabilities of the prototypes' confusion matrices.
        log_mixture: (workers, prototypes), the expected logarithms of the mixtures.
        log_matrix: (prototypes, said class, true class), the expected logarithms of the confusion matrices.
        log_prior: (classes), the expected logarithms of how common the classes are.
        prior_classes: (classes), the counts of the prior of how common the classes are.
        prior_mixture: (workers, prototypes), the counts of the priors of the mixtures.
        prior_matrix: (prototypes, said class, true class), the counts of the priors of the confusion matrices.
    """

    mixture: PerWorker
    matrix: Array
    log_mixture: PerWorker
    log_matrix: Array
    log_prior: Array
    prior_classes: Array
    prior_mixture: PerWorker
    prior_matrix: Array

    @property
    def class_prior(self) -> Array:
        """(classes), how common each class is expected to be."""
        return softmax(self.log_prior)

    def trust(self) -> Trust:
        """A worker is trusted by how often it answers as the good prototype does."""
        return Trust(self.mixture[:, 0], "Share of the good prototype")


@dataclass(frozen=True)
class PTBCC(SweepingMethod[Prototypes, PrototypeCounts]):
    """Workers who answer partly as a good prototype and partly as a contrary one.

    Use it where there are many classes and few labels per worker. Where a worker has many labels, a confusion matrix of
    its own says more. It needs the scores of the iteration before, so it runs in memory and on disk, but not on Spark,
    which keeps no scores.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(PTBCC().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "ptbcc"
    summary: ClassVar[str] = (
        "PTBCC: workers are mixtures of two shared prototypes, a good annotator and a contrary one, by variational "
        "Bayes."
    )
    paper: ClassVar[Reference] = Reference(
        "",
        "Prototype-based Bayesian classifier combination",
        "ICML 2026",
        "https://arxiv.org/abs/2508.02123",
    )

    right: float = parameter(
        5.0,
        "How often the good prototype says the right class at the start, relative to the parameter even for each wrong "
        "class (f in the paper).",
        above=0,
    )
    even: float = parameter(
        1.0,
        "What the parameters right and contrary are relative to; only their ratios matter (e in the paper).",
        above=0,
    )
    contrary: float = parameter(
        1.35,
        "How often the contrary prototype says each wrong class at the start, relative to the parameter even for the "
        "right class (m in the paper).",
        above=0,
    )
    mixture_prior: float = parameter(
        0.4,
        "The strength of the prior of every worker's mixture of prototypes: its counts are this factor times the "
        "counts of the first pass.",
        at_least=0,
    )
    matrix_prior: float = parameter(
        0.5,
        "The strength of the prior of the prototypes' confusion matrices: its counts are this factor times the counts "
        "of the first pass.",
        at_least=0,
    )
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(500)

    needs_previous_scores: ClassVar[bool] = True

    def limits(self) -> Limits:
        """Its scores are no sums over the votes."""
        reason = "which prototype a vote comes from depends on the item's scores of the iteration before"
        return replace(super().limits(), unexplained=reason)

    def empty_counts(self, labels: Labels, workers: Prototypes | None) -> PrototypeCounts:
        """Zeros, which `sweep` adds to."""
        mixture, matrix = (labels.n_workers, 2), (2, labels.n_classes, labels.n_classes)
        return PrototypeCounts(
            np.zeros(mixture), np.zeros(matrix), np.zeros(labels.n_classes), np.zeros(mixture), np.zeros(matrix)
        )

    def sweep(self, labels: Labels, scores: Array, workers: Prototypes | None, counts: PrototypeCounts) -> Array:
        """E step: find which prototype each label comes from, score the items by that, and count both."""
        changes = np.zeros(labels.n_classes)
        sweep_prototypes(
            labels,
            self._first_matrices(labels.n_classes) if workers is None else workers.log_matrix,
            None if workers is None else (workers.log_mixture, workers.log_prior),
            scores,
            changes,
            *counts,
        )
        return changes

    def estimate(self, counts: PrototypeCounts, previous: Prototypes | None, change: Array) -> Prototypes:
        """M step: the expected logarithms of all probabilities under their Dirichlet posteriors."""
        from scipy import special  # imported here because it is slow to import

        if previous is None:
            priors = (
                counts.classes.copy(),
                np.maximum(self.mixture_prior * counts.raw_mixture, 1e-9),
                np.maximum(self.matrix_prior * counts.raw_matrix, 1e-9),
            )
        else:
            priors = previous.prior_classes, previous.prior_mixture, previous.prior_matrix
        classes, mixture, matrix = priors[0] + counts.classes, priors[1] + counts.mixture, priors[2] + counts.matrix
        by_truth = matrix.sum(axis=1, keepdims=True)
        return Prototypes(
            mixture=mixture / mixture.sum(axis=1, keepdims=True),
            matrix=(matrix / by_truth).swapaxes(1, 2),
            log_mixture=special.digamma(mixture) - special.digamma(mixture.sum(axis=1, keepdims=True)),
            log_matrix=special.digamma(matrix) - special.digamma(by_truth),
            log_prior=special.digamma(np.maximum(classes, 1e-9)) - special.digamma(classes.sum()),
            prior_classes=priors[0],
            prior_mixture=priors[1],
            prior_matrix=priors[2],
        )

    def _first_matrices(self, n_classes: int) -> Array:
        """(prototypes, said class, true class): the confusion matrices of both prototypes at the start."""
        good = np.full((n_classes, n_classes), self.even)
        np.fill_diagonal(good, self.right)
        bad = np.full((n_classes, n_classes), self.contrary)
        np.fill_diagonal(bad, self.even)
        both = np.stack([good, bad])
        return np.asarray(both / both.sum(axis=1, keepdims=True))
