r"""The model of `Hierarchical`.

$$ z_i \sim Cat(\pi), \; P(y_{ij} = k \mid z_i = k) = a_{jk} \sim Beta(A_k, B_k), \; y_{ij} \mid wrong \sim Cat(G_k) $$

with A, B and the errors' profile G shared by all workers and learned (empirical Bayes). A middle between one accuracy
and one confusion matrix per worker.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from ..inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, as_evidence, counted
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array


@dataclass(frozen=True, eq=False)
class SharedConfusions(Confusions):
    """Confusion matrices with the prior that all workers share.

    Attributes:
        row_counts: The prior's counts: (classes, 2) of right and wrong labels, or (classes, classes) if full.
        vote_classes: (classes), how many items majority vote puts in each class.
    """

    row_counts: Array
    vote_classes: Array


@dataclass(frozen=True)
class Hierarchical(ConfusionMethod):
    """Accuracies or confusion matrices with a learned prior.

    Use it where there are many workers with few labels each: what one does not tell, the others do. With few workers
    the shared prior has little to learn from, and it can settle on a wrong balance of classes.

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
        '"class_accuracy", an accuracy per worker and class, the errors\' profile shared; "full", a confusion matrix '
        'per worker; or "one_coin", an accuracy per worker, the errors\' profile shared, and a flat instead of an '
        "empirical prior over classes.",
    )
    tolerance: float = parameter(1e-4, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Expected logarithms under the posteriors, after three steps of the shared prior towards its optimum."""
        from scipy import special  # slow to import: not before it is needed

        classes = len(counts.classes)
        if not isinstance(previous, SharedConfusions):
            first = np.tile([4.0, max(classes - 1, 1)], (classes, 1))
            if self.form == "full":
                first = 1.0 + 3.0 * np.eye(classes)
            empty = np.zeros((0, classes, classes))
            previous = SharedConfusions(empty, np.zeros(classes), empty, np.zeros(1), first, counts.classes.copy())
        cells = counted(counts)
        rows = cells if self.form == "full" else _right_and_wrong(cells, self.form == "one_coin")
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
    """Minka's fixed-point steps for the Dirichlet prior of the rows of every class: (workers, classes, cells)."""
    from scipy import special  # slow to import: not before it is needed

    total = rows.sum(axis=2)
    for _ in range(steps):
        strength = prior.sum(axis=1)
        above = (special.digamma(rows + prior) - special.digamma(prior)).sum(axis=0)
        below = (special.digamma(total + strength) - special.digamma(strength)).sum(axis=0)[:, None]
        # A class that nobody has met teaches nothing: its prior stays.
        prior = np.clip(np.where(below > 0, prior * above / np.where(below > 0, below, 1), prior), 0.01, 1000)
    return np.asarray(prior)


def _right_and_wrong(cells: Array, together: bool) -> Array:
    """(workers, classes, 2): right and wrong labels by true class, or those of all classes `together` for each."""
    right = np.diagonal(cells, axis1=1, axis2=2)
    wrong = cells.sum(axis=2) - right
    if together:
        right = np.broadcast_to(right.sum(axis=1, keepdims=True), right.shape)
        wrong = np.broadcast_to(wrong.sum(axis=1, keepdims=True), wrong.shape)
    return np.stack([right, wrong], axis=2)


def _error_profile(cells: Array) -> Array:
    """(true class, said class): what is said when it is wrong; nothing on the diagonal."""
    profile = 1 + cells.sum(axis=0)
    np.fill_diagonal(profile, 0)
    total = profile.sum(axis=1, keepdims=True)
    return np.asarray(profile / np.where(total > 0, total, 1))


def _spread(right_and_wrong: Array, profile: Array, combine: np.ufunc) -> Array:
    """(workers, classes, 2) as matrices: right on the diagonal, wrong combined with the profile elsewhere."""
    matrices = combine(right_and_wrong[:, :, 1:], profile[None])
    diagonal = np.arange(profile.shape[0])
    matrices[:, diagonal, diagonal] = right_and_wrong[:, :, 0]
    return np.asarray(matrices)
