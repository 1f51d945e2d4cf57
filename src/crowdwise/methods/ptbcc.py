r"""The model of `PTBCC`.

$$ z_i \sim Cat(\tau), \quad x_{ij} \sim Cat(\pi_j), \quad y_{ij} \mid x_{ij} = s, z_i = k \sim Cat(V_{sk}) $$

so that a worker is one number, however many classes there are.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..inference.loop import IterativeMethod
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from ..results.learned import Learned, Trust, chances


class PrototypeCounts(NamedTuple):
    """Sufficient statistics; they add up over disjoint items. The raw ones are counted at the start only."""

    mixture: Array  # (workers, prototypes)
    matrix: Array  # (prototypes, said class, true class)
    classes: Array  # (classes)
    raw_mixture: Array
    raw_matrix: Array


@dataclass(frozen=True, eq=False)
class Prototypes(Learned):
    """The prototypes and every worker's mixture of them.

    Attributes:
        mixture: (workers, prototypes), expected shares.
        matrix: (prototypes, true class, said class), expected probabilities.
        log_mixture: Expected logarithms of the mixtures.
        log_matrix: (prototypes, said class, true class), of the matrices.
        log_prior: (classes), of the classes' probabilities.
        priors: The counts that the priors stand for, of classes, mixtures and matrices.
        objective: None is computed.
    """

    mixture: Array
    matrix: Array
    log_mixture: Array
    log_matrix: Array
    log_prior: Array
    priors: tuple[Array, Array, Array]
    objective: Array

    @property
    def class_prior(self) -> Array:
        """How common each class is expected to be."""
        return chances(self.log_prior)

    def trust(self) -> Trust:
        """How often a worker answers as the good prototype does."""
        return Trust(self.mixture[:, 0], "Share of the good prototype")


@dataclass(frozen=True)
class PTBCC(IterativeMethod[Prototypes, PrototypeCounts]):
    """Workers as mixtures of two prototypes.

    Use it where there are many classes and few labels per worker. A label's prototype follows from the item's scores of
    the iteration before, so it needs an engine that keeps scores: memory or disk, not Spark.

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

    unexplained_reason: ClassVar[str] = (
        "which prototype a vote comes from depends on the item's scores of the iteration before"
    )

    right: float = parameter(
        5.0,
        "f, the good prototype's odds of the right class to each other one, over even.",
        above=0,
    )
    even: float = parameter(1.0, "e.", above=0)
    contrary: float = parameter(
        1.35,
        "m, the contrary prototype's odds of each other class to the right one, over even.",
        above=0,
    )
    mixture_prior: float = parameter(
        0.4,
        "How much of the first shares the prior of every worker's mixture is.",
        at_least=0,
    )
    matrix_prior: float = parameter(0.5, "How much of the first counts the prior of the prototypes is.", at_least=0)
    tolerance: float = parameter(1e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(500, "Stop then at the latest.", at_least=1)

    needs_previous_scores: ClassVar[bool] = True

    def empty_counts(self, labels: Labels, workers: Prototypes | None) -> PrototypeCounts:
        """Nothing counted yet."""
        mixture, matrix = (labels.n_workers, 2), (2, labels.n_classes, labels.n_classes)
        return PrototypeCounts(
            np.zeros(mixture), np.zeros(matrix), np.zeros(labels.n_classes), np.zeros(mixture), np.zeros(matrix)
        )

    def sweep(self, labels: Labels, scores: Array, workers: Prototypes | None, counts: PrototypeCounts) -> Array:
        """The prototypes behind the labels, the classes behind those, and counts of both."""
        changes = np.zeros(labels.n_classes)
        kernels.sweep_prototypes(
            labels.item_starts,
            labels.workers,
            labels.labels,
            self._first(labels.n_classes) if workers is None else workers.log_matrix,
            None if workers is None else (workers.log_mixture, workers.log_prior),
            scores,
            changes,
            *counts,
        )
        return changes

    def estimate(self, counts: PrototypeCounts, previous: Prototypes | None, change: Array) -> Prototypes:
        """Expected logarithms under the Dirichlet posteriors."""
        from scipy import special  # slow to import: not before it is needed

        if previous is None:
            priors = (
                counts.classes.copy(),
                np.maximum(self.mixture_prior * counts.raw_mixture, 1e-9),
                np.maximum(self.matrix_prior * counts.raw_matrix, 1e-9),
            )
        else:
            priors = previous.priors
        classes, mixture, matrix = priors[0] + counts.classes, priors[1] + counts.mixture, priors[2] + counts.matrix
        by_truth = matrix.sum(axis=1, keepdims=True)
        return Prototypes(
            mixture=mixture / mixture.sum(axis=1, keepdims=True),
            matrix=(matrix / by_truth).swapaxes(1, 2),
            log_mixture=special.digamma(mixture) - special.digamma(mixture.sum(axis=1, keepdims=True)),
            log_matrix=special.digamma(matrix) - special.digamma(by_truth),
            log_prior=special.digamma(np.maximum(classes, 1e-9)) - special.digamma(classes.sum()),
            priors=priors,
            objective=np.zeros(0),
        )

    def _first(self, n_classes: int) -> Array:
        """Both prototypes at the start, (prototypes, said class, true class)."""
        good = np.full((n_classes, n_classes), self.even)
        np.fill_diagonal(good, self.right)
        bad = np.full((n_classes, n_classes), self.contrary)
        np.fill_diagonal(bad, self.even)
        both = np.stack([good, bad])
        return np.asarray(both / both.sum(axis=1, keepdims=True))
