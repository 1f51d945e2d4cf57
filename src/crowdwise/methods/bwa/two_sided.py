r"""BWA with two weights per worker and class: one for votes for the class, one for votes against it.

$$ v_j^{(l)} = \frac{s + n_j^{(l)}}{s \, \bar e_j + SSE_j^{(l)}}, \quad
z_i = \frac{\lambda \mu + e^g \sum_1 v_j^{(1)}}{\lambda + e^g \sum_1 v_j^{(1)} + e^{-g} \sum_0 v_j^{(0)}} $$

Here l is 1 for votes for the class and 0 for votes against it, v their weight, n their number, SSE the sum of their
squared errors, and z_i the score of item i; the sums are over the workers who voted for the class (1) or against it
(0). Both weights are drawn to the error of all votes of the worker, e_j = (b + SSE_j) / (a + n_j), as if by s further
votes.

Without g the model fails: if all scores were 0, votes against the class would never be wrong, and their weight would
grow without limit. So g, the anchor, is chosen such that the mean score stays the mean vote share. Iterations that take
a Newton step for g alternate with iterations that learn the weights.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...crowd.votes import disagreement, given_by_class, votes_per_item
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...numerics.elementary import sums
from ...numerics.twins import twin
from ...results.learned import Learned, PerWorker
from ...results.result import Scale
from . import model

_SHRINKAGE: Final = 30.0  # s in the formulas
_LARGEST_STEP: Final = 1.0  # the most that g may change in an iteration: the first slopes can be far too small


class TwoSidedErrors(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together.

    The last three never change, so they are counted in the first sweep only and empty after that.
    """

    errors_for: PerWorker  # (workers, classes): the sum of (1 - z)^2 over votes for the class
    errors_against: PerWorker  # (workers, classes): the sum of z^2 over votes against the class
    sums: Array  # (2, classes): the sum of z over the items, and the sum of the derivative of z by g
    votes_for: PerWorker  # (workers, classes): how many votes of the worker are for the class
    disagreement: Array  # (classes): see weights.Errors
    items: Array  # (1): how many items there are


@dataclass(frozen=True, eq=False)
class TwoSidedWeights(Learned):
    """The weights of votes for and against each class.

    Attributes:
        weight_for: (workers, classes), the weight of a vote for the class, times e^g.
        weight_against: (workers, classes), the weight of a vote against the class, times e^-g.
        mean_share: (classes), the mean vote share, which the mean score is kept at.
        anchor: (classes), g in the formulas.
        anchoring: Whether the last iteration changed the anchor only, not the weights.
        prior_errors: (classes), b in the formulas: how many errors the prior expects in `prior_strength` votes.
        votes_for: (workers, classes), how many votes of the worker are for the class.
        items: How many items there are.
        scores_are_known: Whether a sweep leaves scores as they are, because the classes of the items are known.
    """

    weight_for: PerWorker
    weight_against: PerWorker
    mean_share: Array
    anchor: Array
    anchoring: bool
    prior_errors: Array
    votes_for: PerWorker
    items: float
    scores_are_known: bool = False


@dataclass(frozen=True)
class TwoSidedAverage(SweepingMethod[TwoSidedWeights, TwoSidedErrors]):
    """What `BWA(weights="per_label")` runs; the parameters are those of `BWA`."""

    prior_strength: float
    correction: float
    mean_weight: float
    tolerance: float
    max_iterations: int
    change_floor: float

    scale: ClassVar[Scale] = "weight"
    calibrated_as: ClassVar[str] = "bwa-per-label"

    def count_size(self, labels: Labels) -> int:
        """Twice workers times classes: errors of votes for and against, for every worker and class."""
        return 2 * labels.n_workers * labels.n_classes

    def empty_counts(self, labels: Labels, workers: TwoSidedWeights | None) -> TwoSidedErrors:
        """Zeros, which `sweep` adds to."""
        classes = labels.n_classes
        shape = (labels.n_workers, classes)
        once = (np.zeros(shape), np.zeros(classes), np.zeros(1)) if workers is None else (np.empty(0),) * 3
        return TwoSidedErrors(np.zeros(shape), np.zeros(shape), np.zeros((2, classes)), *once)

    def sweep(self, labels: Labels, scores: Array, workers: TwoSidedWeights | None, counts: TwoSidedErrors) -> Array:
        """E step: score items by the weighted average of their votes. Count the squared errors for the M step."""
        given = None if workers is None or workers.scores_are_known else workers
        weights = None if given is None else (given.weight_for, given.weight_against, given.mean_share)
        counted = counts.errors_for, counts.errors_against, counts.sums
        changes = sweep_two_sided(labels, weights, self.mean_weight, self.change_floor, scores, *counted)
        if workers is None:
            counts.votes_for[:] += given_by_class(labels)
            disagreement(labels, votes_per_item(labels), counts.disagreement)
            counts.items[:] += labels.n_items
        # An iteration that changes the anchor only is never the last, however little the scores move in it.
        anchoring = workers is not None and workers.anchoring
        return np.maximum(changes, 2 * self.tolerance) if anchoring else changes

    def sweep_known(
        self, labels: Labels, scores: Array, known: int, workers: TwoSidedWeights | None, counts: TwoSidedErrors
    ) -> None:
        """Count the errors on items of a known class, whose scores stay as they are."""
        self.sweep(labels, scores, None if workers is None else replace(workers, scores_are_known=True), counts)

    def estimate(self, counts: TwoSidedErrors, previous: TwoSidedWeights | None, change: Array) -> TwoSidedWeights:
        """M step: if the mean score has moved away from the mean vote share, change g; if not, learn the weights."""
        total, slope = counts.sums
        if previous is None:
            previous = self._prior(counts)
        else:
            step = (previous.items * previous.mean_share - total) / np.maximum(slope, 1e-300)
            if np.abs(step).max() > self.tolerance:
                step = np.clip(step, -_LARGEST_STEP, _LARGEST_STEP)
                return replace(
                    previous,
                    weight_for=previous.weight_for * np.exp(step),
                    weight_against=previous.weight_against * np.exp(-step),
                    anchor=previous.anchor + step,
                    anchoring=True,
                )
        votes = previous.votes_for.sum(axis=1, keepdims=True)
        errors = counts.errors_for + counts.errors_against
        pooled = (previous.prior_errors + errors) / (self.prior_strength + votes)

        def weight(votes: Array, errors: Array) -> Array:
            return np.asarray((_SHRINKAGE + votes) / (_SHRINKAGE * pooled + errors))

        return replace(
            previous,
            weight_for=weight(previous.votes_for, counts.errors_for) * np.exp(previous.anchor),
            weight_against=weight(votes - previous.votes_for, counts.errors_against) * np.exp(-previous.anchor),
            anchoring=False,
        )

    def _prior(self, counts: TwoSidedErrors) -> TwoSidedWeights:
        """What is known before the first weights are learned; the weights given here are replaced at once."""
        error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes_for.sum()  # as in BWA._prior
        items = float(counts.items[0])
        return TwoSidedWeights(
            weight_for=counts.errors_for,
            weight_against=counts.errors_against,
            mean_share=counts.sums[0] / items,
            anchor=np.zeros_like(error_rate),
            anchoring=False,
            prior_errors=self.prior_strength * error_rate * self.correction,
            votes_for=counts.votes_for,
            items=items,
        )


@twin("crowdwise.methods.bwa.two_sided_kernel")
def sweep_two_sided(
    labels: Labels,
    weights: tuple[Array, Array, Array] | None,
    mean_weight: float,
    change_floor: float,
    scores: Array,
    errors_for: Array,
    errors_against: Array,
    score_sums: Array,
) -> Array:
    """The E step, and what the M step needs of it.

    `weights` are those of votes for each class and against it (workers, classes), and the mean score (classes), which
    has the weight `mean_weight`. If they are None, scores stay as they are.

    Overwrites `scores` (items, classes). Adds to `errors_for` and `errors_against` (workers, classes) the squared
    errors, and to `score_sums` (2, classes) the scores and their derivatives by g. Returns, for every class, the
    largest change of a score, relative to the new score plus `change_floor`.
    """
    items, workers, y, _ = model.Votes.of(labels, None)
    before = scores.copy()
    if weights is not None:
        weight_for, weight_against, mean = weights
        votes_for = sums(items, weight_for[workers] * y, labels.n_items)
        votes_against = sums(items, weight_against[workers] * (1 - y), labels.n_items)
        total = mean_weight + votes_for + votes_against
        scores[:] = (mean_weight * mean + votes_for) / total
        score_sums[1] += ((votes_for * (1 - scores) + votes_against * scores) / total).sum(axis=0)
    score_sums[0] += scores.sum(axis=0)
    errors_for += sums(workers, y * (1 - scores[items]) ** 2, labels.n_workers)
    errors_against += sums(workers, (1 - y) * scores[items] ** 2, labels.n_workers)
    return np.asarray((np.abs(scores - before) / (scores + change_floor)).max(axis=0, initial=0.0))
