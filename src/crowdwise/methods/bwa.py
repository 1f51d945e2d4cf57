r"""Bayesian Weighted Average: the truth is the workers' average vote, weighted by how well each agrees with it.

$$ z_i \sim N(\mu, \lambda^{-1}), \quad y_{ij} \sim N(z_i, v_j^{-1}), \quad v_j \sim Gamma(a/2, b/2) $$

for each class against the rest, with the weights v integrated out. Li, Rubinstein and Cohn, "Truth Inference at
Scale: A Bayesian Model for Adjudicating Highly Redundant Crowd Annotations", WWW 2019,
https://doi.org/10.1145/3308558.3313459.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from .. import kernels
from ..errors import CallError
from ..kernels import Array
from ..labels import Labels
from ..loop import Fitted, Iterative, Progress, run
from ..quality import accuracies
from ..result import Result, rank
from .mv import shares


class Errors(NamedTuple):
    """What the workers' weights are estimated from; adds up over disjoint items.

    Votes, disagreement and rows do not change: they are counted at the start and empty afterwards.
    """

    errors: Array  # (workers, classes): sum of (z - y)^2
    total: Array  # (classes): sum of z
    squares: Array  # (classes): sum of z^2
    votes: Array  # (workers)
    disagreement: Array  # (classes): sum of n z (1 - z) over items with n labels, z the vote share
    items: Array  # ()


@dataclass(frozen=True, eq=False)
class Weights:
    """The workers' weights, class by class, and what they were estimated from.

    Attributes:
        weight: (workers, classes), the expected weight v of a worker's vote.
        errors: (workers, classes), the sum of squared errors behind it.
        mean: (classes), the mean score, which has `mean_weight` in every item's average.
        prior_errors: (classes), b: how many errors in `prior_strength` votes are assumed beforehand.
        prior_strength: a.
        votes: (workers), votes given.
        items: How many items there are.
        running: (classes), which classes have not settled yet.
        objective: (classes), the negative log likelihood of the scores behind `errors`, up to a constant.
    """

    weight: Array
    errors: Array
    mean: Array
    prior_errors: Array
    prior_strength: float
    votes: Array
    items: int
    running: Array
    objective: Array

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """The weights' central posterior interval: v (b + errors) is chi-squared with a + votes degrees."""
        half = (self.prior_strength + self.votes)[:, None] / 2
        tail = (1 - level) / 2
        rate = (self.prior_errors + self.errors) / 2
        return special.gammaincinv(half, tail) / rate, special.gammaincinv(half, 1 - tail) / rate


@dataclass(frozen=True)
class BWA(Iterative[Weights, Errors]):
    """Bayesian Weighted Average.

    Use it where items have several labels each: it is robust, fast, needs no tuning, and cannot be led astray by
    a worker with few labels. Where workers confuse particular classes with each other, a confusion-matrix method
    sees more. Scores are weights in [0, 1], not probabilities.

    Args:
        prior_strength: a, how many votes the prior on each worker is worth. The paper's two settings are 15 with
            and 30 without `prior_correction`.
        prior_correction: Whether the prior's error rate is corrected upwards by 4 (1 - 1/classes): the error rate
            measured on majority votes is at most 1/4, a random worker's is 1 - 1/classes.
        mean_weight: lambda, the weight of the mean score in every item's average. It breaks ties.
        tolerance: A class has settled when no score moves by more than this, relative to itself.
        max_iterations: Stop a class that has not settled by then.
        restarts: How many random starts to try besides majority vote; the lowest objective wins, class by class.
        seed: Of the random starts.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays(
    ...     [1, 1, 1, 2, 2, 2, 3, 3, 3], ["ann", "bob", "cem"] * 3, ["cat", "cat", "dog"] * 2 + ["dog", "dog", "cat"]
    ... )
    >>> BWA().fit(labels).to_frame().select("item", "label", "votes").rows()
    [(1, 'cat', 3), (2, 'cat', 3), (3, 'dog', 3)]
    """

    prior_strength: float = 15.0
    prior_correction: bool = True
    mean_weight: float = 1.0
    tolerance: float = 1e-3
    max_iterations: int = 500
    restarts: int = 0
    seed: int = 0

    # numpy.allclose adds 1e-8 to 1e-3 times the score: relative to the score plus 1e-5, that is 1e-3 again.
    change_floor: ClassVar[float] = 1e-5

    def __post_init__(self) -> None:
        for name in ("prior_strength", "mean_weight", "tolerance", "max_iterations"):
            if not getattr(self, name) > 0:
                raise CallError(f"{name}={getattr(self, name)!r} is not a positive number.")
        if self.restarts < 0:
            raise CallError(f"restarts={self.restarts!r} is negative.")

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said; votes may be set-valued (`duplicates="set"`).
            progress: Called with the iteration and the change after each iteration.
        """
        fitted = run(self, labels, shares(labels), self._size(labels), progress)
        for attempt in range(self.restarts):
            random = np.random.default_rng([self.seed, attempt])
            start = random.random((labels.n_items, labels.n_classes))
            if labels.n_classes == 2 and not labels.set_valued:
                start[:, 1] = 1 - start[:, 0]
            fitted = self._better(labels, fitted, run(self, labels, start, self._size(labels), progress))
        return Result.build(
            self,
            labels,
            fitted.scores,
            "weight",
            convergence=fitted.convergence,
            workers=fitted.workers,
            quality=accuracies(labels, rank(fitted.scores)[0]),
            variance=self._variance(labels, fitted),
        )

    def score(self, labels: Labels, workers: Weights, previous: Array | None) -> Array:
        """The weighted average of the votes for each class that has not settled."""
        scores = np.empty((labels.n_items, labels.n_classes)) if previous is None else previous.copy()
        for k in range(labels.n_classes) if previous is None else self._classes(labels, workers):
            kernels.weighted_average(
                *_arrays(labels, k), workers.weight[:, k], self.mean_weight, workers.mean[k], scores[:, k]
            )
        if previous is not None and _mirrored(labels, workers):
            np.subtract(1, scores[:, 0], out=scores[:, 1])
        return scores

    def count(self, labels: Labels, scores: Array, workers: Weights | None) -> Errors:
        """Squared errors of every worker for each class that has not settled."""
        shape = (labels.n_workers, labels.n_classes)
        errors = np.zeros(shape, order="F")
        total, squares = np.zeros(shape[1]), np.zeros(shape[1])
        for k in self._classes(labels, workers):
            errors[:, k], total[k], squares[k] = kernels.squared_errors(
                *_arrays(labels, k), scores[:, k], labels.n_workers
            )
        if _mirrored(labels, workers):
            errors[:, 1] = errors[:, 0]
            total[1] = labels.n_items - total[0]
            squares[1] = labels.n_items - 2 * total[0] + squares[0]
        votes, disagreement = np.empty(0), np.empty(0)
        if workers is None:
            votes, disagreement = _start(labels)
        return Errors(errors, total, squares, votes, disagreement, np.array(labels.n_items))

    def estimate(self, counts: Errors, previous: Weights | None, change: Array) -> Weights:
        """Weights from the errors; those of a class that has settled stay as they gave its scores."""
        if previous is None:
            # Votes that are not unanimous disagree by at least a half: less than that, and b would be zero.
            error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes.sum()
            previous = Weights(
                weight=np.zeros_like(counts.errors),
                errors=counts.errors,
                mean=np.zeros_like(counts.total),
                prior_errors=self.prior_strength * error_rate * self._correction(len(counts.total)),
                prior_strength=self.prior_strength,
                votes=counts.votes,
                items=int(counts.items),
                running=np.ones(len(counts.total), bool),
                objective=np.zeros(len(counts.total)),
            )
        counted = previous.running
        running = counted & (change > self.tolerance)
        evidence = (self.prior_strength + previous.votes)[:, None]
        smoothed = previous.prior_errors + counts.errors
        spread = counts.squares - counts.total**2 / previous.items
        objective = self.mean_weight / 2 * spread + (evidence / 2 * np.log(smoothed)).sum(axis=0)
        return replace(
            previous,
            weight=np.asfortranarray(np.where(running, evidence / smoothed, previous.weight)),
            errors=np.where(running, counts.errors, previous.errors),
            mean=np.where(running, counts.total / previous.items, previous.mean),
            running=running,
            objective=np.where(counted, objective, previous.objective),
        )

    def _size(self, labels: Labels) -> int:
        return labels.n_workers * labels.n_classes

    def _correction(self, n_classes: int) -> float:
        return 4 * (1 - 1 / max(n_classes, 2)) if self.prior_correction else 1.0

    def _classes(self, labels: Labels, workers: Weights | None) -> list[int]:
        """The classes to compute: those that have not settled, and only one of two that mirror each other."""
        if _mirrored(labels, workers):
            return [0]
        return list(range(labels.n_classes)) if workers is None else np.flatnonzero(workers.running).tolist()

    def _better(self, labels: Labels, one: Fitted[Weights], other: Fitted[Weights]) -> Fitted[Weights]:
        """The better of two runs, class by class; a thousandth of a nat is what stopping early leaves open."""
        improved = other.objective < one.objective - 1e-3
        if not improved.any():
            return one
        workers = replace(
            one.workers,
            weight=np.asfortranarray(np.where(improved, other.workers.weight, one.workers.weight)),
            errors=np.where(improved, other.workers.errors, one.workers.errors),
            mean=np.where(improved, other.workers.mean, one.workers.mean),
        )
        return Fitted(
            scores=np.where(improved, other.scores, one.scores),
            workers=workers,
            convergence=other.convergence,
            objective=np.where(improved, other.objective, one.objective),
        )

    def _variance(self, labels: Labels, fitted: Fitted[Weights]) -> Array:
        evidence = self.prior_strength + fitted.workers.votes
        variance = np.empty_like(fitted.scores)
        for k in range(labels.n_classes):
            kernels.average_variance(
                *_arrays(labels, k),
                fitted.scores[:, k],
                fitted.workers.weight[:, k],
                evidence,
                self.mean_weight,
                variance[:, k],
            )
        return variance


def _arrays(labels: Labels, k: int) -> tuple[Array, Array, Array, bool, Array]:
    """What the kernels need of the labels to see class k against the rest."""
    in_favour = np.zeros(labels.n_classes)
    in_favour[k] = 1.0
    return labels.item_starts, labels.workers, labels.labels, labels.set_valued, in_favour


def _mirrored(labels: Labels, workers: Weights | None) -> bool:
    """Whether class 1 is class 0 turned round: two classes, one class a vote, and both still running."""
    return labels.n_classes == 2 and not labels.set_valued and (workers is None or bool(workers.running.all()))


def _start(labels: Labels) -> tuple[Array, Array]:
    """Votes per worker, and per class how much the votes on one item disagree."""
    votes = kernels.votes_per_worker(labels.item_starts, labels.workers, labels.set_valued, labels.n_workers)
    share = shares(labels)
    # The published numbers weigh an item by its rows, which differ from its votes where votes are set-valued.
    rows = np.diff(labels.item_starts)[:, None]
    return votes, (rows * share * (1 - share)).sum(axis=0)
