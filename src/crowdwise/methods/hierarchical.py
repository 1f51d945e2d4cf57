r"""Hierarchical accuracies: an accuracy per worker and class, with a prior learned from all workers.

$$ z_i \sim Cat(\pi), \; P(y_{ij} = k \mid z_i = k) = a_{jk} \sim Beta(A_k, B_k), \; y_{ij} \mid wrong \sim Cat(G_k) $$

Here z_i is the true class of item i, pi how common the classes are, y_ij the class that worker j said, and a_jk how
often the worker is right when class k is true. The counts A_k and B_k of the prior, and what is said when a label is
wrong, G_k, are the same for all workers and learned from the labels (empirical Bayes). So a worker has more numbers
than a single accuracy, and fewer than a confusion matrix. The E step is that of all methods with confusion matrices.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..families.confusion_matrices.base import (
    ConfusionCounts,
    ConfusionMethod,
    Confusions,
    as_evidence,
    by_true_class,
    right_and_wrong,
)
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array


@dataclass(frozen=True, eq=False)
class SharedConfusions(Confusions):
    """Confusion matrices, with the prior that all workers share.

    Attributes:
        row_counts: The counts of the prior: of right and wrong labels (true class, 2), or, with `form="full"`, of every
            class said (true class, said class).
        vote_classes: (classes), the sum of the vote shares of each class over the items.
    """

    row_counts: Array
    vote_classes: Array


@dataclass(frozen=True)
class Hierarchical(ConfusionMethod):
    """Accuracies or confusion matrices, with a prior that is learned from all workers.

    Use it where there are many workers with few labels each: what is common to all workers makes up for the few labels
    of each. Do not use it with few workers: there is then too little to learn the prior from, and it can end with wrong
    estimates of how common the classes are.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(Hierarchical().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "hierarchical"
    summary: ClassVar[str] = (
        "Hierarchical accuracies: what workers have in common is learned from all of them, by variational Bayes."
    )
    paper: ClassVar[Reference] = Reference(
        "Prior counts follow Minka",
        "Estimating a Dirichlet distribution",
        "2000",
        "https://tminka.github.io/papers/dirichlet/",
    )

    form: Literal["class_accuracy", "full", "one_coin"] = parameter(
        "class_accuracy",
        'What every worker has. "class_accuracy": an accuracy for each class. "full": a confusion matrix. "one_coin": '
        "a single accuracy, with the same prior for all classes. With accuracies, what is said when a label "
        "is wrong is learned for all workers together.",
    )
    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    @property
    def calibrated_as(self) -> str:
        """Every form has a constant of its own."""
        return {"full": "hierarchical-full", "one_coin": "hierarchical-one-coin"}.get(self.form, self.key)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: improve the shared prior by three steps; expected logarithms under the workers' posteriors."""
        from scipy import special  # imported here because it is slow to import

        classes = len(counts.classes)
        if not isinstance(previous, SharedConfusions):
            first = np.tile([4.0, max(classes - 1, 1)], (classes, 1))
            if self.form == "full":
                first = 1.0 + 3.0 * np.eye(classes)
            empty = np.zeros((0, classes, classes))
            previous = SharedConfusions(empty, np.zeros(classes), empty, np.zeros(1), first, counts.classes.copy())
        cells = by_true_class(counts)
        rows = cells if self.form == "full" else np.stack(right_and_wrong(cells, self.form == "one_coin"), axis=2)
        prior = learned_rows(rows, previous.row_counts)
        posterior = rows + prior
        expected = special.digamma(posterior) - special.digamma(posterior.sum(axis=2, keepdims=True))
        confusion = posterior / posterior.sum(axis=2, keepdims=True)
        if self.form != "full":
            profile = _error_profile(cells)
            expected = _spread(expected, np.log(np.where(profile > 0, profile, 1)), np.add)
            confusion = _spread(confusion, profile, np.multiply)
        votes = np.ones(classes) if self.form == "one_coin" else previous.vote_classes
        log_prior = special.digamma(counts.classes + votes)
        return replace(
            previous,
            evidence=as_evidence(expected),
            log_prior=log_prior,
            matrices=confusion,
            objective=-counts.log_likelihood,
            row_counts=prior,
        )


def learned_rows(rows: Array, prior: Array, steps: int = 3) -> Array:
    """The Dirichlet prior of the rows of each true class, after some of Minka's fixed-point steps.

    `rows` (workers, true class, cells) are the counts of every worker, `prior` (true class, cells) those of the prior
    before these steps.
    """
    from scipy import special  # imported here because it is slow to import

    total = rows.sum(axis=2)
    for _ in range(steps):
        strength = prior.sum(axis=1)
        numerator = (special.digamma(rows + prior) - special.digamma(prior)).sum(axis=0)
        denominator = (special.digamma(total + strength) - special.digamma(strength)).sum(axis=0)[:, None]
        # If no worker labelled an item of a class, there is nothing to learn, and its prior stays as it is.
        known = denominator > 0
        prior = np.clip(np.where(known, prior * numerator / np.where(known, denominator, 1), prior), 0.01, 1000)
    return np.asarray(prior)


def _error_profile(cells: Array) -> Array:
    """(true class, said class): the probability of each class in a wrong label; zero on the diagonal."""
    profile = 1 + cells.sum(axis=0)
    np.fill_diagonal(profile, 0)
    total = profile.sum(axis=1, keepdims=True)
    return np.asarray(profile / np.where(total > 0, total, 1))


def _spread(right_and_wrong: Array, profile: Array, combine: np.ufunc) -> Array:
    """Matrices (workers, true class, said class) from numbers for right and wrong labels (workers, true class, 2).

    The number for right labels is on the diagonal. Elsewhere, `combine` adds or multiplies the number for wrong labels
    and the profile.
    """
    wrong = combine(right_and_wrong[:, :, 1:], profile)
    return np.where(np.eye(len(profile), dtype=bool), right_and_wrong[:, :, :1], wrong)
