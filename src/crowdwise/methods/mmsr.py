r"""M-MSR: skills from how often any two workers agree, a rank-one matrix, with extreme pairs left out.

$$ \frac{K \, P(y_{ij} = y_{ij'}) - 1}{K - 1} = s_j s_{j'}, \quad s_j = \frac{K p_j - 1}{K - 1} $$

where p is the worker's accuracy; votes weigh log((1 + (K - 1) s) / (1 - s)). Ma and Olshevsky, "Adversarial
Crowdsourcing Through Robust Rank-One Matrix Completion", NeurIPS 2020, https://arxiv.org/abs/2010.12181.
"""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..errors import CallError, require_room, require_whole
from ..inference.loop import Progress
from ..kernels import Array
from ..results.contributions import Support
from ..results.quality import accuracies
from ..results.result import TIE, Convergence, Result


@dataclass(frozen=True, eq=False)
class Skills:
    """What every worker can.

    Attributes:
        skill: (workers), s: 1 is always right, 0 is guessing.
        weight: (workers), of its votes.
    """

    skill: Array
    weight: Array


@dataclass(frozen=True)
class MMSR:
    """Skills from pairwise agreement, robust against workers who conspire.

    Use it where some workers may be adversaries, even clever ones: what they do to others' skills is trimmed away.
    It needs workers who share many items, and compares all pairs: workers squared numbers, and all labels in memory.
    Scores are margins.

    Args:
        trim: The share of a worker's comparisons that is left out at either end, by weight.
        tolerance: Stop when no skill moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(MMSR().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    trim: float = 0.25
    tolerance: float = 1e-4
    max_iterations: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.trim < 0.5:
            raise CallError(f"trim={self.trim!r} is not in [0, 0.5).")
        require_whole(1, max_iterations=self.max_iterations)

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_suitable(self)
        labels.require_single_votes("MMSR")
        require_room(
            16 * labels.n_workers**2,  # two numbers for every pair
            f"MMSR compares all pairs of workers: {labels.n_workers:,} workers",
            "Use a method with a number per worker instead, such as one_coin.",
        )
        common, similarity = _compare_workers(labels)
        skill = np.ones(labels.n_workers)
        for iteration in range(1, self.max_iterations + 1):
            before = skill
            other = before.copy()
            kernels.trimmed_ratios(similarity, common, before, self.trim, other)
            # Either side of the product is the same skills: of the same length, and halfway so that they do not swing.
            skill = (before + other * np.sqrt(_length(before) / _length(other))) / 2
            change = float(np.abs(skill - before).max())
            if progress is not None:
                progress(iteration, change)
            if change <= self.tolerance:
                break
        if skill.sum() < 0:  # skills are known up to a common sign, and most workers mean well
            skill = -skill
        skill, weight = _bounded(skill, labels)
        scores = np.zeros((labels.n_items, labels.n_classes))
        arrays = (labels.item_starts, labels.workers, labels.labels)
        unused = np.zeros(labels.n_classes), np.zeros(labels.n_workers), np.zeros(labels.n_workers)
        kernels.sweep_votes(*arrays, weight, TIE, True, scores, *unused)
        return Result.build(
            self,
            labels,
            scores,
            "margin",
            convergence=Convergence(iteration, change <= self.tolerance, change),
            workers=Skills(skill, weight),
            quality=accuracies,
        )

    def support(self, one: Labels, item: int, workers: Skills) -> Support:
        """What each vote on one item adds to the score of the class it names."""
        return Support.of_votes(workers.weight[one.workers], one.n_classes)


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


def _bounded(skill: Array, labels: Labels) -> tuple[Array, Array]:
    """Skills no surer than the labels behind them allow, and the weights that follow."""
    others = max(labels.n_classes - 1, 1)
    given = np.bincount(labels.workers, minlength=labels.n_workers)
    accuracy = np.clip((skill * others + 1) / (others + 1), 1 / (given + 2), (given + 1) / (given + 2))
    return (accuracy * (others + 1) - 1) / others, np.log(accuracy * others / (1 - accuracy))


def _length(vector: Array) -> float:
    """Euclid's, or one where there is none."""
    return float(np.linalg.norm(vector)) or 1.0
