r"""MACE: for each label, a worker either knows the answer or spams, with habits of its own.

$$ s_{ij} \sim Bernoulli(1 - \theta_j), \; y_{ij} = z_i \text{ if } s_{ij} = 0, \text{ else } y_{ij} \sim Cat(\xi_j) $$

Here z_i is the true class of item i, y_ij the class that worker j said, and s_ij is 1 if the worker spammed. theta_j is
how often the worker knows the answer, with the prior Beta(a, a); xi_j is how often it says each class when it spams,
with the prior Dir(b). All classes are equally likely.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..families.confusion_matrices.base import ConfusionCounts, ConfusionMethod, Confusions, by_true_class, log
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from ..results.learned import PerWorker


@dataclass(frozen=True, eq=False)
class Competences(Confusions):
    """How often every worker knows the answer, and what it says when it spams.

    The weights are exponentials of expected logarithms, so those of knowing and spamming need not add up to one.

    Attributes:
        knowing: (workers), the weight of knowing the answer.
        spamming: (workers, classes), the weight of spamming, times the weight of each class in the worker's habits.
    """

    knowing: PerWorker
    spamming: PerWorker


@dataclass(frozen=True)
class MACE(ConfusionMethod):
    """Workers who either know the answer or spam.

    Use it where some workers answer without looking at the item, always with the same class or at random. It does not
    suit workers who confuse particular classes: for them use a confusion-matrix method. It starts once, from majority
    vote; released implementations start several times, at random.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(MACE().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "mace"
    summary: ClassVar[str] = (
        "MACE: a worker either knows the answer or spams, with habits of its own, by variational Bayes."
    )
    paper: ClassVar[Reference] = Reference(
        "Hovy, Berg-Kirkpatrick, Vaswani and Hovy",
        "Learning Whom to Trust with MACE",
        "NAACL 2013",
        "https://aclanthology.org/N13-1132/",
    )

    knowing_prior: float = parameter(
        0.5, "How many labels of knowing, and how many of spamming, the prior counts for every worker.", above=0
    )
    habit_prior: float = parameter(
        10.0, "How many labels of each class the prior counts in the spam of every worker.", above=0
    )
    tolerance: float = settled_within(1e-4)
    max_iterations: int = most_iterations(200)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """M step: which labels were known and which were spam, and from that how often every worker knows."""
        from scipy import special  # imported here because it is slow to import

        cells = by_true_class(counts)
        n_workers, classes = cells.shape[:2]
        if not isinstance(previous, Competences):
            previous = competences(np.full(n_workers, 0.5), np.full((n_workers, classes), 0.5 / classes))
        knew, spammed = known_and_spammed(cells, previous)
        known, spam = knew.sum(axis=1) + self.knowing_prior, spammed.sum(axis=1) + self.knowing_prior
        habits = spammed + self.habit_prior
        knowing = np.exp(special.digamma(known) - special.digamma(known + spam))
        spamming = np.exp(special.digamma(spam) - special.digamma(known + spam))
        habit = np.exp(special.digamma(habits) - special.digamma(habits.sum(axis=1, keepdims=True)))
        share = (known / (known + spam))[:, None, None]
        expected = share * np.eye(classes) + (1 - share) * (habits / habits.sum(axis=1, keepdims=True))[:, None]
        learned = competences(knowing, spamming[:, None] * habit)
        return replace(learned, matrices=expected, objective=-counts.log_likelihood)


def competences(knowing: Array, spamming: Array) -> Competences:
    """Competences with these weights, without confusion matrices and objective; arguments are as their attributes."""
    n_workers, classes = spamming.shape
    weight = np.broadcast_to(spamming[:, :, None], (n_workers, classes, classes)).copy()
    diagonal = np.arange(classes)
    weight[:, diagonal, diagonal] += knowing[:, None]
    flat = np.full(classes, -np.log(classes))
    return Competences(log(weight), flat, np.zeros((0, classes, classes)), np.zeros(1), knowing, spamming)


def known_and_spammed(cells: Array, workers: Competences) -> tuple[Array, Array]:
    """How many labels of every class each worker is expected to have known, and to have spammed.

    `cells` (workers, true class, said class) are the counts of a sweep with these competences; see `by_true_class`.
    """
    right = np.diagonal(cells, axis1=1, axis2=2)
    knew = right * workers.knowing[:, None] / (workers.knowing[:, None] + workers.spamming)
    return knew, cells.sum(axis=1) - knew
