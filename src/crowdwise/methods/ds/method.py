r"""Dawid-Skene: every worker has a confusion matrix, fitted by expectation-maximisation.

$$ z_i \sim Cat(\pi), \quad y_{ij} \mid z_i = k \sim Cat(C_{jk}) $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, and C_jk the row
for true class k of the worker's confusion matrix.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ...crowd.labels import Labels
from ...crowd.protocol import Crowd
from ...crowd.votes import shares
from ...families.confusion_matrices.base import (
    ConfusionCounts,
    ConfusionMethod,
    Confusions,
    as_evidence,
    by_true_class,
    log,
)
from ...fitting.engines.base import Engine
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, settled_within
from ...numerics import Array
from . import spectral


@dataclass(frozen=True)
class DawidSkene(ConfusionMethod):
    """A confusion matrix for every worker, with the highest likelihood.

    Use it where workers have many labels each and confuse particular classes. With few labels per worker its matrices
    are unreliable; `lfc`, which smooths them, or `bwa` is safer.

    `DawidSkene.released()` is what the BWA paper compared with: twenty iterations, with `start_from="diagonal"`.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> result = DawidSkene().fit(crowd.labels)
    >>> cw.accuracy(result, crowd.truth) > 0.85
    True
    >>> result.confusion("w01").shape
    (3, 4)
    """

    key: ClassVar[str] = "ds"
    summary: ClassVar[str] = (
        "Dawid-Skene: every worker has a confusion matrix of its own, fitted by expectation-maximisation."
    )
    paper: ClassVar[Reference] = Reference(
        "Dawid and Skene",
        "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm",
        "Applied Statistics 28, 1979",
        "https://doi.org/10.2307/2346806",
    )

    start_from: Literal["majority", "diagonal", "spectral"] = parameter(
        "majority",
        'What to start from. "majority": the shares of the votes, as Dawid and Skene did. "diagonal": confusion '
        'matrices of workers who are right with probability 0.7. "spectral": matrices by the method of moments on '
        "three groups of workers; labels that do not determine them are refused.",
    )
    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    @classmethod
    def released(cls) -> "DawidSkene":
        """The method as in the released code that the BWA paper compared with."""
        return cls("diagonal", tolerance=0.0, max_iterations=20)

    def start(self, labels: Labels) -> tuple[Array, Confusions | None]:
        """Start from the vote shares, or from confusion matrices with 0.7 on the diagonal.

        A spectral start needs all labels, so `begin` makes it.
        """
        if self.start_from != "diagonal":
            return shares(labels), None
        confusion = np.tile(diagonal(labels.n_classes), (labels.n_workers, 1, 1))
        prior = np.full(labels.n_classes, -np.log(labels.n_classes))
        first = Confusions(as_evidence(log(confusion)), prior, confusion, np.zeros(1))
        return np.zeros((labels.n_items, labels.n_classes)), first

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, too many matrices, and labels that have no spectral start."""
        super().check(labels)
        if self.start_from == "spectral":
            spectral.check(labels.n_workers, labels.n_classes)

    def begin(self, engine: Engine, start: Any = None) -> Confusions:
        """Learn the first matrices from the first scores, or by the method of moments."""
        if self.start_from != "spectral":
            return super().begin(engine, start)
        return spectral.start_from(engine.add_labels(spectral.count_moments, "comparing groups of workers"))

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: matrices as relative frequencies; see `row_frequencies` for a class that a worker never met."""
        confusion = row_frequencies(by_true_class(counts))
        prior = log(counts.classes / counts.classes.sum())
        return Confusions(as_evidence(log(confusion)), prior, confusion, -counts.log_likelihood)


def diagonal(n_classes: int) -> Array:
    """The confusion matrix of a worker who is right with probability 0.7, and says every wrong class equally often."""
    if n_classes == 1:
        return np.ones((1, 1))
    matrix = np.full((n_classes, n_classes), 0.3 / (n_classes - 1))
    np.fill_diagonal(matrix, 0.7)
    return matrix


def row_frequencies(counts: Array) -> Array:
    """Each row of (workers, true class, said class) divided by its sum; a row of zeros becomes that of `diagonal`."""
    total = counts.sum(axis=2, keepdims=True)
    unseen = total == 0
    frequencies = np.asarray(counts / np.where(unseen, 1, total))  # with the memory layout of the counts
    np.copyto(frequencies, diagonal(counts.shape[2]), where=unseen)
    return frequencies
