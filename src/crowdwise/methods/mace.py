r"""The model of `MACE`.

$$ s_{ij} \sim Bernoulli(1 - \theta_j), \; y_{ij} = z_i \text{ if } s_{ij} = 0, \text{ else } y_{ij} \sim Cat(\xi_j) $$

with theta ~ Beta(a, a), xi ~ Dir(b), and classes equally likely.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..inference.confusion_matrices import ConfusionCounts, ConfusionMethod, Confusions, counted, log
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array


@dataclass(frozen=True, eq=False)
class Competences(Confusions):
    """How often every worker knows the answer, and what it says when it does not.

    Attributes:
        knowing: (workers), theta, the weight of knowing; with variational Bayes, knowing and spamming need not add up
            to one.
        spamming: (workers, classes), the weight of spamming times that of each class.
    """

    knowing: Array
    spamming: Array


@dataclass(frozen=True)
class MACE(ConfusionMethod):
    """Competences of workers who know or spam.

    Use it where some workers click without looking, always the same or at random: it tells their habits apart from
    errors. It starts from majority vote, once, where released implementations start at random several times.

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

    knowing_prior: float = parameter(0.5, "a, the prior's counts of knowing and of spamming labels.", above=0)
    habit_prior: float = parameter(10.0, "b, its count of each class in a spammer's habits.", above=0)
    tolerance: float = parameter(1e-4, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)

    def estimate(self, counts: ConfusionCounts, previous: Confusions | None, change: Array) -> Confusions:
        """Who knew, given the classes and the previous competences; and new competences from that."""
        from scipy import special  # slow to import: not before it is needed

        cells = counted(counts)
        n_workers, classes = cells.shape[:2]
        if not isinstance(previous, Competences):
            half = np.full(n_workers, 0.5)
            empty = np.zeros((0, classes, classes))
            habits = np.full((n_workers, classes), 0.5 / classes)
            flat = np.full(classes, -np.log(classes))
            previous = Competences(empty, flat, empty, np.zeros(1), half, habits)
        right = np.diagonal(cells, axis1=1, axis2=2)
        knew = right * previous.knowing[:, None] / (previous.knowing[:, None] + previous.spamming)
        spammed = cells.sum(axis=1) - knew
        known, spam = knew.sum(axis=1) + self.knowing_prior, spammed.sum(axis=1) + self.knowing_prior
        habits = spammed + self.habit_prior
        knowing = np.exp(special.digamma(known) - special.digamma(known + spam))
        spamming = np.exp(special.digamma(spam) - special.digamma(known + spam))
        habit = np.exp(special.digamma(habits) - special.digamma(habits.sum(axis=1, keepdims=True)))
        weight = np.broadcast_to((spamming[:, None] * habit)[:, :, None], (n_workers, classes, classes)).copy()
        diagonal = np.arange(classes)
        weight[:, diagonal, diagonal] += knowing[:, None]
        share = (known / (known + spam))[:, None, None]
        expected = share * np.eye(classes) + (1 - share) * (habits / habits.sum(axis=1, keepdims=True))[:, None]
        return replace(
            previous,
            evidence=log(weight),
            matrices=expected,
            objective=-counts.log_likelihood,
            knowing=knowing,
            spamming=spamming[:, None] * habit,
        )
