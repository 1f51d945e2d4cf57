r"""M-MSR: the skills of workers from how often any two of them agree, robust against conspiracies.

$$ \frac{K \, P(y_{ij} = y_{ij'}) - 1}{K - 1} = s_j s_{j'}, \quad s_j = \frac{K p_j - 1}{K - 1} $$

Here y_ij is the class that worker j said of item i, K the number of classes, p_j the accuracy of the worker, and s_j
its skill: 1 is always right, 0 is guessing. The left side, how much more often than by chance two workers agree, is the
product of their skills. Votes weigh log((1 + (K - 1) s) / (1 - s)).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..errors import require_room
from ..families.weighted_votes.model import weight_sums
from ..fitting.in_memory import InMemoryMethod
from ..fitting.iterations import Step, Steps
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, PerWorker, Trust
from ..results.result import Scale


@dataclass(frozen=True, eq=False)
class Skills(Learned):
    """How good every worker is.

    Attributes:
        skill: (workers), s in the formulas: 1 is always right, 0 is guessing.
        weight: (workers), the weight of the worker's votes.
    """

    skill: PerWorker
    weight: PerWorker

    def trust(self) -> Trust:
        """A worker is trusted by the weight of its votes."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class MMSR(InMemoryMethod):
    """Skills from how often any two workers agree, robust against workers who conspire.

    Use it where some workers may give wrong labels on purpose, even together: a worker's most extreme comparisons with
    others are left out. It needs workers who labelled many of the same items. It compares all pairs of workers, so it
    is not for very many workers, and needs all labels in memory. Scores are margins: sums of weights, which may be
    negative.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(MMSR().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "mmsr"
    summary: ClassVar[str] = (
        "M-MSR: votes weighted by skills, learned from how often any two workers agree, with extreme pairs left out."
    )
    paper: ClassVar[Reference] = Reference(
        "Ma and Olshevsky",
        "Adversarial Crowdsourcing Through Robust Rank-One Matrix Completion",
        "NeurIPS 2020",
        "https://arxiv.org/abs/2010.12181",
    )

    trim: float = parameter(
        0.25,
        "The share, by weight, of a worker's comparisons with others that is left out at each end: the lowest and the "
        "highest.",
        at_least=0,
        below=0.5,
    )
    tolerance: float = settled_within(1e-4, "skill")
    max_iterations: int = most_iterations(200)

    scale: ClassVar[Scale] = "margin"

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more pairs of workers than fit in memory."""
        super().check(labels)
        require_room(
            16 * labels.n_workers**2,  # two numbers for every pair
            f"MMSR compares all pairs of workers: {labels.n_workers:,} workers",
            "Use a method with a number per worker instead, such as one_coin.",
        )

    def limits(self) -> Limits:
        """It takes no gold."""
        return replace(
            super().limits(),
            no_gold="because it learns from how often workers agree with each other, not from the classes of items",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, estimate each worker's skill from its agreement with the others and their skills."""
        common, similarity = _compare_workers(labels)
        skill = np.ones(labels.n_workers)
        while True:
            before = skill
            other = _trimmed_ratios(similarity, common, before, self.trim)
            # Both factors of the product are the same skills, so the new skills are scaled to fit the old ones, and go
            # only halfway to their new values: otherwise they could change back and forth for ever.
            skill = (before + other * np.sqrt(_length(before) / _length(other))) / 2
            yield Step(float(np.abs(skill - before).max()), partial(_weighted_votes, labels, skill))

    def contributions(self, one: Labels, item: int, workers: Skills) -> Contributions:
        """What each vote on one item adds to the score of the class that it names."""
        return Contributions.of_votes(workers.weight[one.workers], one.n_classes)


def _compare_workers(labels: Labels) -> tuple[Array, Array]:
    """Two arrays (workers, workers): how many items two workers both labelled, and the left side of the formula.

    That is how much more often than by chance they agree. No worker is compared with itself.
    """
    from scipy import sparse  # imported here because it is slow to import

    items = labels.item_of
    classes = labels.n_classes

    def products(columns: Array, width: int) -> Array:
        """(workers, workers): in how many columns both have a label; `columns` says which column each label is in."""
        table = sparse.csr_array((np.ones(labels.n_labels), (labels.workers, columns)), shape=(labels.n_workers, width))
        return np.asarray((table @ table.T).toarray())

    common = products(items, labels.n_items)
    agreed = products(items * classes + labels.labels, labels.n_items * classes)
    np.fill_diagonal(common, 0)
    similarity = np.divide(agreed, common, out=np.zeros_like(common), where=common > 0)
    similarity *= classes
    similarity -= 1
    similarity /= max(classes - 1, 1)
    return common, similarity


def _weighted_votes(labels: Labels, skill: Array) -> tuple[Array, Skills]:
    """The scores that follow from the skills, and the skills with the weights of votes."""
    if skill.sum() < 0:  # agreement does not tell the sign of all skills; most workers are taken to be honest
        skill = -skill
    skill, weight = _bounded(skill, labels)
    return weight_sums(labels, weight), Skills(skill, weight)


def _trimmed_ratios(similarity: Array, common: Array, skill: Array, trim: float) -> Array:
    """(workers), each worker's skill by least squares from its agreement with the others, without the extremes.

    It is the weighted mean of `similarity[i, j] / skill[j]` over j, with the weights `common[i, j] * skill[j]**2`. The
    ratios are sorted, and the share `trim` of the total weight is left out at each end; a ratio at the cut keeps the
    part of its weight that is inside. A worker whose ratios have no weight keeps its skill.
    """
    new = skill.copy()
    for i in range(len(skill)):
        weights = common[i] * skill**2
        others = np.flatnonzero(weights > 0)
        if len(others) == 0:
            continue
        ratios = similarity[i, others] / skill[others]
        order = np.argsort(ratios)
        ends = np.cumsum(weights[others][order])
        # What is left of each weight, if they are laid end to end, and both ends are cut off.
        inside = np.diff(np.clip(ends, trim * ends[-1], (1 - trim) * ends[-1]), prepend=trim * ends[-1])
        new[i] = (inside * ratios[order]).sum() / inside.sum()
    return new


def _bounded(skill: Array, labels: Labels) -> tuple[Array, Array]:
    """The skills, kept within what the number of each worker's labels can show, and the weights that follow."""
    others = max(labels.n_classes - 1, 1)
    given = np.bincount(labels.workers, minlength=labels.n_workers)
    accuracy = np.clip((skill * others + 1) / (others + 1), 1 / (given + 2), (given + 1) / (given + 2))
    return (accuracy * (others + 1) - 1) / others, np.log(accuracy * others / (1 - accuracy))


def _length(vector: Array) -> float:
    """The Euclidean length of a vector; one if it is zero."""
    return float(np.linalg.norm(vector)) or 1.0
