r"""The model of `BWA`.

$$ z_i \sim N(\mu, \lambda^{-1}), \quad y_{ij} \sim N(z_i, v_j^{-1}), \quad v_j \sim Gamma(a/2, b/2) $$

for each class against the rest, with the weights v integrated out.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ... import kernels
from ...data.labels import Labels
from ...engines.memory import make_result
from ...errors import CallError
from ...inference.coins import Coins, coin_contributions
from ...inference.loop import IterativeMethod
from ...inference.method import Progress, Reference
from ...inference.parameters import parameter
from ...kernels import Array
from ...results.contributions import Contributions
from ...results.inferred import Inferred
from ...results.result import Scale
from .logistic_link import LogisticLink
from .restarts import best_by_class
from .two_sided import TwoSidedAverage
from .weights import Errors, Weights, all_blocks, make_blocks


@dataclass(frozen=True)
class BWA(IterativeMethod[Weights, Errors]):
    """Bayesian Weighted Average.

    Use it where items have several labels each: it is robust, fast, needs no tuning, and cannot be led astray by
    a worker with few labels. Where workers confuse particular classes with each other, a confusion-matrix method
    sees more. Scores are weights in [0, 1], not probabilities; each class stops by itself, so those of two classes add
    up to one only as closely as the tolerance.

    >>> from crowdwise import Labels
    >>> labels = Labels.from_arrays(
    ...     [1, 1, 1, 2, 2, 2, 3, 3, 3], ["ann", "bob", "cem"] * 3, ["cat", "cat", "dog"] * 2 + ["dog", "dog", "cat"]
    ... )
    >>> BWA().fit(labels).to_frame().select("item", "label", "votes").rows()
    [(1, 'cat', 3), (2, 'cat', 3), (3, 'dog', 3)]
    """

    key: ClassVar[str] = "bwa"
    summary: ClassVar[str] = (
        "Bayesian Weighted Average: the truth is the workers' average vote, weighted by how well each agrees with it."
    )
    paper: ClassVar[Reference] = Reference(
        "Li, Rubinstein and Cohn",
        "Truth Inference at Scale: A Bayesian Model for Adjudicating Highly Redundant Crowd Annotations",
        "WWW 2019",
        "https://doi.org/10.1145/3308558.3313459",
    )

    prior_strength: float = parameter(
        15.0,
        "a, how many votes the prior on each worker is worth. The paper's two settings are 15 with and 30 without "
        "prior_correction.",
        above=0,
    )
    prior_correction: bool = parameter(
        True,
        "Whether the prior's error rate is corrected upwards by 4 (1 - 1/classes): the error rate measured on "
        "majority votes is at most 1/4, a random worker's is 1 - 1/classes.",
    )
    mean_weight: float = parameter(
        1.0,
        "lambda, the weight of the mean score in every item's average. It breaks ties.",
        above=0,
    )
    tolerance: float = parameter(
        1e-3,
        "A class has settled when no score moves by more than this, relative to itself.",
        above=0,
    )
    max_iterations: int = parameter(500, "Stop a class that has not settled by then.", at_least=1)
    restarts: int = parameter(
        0,
        "How many random starts to try besides majority vote; the lowest objective wins, class by class. They depend"
        " on the order of the items' and classes' names.",
        at_least=0,
    )
    seed: int = parameter(0, "Of the random starts.", at_least=0)
    weights: Literal["per_worker", "per_label"] = parameter(
        "per_worker",
        '"per_worker", or "per_label": votes in favour of a class and against it weigh by their own errors, anchored'
        " so that classes keep their share of the votes. It lets a worker be good at spotting a class and bad at "
        "ruling it out, which confusion matrices do better: over 17 of the paper's datasets it is less accurate, "
        "0.816 on average against 0.829.",
    )
    link: Literal["gaussian", "logistic"] = parameter(
        "gaussian",
        '"gaussian", or "logistic", the discrete link that the paper\'s introduction names: scores are probabilities '
        "then, workers are never worse than guessing, and accuracy is a little lower (0.822).",
    )

    # Changes are relative to the score plus this: 1e-3 of both is numpy.allclose's 1e-3 of the score plus 1e-8.
    change_floor: ClassVar[float] = 1e-5
    scale: ClassVar[Scale] = "weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        extended = (self.weights == "per_label") + (self.link == "logistic")
        if extended == 2:
            raise CallError("Weights per label with the logistic link are two-sided confusion matrices: use ds.")
        if extended and self.restarts:
            raise CallError('restarts are for weights="per_worker" and link="gaussian": the others have one start.')
        if self.link == "logistic" and self.prior_strength <= 2:
            raise CallError(f"prior_strength={self.prior_strength!r}: the logistic link needs more than 2.")

    @property
    def takes_sets(self) -> bool:
        """Whether a vote may name several classes: not with an extension."""
        return self.weights == "per_worker" and self.link == "gaussian"

    @property
    def starts_at_random(self) -> bool:
        """Restarts are random."""
        return self.restarts > 0

    def count_size(self, labels: Labels) -> int:
        """An error for every worker and class."""
        return labels.n_workers * labels.n_classes

    @property
    def memory_reason(self) -> str:
        """Why all labels must be in memory at once; empty without restarts."""
        return f"because of restarts={self.restarts} (without them, it does not)" if self.restarts else ""

    def infer(self, labels: Any, progress: Progress | None) -> Inferred:
        """Run the loop once, or from several starts, or that of an extension."""
        extension = self._extension(labels.n_classes)
        if extension is not None:
            found: Inferred = extension.fit(labels, progress=progress)
            return found.credited_to(self)
        if not self.restarts:
            return super().infer(labels, progress)
        fitted = best_by_class(self, labels, self.restarts, self.seed, progress)
        return make_result(self, labels, fitted.scores, fitted.ending)

    def _extension(self, n_classes: int) -> LogisticLink | TwoSidedAverage | None:
        """The loop of another link or of other weights, if those were asked for."""
        if self.link == "logistic":
            return LogisticLink(self.prior_strength, self.tolerance, self.max_iterations)
        if self.weights == "per_label":
            return TwoSidedAverage(
                self.prior_strength,
                self._correction(n_classes),
                self.mean_weight,
                self.tolerance,
                self.max_iterations,
                self.change_floor,
            )
        return None

    def _correction(self, n_classes: int) -> float:
        return 4 * (1 - 1 / max(n_classes, 2)) if self.prior_correction else 1.0

    def empty_counts(self, labels: Labels, workers: Weights | None) -> Errors:
        """No errors yet."""
        blocks = all_blocks(labels) if workers is None else workers.blocks
        lanes = len(blocks[0]) if blocks else 0
        errors, sums = np.zeros((len(blocks), labels.n_workers, lanes)), np.zeros((len(blocks), 2, lanes))
        if workers is not None:
            return Errors(errors, sums, *(np.empty(0),) * 4)
        return Errors(errors, sums, np.zeros(labels.n_workers), np.zeros(labels.n_classes), np.zeros(1), np.zeros(1))

    def sweep(self, labels: Labels, scores: Array, workers: Weights | None, counts: Errors) -> Array:
        """The weighted average of the votes, and every worker's squared errors, for each class that still runs."""
        changes = np.zeros((1, labels.n_classes))
        blocks = all_blocks(labels) if workers is None else workers.blocks
        for b, block in enumerate(blocks):
            kernels.sweep_averages(
                *_arrays(labels),
                block,
                None if workers is None else (workers.weight_blocks[b], workers.mean[None, block]),
                self.mean_weight,
                self.change_floor,
                workers is not None and workers.mirrored,
                scores,
                changes,
                counts.errors[b],
                counts.sums[b],
            )
        if workers is None:
            _count_once(labels, counts)
        return np.asarray(changes[0])

    def rescore(self, labels: Labels, workers: Weights) -> Array:
        """Every class by its own weights, whether it has settled or not."""
        scores = np.zeros((labels.n_items, labels.n_classes))
        # Two classes one by one: once either has settled, they no longer mirror each other.
        together = np.eye(2, dtype=bool) if labels.n_classes == 2 else np.ones((1, labels.n_classes), bool)
        for running in together:
            these = replace(workers, running=running)
            self.sweep(labels, scores, these, self.empty_counts(labels, these))
        return scores

    def estimate(self, counts: Errors, previous: Weights | None, change: Array) -> Weights:
        """Weights from the errors; those of a class that has settled stay as they gave its scores."""
        if previous is None:
            previous = self._prior(counts)
        classes, new_errors, total, squares = previous.counted(counts)
        evidence = self.prior_strength + previous.votes
        smoothed = previous.prior_errors[classes] + new_errors
        spread = squares - total**2 / previous.items
        objective = previous.objective.copy()
        objective[classes] = self.mean_weight / 2 * spread + evidence @ np.log(smoothed) / 2
        moving = change[classes] > self.tolerance
        running = np.zeros_like(previous.running)
        running[classes[moving]] = True
        weight, errors, mean = evidence[:, None] / smoothed, new_errors, total / previous.items
        if not running.all():
            weight = _settled(previous.weight, weight, running, moving)
            errors = _settled(previous.errors, errors, running, moving)
            mean = _settled(previous.mean, mean, running, moving)
        return replace(previous, weight=weight, errors=errors, mean=mean, running=running, objective=objective)

    @property
    def unexplained_reason(self) -> str:
        """Why nobody can say what a single vote contributes; empty with weights per worker."""
        if self.weights == "per_worker":
            return ""
        return "with weights per label, what a vote adds depends on the other votes"

    def contributions(self, one: Labels, item: int, workers: Weights | Coins) -> Contributions:
        """What each vote on one item adds to the weighted average of the class it names.

        What the average is divided by depends on who voted, not on what they said.
        """
        if isinstance(workers, Coins):  # of the logistic link
            return coin_contributions(one, workers)
        weight = workers.weight[one.workers]
        voters = weight if one.continued is None else weight[~one.continued.astype(bool)]
        total = self.mean_weight + voters.sum(axis=0)
        return Contributions(self.mean_weight * workers.mean / total, weight / total, logarithmic=False)

    def _prior(self, counts: Errors) -> Weights:
        """What is known before any error is counted; every class runs."""
        shape = (len(counts.votes), len(counts.disagreement))
        # Votes that are not unanimous disagree by at least a half: less than that, and b would be zero.
        error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes.sum()
        return Weights(
            weight=np.zeros(shape),
            errors=np.zeros(shape),
            mean=np.zeros(shape[1]),
            prior_errors=self.prior_strength * error_rate * self._correction(shape[1]),
            prior_strength=self.prior_strength,
            votes=counts.votes,
            items=int(counts.items[0]),
            set_valued=bool(counts.set_votes[0]),
            running=np.ones(shape[1], bool),
            objective=np.zeros(shape[1]),
        )

    def variance(self, labels: Labels, scores: Array, workers: Weights) -> Array:
        """The posterior variance of the scores."""
        variance = np.empty_like(scores)
        weight = workers.weight
        bend = 2 * weight**2 / (self.prior_strength + workers.votes)[:, None]
        blocks = make_blocks(range(labels.n_classes), labels.n_classes)
        lanes = [tuple(np.ascontiguousarray(values[:, block]) for values in (weight, bend)) for block in blocks]

        def fill(first: int, last: int, part: Labels) -> None:
            given, out = scores[first:last], variance[first:last]
            for block, (block_weight, block_bend) in zip(blocks, lanes, strict=True):
                kernels.average_variances(*_arrays(part), block, given, block_weight, block_bend, self.mean_weight, out)

        labels.each_slice(fill)
        return variance


def _settled(previous: Array, new: Array, running: Array, moving: Array) -> Array:
    """The new values of the classes that are still running, and the previous ones of the others."""
    values = previous.copy()
    values[..., running] = new[..., moving]
    return values


def _arrays(labels: Labels) -> tuple[Array, Array, Array, Array | None]:
    return labels.item_starts, labels.workers, labels.labels, labels.continued


def _count_once(labels: Labels, counts: Errors) -> None:
    """Votes, how much the votes on one item disagree, items, and rows that continue a vote."""
    votes = kernels.votes_per_item(labels.item_starts, labels.continued)
    counts.votes[:] += kernels.votes_per_worker(labels.workers, labels.continued, labels.n_workers)
    # The published numbers weigh an item by its rows, which differ from its votes where votes are set-valued.
    counts.disagreement[:] += kernels.disagreement(labels.item_starts, labels.labels, votes, labels.n_classes)
    counts.items[:] += labels.n_items
    counts.set_votes[:] += 0 if labels.continued is None else labels.continued.sum()
