r"""Mean field: for two classes; how often a worker is right about each class has a prior, and is averaged over.

$$ q_{jk} \sim Beta(\alpha, \beta), \quad P(y_{ij} = k \mid z_i = k) = q_{jk}, \quad P(z_i = k) = 1/2 $$

Here z_i is the true class of item i, y_ij the class that worker j said, and q_jk how often the worker is right about
items of class k. alpha and beta are `prior_right` and `prior_wrong`. The posterior is taken as a product of one part
for every item and one for every worker. With one coin, q_jk is the same for both classes.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

import numpy as np

from ..families.confusion_matrices.base import (
    ConfusionCounts,
    ConfusionMethod,
    Confusions,
    as_evidence,
    by_true_class,
    right_and_wrong,
)
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array

PAPER: Final = Reference(
    "Liu, Peng and Ihler",
    "Variational Inference for Crowdsourcing",
    "NIPS 2012",
    "https://papers.nips.cc/paper_files/paper/2012/hash/cd00692c3bfe59267d5ecfac5310286c-Abstract.html",
)

# What the parameters of both methods of the paper mean.
COINS: Final = (
    'How many numbers say how good a worker is. "two": how often it is right about each of the classes. "one": how '
    "often it is right."
)
PRIOR_RIGHT: Final = "How many right labels of every worker the prior counts, about each class."
PRIOR_WRONG: Final = "How many wrong labels of every worker the prior counts, about each class."


@dataclass(frozen=True)
class MeanField(ConfusionMethod):
    """For two classes: how often workers are right about each class, by variational inference from a Beta prior.

    Use it with two classes, where workers have few labels and are expected to be better than guessing. It is iBCC by
    variational inference with another prior and with classes that are equally common; where one class is rare, a method
    that learns how common classes are, such as `ibcc` or `ds`, is better.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(MeanField().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "vi_mf"
    summary: ClassVar[str] = (
        "Mean field (VI-MF): for two classes; how often a worker is right has a prior and is averaged over."
    )
    paper: ClassVar[Reference] = PAPER

    coins: Literal["two", "one"] = parameter("two", COINS)
    prior_right: float = parameter(2.0, PRIOR_RIGHT, above=0)
    prior_wrong: float = parameter(1.0, PRIOR_WRONG, above=0)
    tolerance: float = settled_within(1e-3)
    max_iterations: int = most_iterations(100)

    def limits(self) -> Limits:
        """It is for two classes."""
        return replace(super().limits(), most_classes=2)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: the expected logarithms of how often workers are right and wrong, under their Beta posteriors."""
        from scipy import special  # imported here because it is slow to import

        right, wrong = right_and_wrong(by_true_class(counts), self.coins == "one")
        right, wrong = right + self.prior_right, wrong + self.prior_wrong
        both = special.digamma(right + wrong)
        expected = _matrices(special.digamma(right) - both, special.digamma(wrong) - both)
        n_classes = len(counts.classes)
        flat = np.full(n_classes, -np.log(n_classes))
        return Confusions(as_evidence(expected), flat, rates(right, wrong), -counts.log_likelihood)


def rates(right: Array, wrong: Array) -> Array:
    """(workers, true class, said class): confusion matrices, given how many labels are right and wrong."""
    if right.shape[1] == 1:  # there is nothing else to say
        return np.ones((len(right), 1, 1))
    return _matrices(right / (right + wrong), wrong / (right + wrong))


def _matrices(diagonal: Array, rest: Array) -> Array:
    """(workers, true class, said class), given what is on the diagonal of every row and what is beside it."""
    return np.where(np.eye(diagonal.shape[1], dtype=bool), diagonal[:, :, None], rest[:, :, None])
