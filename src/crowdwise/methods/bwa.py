r"""Bayesian Weighted Average: the truth is the workers' average vote, weighted by how well each agrees with it.

$$ z_i \sim N(\mu, \lambda^{-1}), \quad y_{ij} \sim N(z_i, v_j^{-1}), \quad v_j \sim Gamma(a/2, b/2) $$

for each class against the rest, with the weights v integrated out. Li, Rubinstein and Cohn, "Truth Inference at
Scale: A Bayesian Model for Adjudicating Highly Redundant Crowd Annotations", WWW 2019,
https://doi.org/10.1145/3308558.3313459.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from .. import kernels
from ..errors import CallError
from ..kernels import Array
from ..labels import Labels
from ..loop import Fitted, Iterative, Progress, each_slice, run
from ..quality import accuracies
from ..result import Result
from .mv import shares

Blocks = tuple[tuple[int, ...], ...]


class Errors(NamedTuple):
    """What the workers' weights are estimated from; adds up over disjoint items.

    The last four do not change: they are counted at the start and empty afterwards.
    """

    errors: Array  # (blocks, workers, lanes): sum of (z - y)^2
    sums: Array  # (blocks, 2, lanes): sum of z, and of z^2
    votes: Array  # (workers)
    disagreement: Array  # (classes): sum of n z (1 - z) over items with n labels, z the vote share
    items: Array  # (1)
    set_votes: Array  # (1): rows that continue a vote


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
        set_valued: Whether some vote names several classes.
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
    set_valued: bool
    running: Array
    objective: Array

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """The weights' central posterior interval: v (b + errors) is chi-squared with a + votes degrees."""
        half = (self.prior_strength + self.votes)[:, None] / 2
        tail = (1 - level) / 2
        rate = (self.prior_errors + self.errors) / 2
        return special.gammaincinv(half, tail) / rate, special.gammaincinv(half, 1 - tail) / rate

    @cached_property
    def mirrored(self) -> bool:
        """Whether class 1 is class 0 turned round: two classes, one class a vote, and both still running."""
        return _mirrored(len(self.running), self.set_valued) and bool(self.running.all())

    @cached_property
    def blocks(self) -> Blocks:
        """The classes to compute: those that have not settled, and only one of two that mirror each other."""
        running = [0] if self.mirrored else np.flatnonzero(self.running).tolist()
        return _blocks(running, len(self.running))

    @cached_property
    def weight_blocks(self) -> list[Array]:
        """The weights of each block, (workers, lanes)."""
        return [np.ascontiguousarray(self.weight[:, block]) for block in self.blocks]


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

    # Changes are relative to the score plus this: 1e-3 of both is numpy.allclose's 1e-3 of the score plus 1e-8.
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
        size = labels.n_workers * labels.n_classes
        fitted = run(self, labels, shares(labels), size, progress)
        for attempt in range(self.restarts):
            start = np.random.default_rng([self.seed, attempt]).random((labels.n_items, labels.n_classes))
            if _mirrored(labels.n_classes, labels.set_valued):
                start[:, 1] = 1 - start[:, 0]
            fitted = _better(fitted, run(self, labels, start, size, progress))
        return Result.build(
            self,
            labels,
            fitted.scores,
            "weight",
            convergence=fitted.convergence,
            workers=fitted.workers,
            quality=accuracies,
            variance=self._variance(labels, fitted),
        )

    def score(self, labels: Labels, workers: Weights, scores: Array, fresh: bool = False) -> Array:
        """The weighted average of the votes for each class that has not settled."""
        if fresh:
            workers = replace(workers, running=np.ones_like(workers.running), set_valued=True)
        changes = np.zeros((1, scores.shape[1]))
        for block, weight in zip(workers.blocks, workers.weight_blocks, strict=True):
            prior = (self.mean_weight, workers.mean[None, block])
            kernels.weighted_averages(*_arrays(labels), block, weight, *prior, self.change_floor, scores, changes)
        if workers.mirrored:
            changes[0, 1] = kernels.mirror(scores, self.change_floor)
        return np.asarray(changes[0])

    def count(self, labels: Labels, scores: Array, workers: Weights | None) -> Errors:
        """Squared errors of every worker for each class that has not settled."""
        blocks = _all_blocks(labels) if workers is None else workers.blocks
        lanes = len(blocks[0]) if blocks else 0
        errors = np.zeros((len(blocks), labels.n_workers, lanes))
        sums = np.zeros((len(blocks), 2, lanes))
        for block, *parts in zip(blocks, errors, sums, strict=True):
            kernels.squared_errors(*_arrays(labels), block, scores, *parts)
        return Errors(errors, sums, *(_start(labels) if workers is None else (np.empty(0),) * 4))

    def estimate(self, counts: Errors, previous: Weights | None, change: Array) -> Weights:
        """Weights from the errors; those of a class that has settled stay as they gave its scores."""
        if previous is None:
            previous = self._prior(counts)
        counted = previous.running
        errors, (total, squares) = previous.errors.copy(), np.zeros((2, len(counted)))
        for block, part, sums in zip(previous.blocks, counts.errors, counts.sums, strict=True):
            errors[:, block] = part
            total[list(block)], squares[list(block)] = sums
        if previous.mirrored:
            errors[:, 1] = errors[:, 0]
            total[1] = previous.items - total[0]
            squares[1] = previous.items - 2 * total[0] + squares[0]
        evidence = (self.prior_strength + previous.votes)[:, None]
        smoothed = previous.prior_errors + errors
        spread = squares - total**2 / previous.items
        objective = self.mean_weight / 2 * spread + (evidence / 2 * np.log(smoothed)).sum(axis=0)
        running = counted & (change > self.tolerance)
        return replace(
            previous,
            weight=np.where(running, evidence / smoothed, previous.weight),
            errors=np.where(running, errors, previous.errors),
            mean=np.where(running, total / previous.items, previous.mean),
            running=running,
            objective=np.where(counted, objective, previous.objective),
        )

    def _prior(self, counts: Errors) -> Weights:
        """What is known before any error is counted; every class runs."""
        shape = (len(counts.votes), len(counts.disagreement))
        # Votes that are not unanimous disagree by at least a half: less than that, and b would be zero.
        error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes.sum()
        correction = 4 * (1 - 1 / max(shape[1], 2)) if self.prior_correction else 1.0
        return Weights(
            weight=np.zeros(shape),
            errors=np.zeros(shape),
            mean=np.zeros(shape[1]),
            prior_errors=self.prior_strength * error_rate * correction,
            prior_strength=self.prior_strength,
            votes=counts.votes,
            items=int(counts.items[0]),
            set_valued=bool(counts.set_votes[0]),
            running=np.ones(shape[1], bool),
            objective=np.zeros(shape[1]),
        )

    def _variance(self, labels: Labels, fitted: Fitted[Weights]) -> Array:
        """The posterior variance of the scores."""
        variance = np.empty_like(fitted.scores)
        weight = fitted.workers.weight
        bend = 2 * weight**2 / (self.prior_strength + fitted.workers.votes)[:, None]
        blocks = _blocks(range(labels.n_classes), labels.n_classes)
        lanes = [tuple(np.ascontiguousarray(values[:, block]) for values in (weight, bend)) for block in blocks]

        def fill(first: int, last: int, part: Labels) -> None:
            scores, out = fitted.scores[first:last], variance[first:last]
            for block, (block_weight, block_bend) in zip(blocks, lanes, strict=True):
                kernels.average_variances(
                    *_arrays(part), block, scores, block_weight, block_bend, self.mean_weight, out
                )

        each_slice(labels, fill)
        return variance


def _better(one: Fitted[Weights], other: Fitted[Weights]) -> Fitted[Weights]:
    """The better of two runs, class by class; a thousandth of a nat is what stopping early leaves open."""
    improved = other.objective < one.objective - 1e-3
    if not improved.any():
        return one
    workers = replace(
        one.workers,
        weight=np.where(improved, other.workers.weight, one.workers.weight),
        errors=np.where(improved, other.workers.errors, one.workers.errors),
        mean=np.where(improved, other.workers.mean, one.workers.mean),
    )
    return Fitted(
        scores=np.where(improved, other.scores, one.scores),
        workers=workers,
        convergence=other.convergence,
        objective=np.where(improved, other.objective, one.objective),
    )


def _mirrored(n_classes: int, set_valued: bool) -> bool:
    return n_classes == 2 and not set_valued


def _all_blocks(labels: Labels) -> Blocks:
    classes = [0] if _mirrored(labels.n_classes, labels.set_valued) else range(labels.n_classes)
    return _blocks(classes, labels.n_classes)


def _blocks(classes: Iterable[int], n_classes: int) -> Blocks:
    """Classes by one, four or eight; the last block is filled up by repeating a class.

    How many goes by the number of all classes, not of those that still run: every width is compiled by itself.
    """
    width = 1 if n_classes <= 2 else 4 if n_classes <= 4 else 8
    given = list(classes)
    given += given[-1:] * (-len(given) % width)
    return tuple(tuple(given[first : first + width]) for first in range(0, len(given), width))


def _arrays(labels: Labels) -> tuple[Array, Array, Array, Array | None]:
    return labels.item_starts, labels.workers, labels.labels, labels.continued


def _start(labels: Labels) -> tuple[Array, Array, Array, Array]:
    """What is counted once: votes, how much the votes on one item disagree, items, and rows that continue a vote."""
    votes = kernels.votes_per_worker(labels.workers, labels.continued, labels.n_workers)
    share = shares(labels)
    # The published numbers weigh an item by its rows, which differ from its votes where votes are set-valued.
    rows = np.diff(labels.item_starts)[:, None]
    set_votes = 0 if labels.continued is None else labels.continued.sum()
    disagreement = (rows * share * (1 - share)).sum(axis=0)
    return votes, disagreement, np.array([labels.n_items]), np.array([set_votes])
