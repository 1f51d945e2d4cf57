r"""The model of `MMSR`.

$$ \frac{K \, P(y_{ij} = y_{ij'}) - 1}{K - 1} = s_j s_{j'}, \quad s_j = \frac{K p_j - 1}{K - 1} $$

where p is the worker's accuracy; votes weigh log((1 + (K - 1) s) / (1 - s)).
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from .. import kernels
from ..data.crowd import Crowd
from ..data.labels import Labels
from ..errors import require_room
from ..inference.in_memory import InMemoryMethod, Step, Steps
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from ..results.contributions import Contributions
from ..results.learned import Learned, Trust
from ..results.result import TIE, Scale


@dataclass(frozen=True, eq=False)
class Skills(Learned):
    """What every worker can.

    Attributes:
        skill: (workers), s: 1 is always right, 0 is guessing.
        weight: (workers), of its votes.
    """

    skill: Array
    weight: Array

    def trust(self) -> Trust:
        """What a worker's vote weighs."""
        return Trust(self.weight, "Weight of a vote")


@dataclass(frozen=True)
class MMSR(InMemoryMethod):
    """Skills from pairwise agreement, robust against workers who conspire.

    Use it where some workers may be adversaries, even clever ones: what they do to others' skills is trimmed away.
    It needs workers who share many items, and compares all pairs: workers squared numbers, and all labels in memory.
    Scores are margins.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(MMSR().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "mmsr"
    summary: ClassVar[str] = (
        "M-MSR: skills from how often any two workers agree, a rank-one matrix, with extreme pairs left out."
    )
    paper: ClassVar[Reference] = Reference(
        "Ma and Olshevsky",
        "Adversarial Crowdsourcing Through Robust Rank-One Matrix Completion",
        "NeurIPS 2020",
        "https://arxiv.org/abs/2010.12181",
    )

    trim: float = parameter(
        0.25,
        "The share of a worker's comparisons that is left out at either end, by weight.",
        at_least=0,
        below=0.5,
    )
    tolerance: float = parameter(1e-4, "Stop when no skill moves by more than this.", at_least=0)
    max_iterations: int = parameter(200, "Stop then at the latest.", at_least=1)

    scale: ClassVar[Scale] = "margin"

    def check(self, labels: Crowd) -> None:
        """Refuse votes that name several classes, and more pairs of workers than fit in memory."""
        super().check(labels)
        require_room(
            16 * labels.n_workers**2,  # two numbers for every pair
            f"MMSR compares all pairs of workers: {labels.n_workers:,} workers",
            "Use a method with a number per worker instead, such as one_coin.",
        )

    def iterate(self, labels: Labels) -> Steps:
        """Skills from how often workers agree, given the others' skills."""
        common, similarity = _compare_workers(labels)
        skill = np.ones(labels.n_workers)
        while True:
            before = skill
            other = before.copy()
            kernels.trimmed_ratios(similarity, common, before, self.trim, other)
            # Either side of the product is the same skills: of the same length, and halfway so that they do not swing.
            skill = (before + other * np.sqrt(_length(before) / _length(other))) / 2
            yield Step(float(np.abs(skill - before).max()), partial(_weighted_votes, labels, skill))

    def contributions(self, one: Labels, item: int, workers: Skills) -> Contributions:
        """What each vote on one item adds to the score of the class it names."""
        return Contributions.of_votes(workers.weight[one.workers], one.n_classes)


def _compare_workers(labels: Labels) -> tuple[Array, Array]:
    """(workers, workers): how many items any two have in common, and how much more than by chance they agree."""
    from scipy import sparse  # slow to import: not before it is needed

    items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    classes = labels.n_classes

    def products(columns: Array, width: int) -> Array:
        there = sparse.csr_array((np.ones(labels.n_labels), (labels.workers, columns)), shape=(labels.n_workers, width))
        return np.asarray((there @ there.T).toarray())

    common = products(items, labels.n_items)
    agreed = products(items * classes + labels.labels, labels.n_items * classes)
    np.fill_diagonal(common, 0)
    similarity = np.divide(agreed, common, out=np.zeros_like(common), where=common > 0)
    similarity *= classes
    similarity -= 1
    similarity /= max(classes - 1, 1)
    return common, similarity


def _weighted_votes(labels: Labels, skill: Array) -> tuple[Array, Skills]:
    """The scores that follow from the skills."""
    if skill.sum() < 0:  # skills are known up to a common sign, and most workers mean well
        skill = -skill
    skill, weight = _bounded(skill, labels)
    scores = np.zeros((labels.n_items, labels.n_classes))
    arrays = (labels.item_starts, labels.workers, labels.labels)
    unused = np.zeros(labels.n_classes), np.zeros(labels.n_workers), np.zeros(labels.n_workers)
    kernels.sweep_votes(*arrays, weight, TIE, scores, *unused)
    return scores, Skills(skill, weight)


def _bounded(skill: Array, labels: Labels) -> tuple[Array, Array]:
    """Skills no surer than the labels behind them allow, and the weights that follow."""
    others = max(labels.n_classes - 1, 1)
    given = np.bincount(labels.workers, minlength=labels.n_workers)
    accuracy = np.clip((skill * others + 1) / (others + 1), 1 / (given + 2), (given + 1) / (given + 2))
    return (accuracy * (others + 1) - 1) / others, np.log(accuracy * others / (1 - accuracy))


def _length(vector: Array) -> float:
    """Euclid's, or one where there is none."""
    return float(np.linalg.norm(vector)) or 1.0
