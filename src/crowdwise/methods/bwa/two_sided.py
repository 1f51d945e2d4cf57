r"""BWA's first extension: a worker's votes in favour of a class and against it have weights of their own.

$$ v_j^{(l)} = \frac{s + n_j^{(l)}}{s \, \bar e_j + SSE_j^{(l)}}, \quad
z_i = \frac{\lambda \mu + e^g \sum_1 v_j^{(1)}}{\lambda + e^g \sum_1 v_j^{(1)} + e^{-g} \sum_0 v_j^{(0)}} $$

with l = 1 for votes in favour and 0 against, shrunk by s votes to the worker's pooled error (b + SSE_j) / (a + n_j).
Taken literally the extension is degenerate: with all z = 0, votes against are never wrong, and weigh without limit. So
the scores are anchored: g is such that their mean stays that of the vote shares. Passes that take a Newton step for g
alternate with passes that weigh the workers.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final, NamedTuple

import numpy as np

from ... import kernels
from ...data.crowd import Crowd, require_single_votes
from ...data.labels import Labels
from ...inference.loop import IterativeMethod
from ...kernels import Array
from ...results.learned import Learned
from ...results.result import Scale

_SHRINKAGE: Final = 30.0  # s
_LARGEST_STEP: Final = 1.0  # of g in an iteration, so that a first, wild slope does no harm


class TwoSidedErrors(NamedTuple):
    """What the weights are estimated from; adds up over disjoint items. The last two are counted at the start."""

    errors_for: Array  # (workers, classes): sum of (1 - z)^2 over votes in favour
    errors_against: Array  # (workers, classes): sum of z^2 over votes against
    sums: Array  # (2, classes): sum of z, and of its slope in g
    votes_for: Array  # (workers, classes)
    disagreement: Array  # (classes): see weights.Errors
    items: Array  # (1)


@dataclass(frozen=True, eq=False)
class TwoSidedWeights(Learned):
    """Weights of votes in favour and against, anchor included.

    Attributes:
        weight_for: (workers, classes), v1 e^g.
        weight_against: (workers, classes), v0 e^-g.
        mean_share: (classes), the mean vote share, where the mean score is anchored.
        anchor: (classes), g.
        anchoring: Whether nothing but the anchor was changed.
        prior_errors: (classes), b.
        votes_for: (workers, classes).
        items: How many items there are.
        objective: Empty: the anchor leaves none.
    """

    weight_for: Array
    weight_against: Array
    mean_share: Array
    anchor: Array
    anchoring: bool
    prior_errors: Array
    votes_for: Array
    items: float
    objective: Array


@dataclass(frozen=True)
class TwoSidedAverage(IterativeMethod[TwoSidedWeights, TwoSidedErrors]):
    """The loop behind `BWA(weights="per_label")`; see there for the parameters."""

    prior_strength: float
    correction: float
    mean_weight: float
    tolerance: float
    max_iterations: int
    change_floor: float

    scale: ClassVar[Scale] = "weight"

    def check(self, labels: Crowd) -> None:
        """One class a vote: what is against a class must be for another."""
        require_single_votes(labels, 'BWA(weights="per_label")')

    def count_size(self, labels: Labels) -> int:
        """Errors on either side for every worker and class."""
        return 2 * labels.n_workers * labels.n_classes

    def empty_counts(self, labels: Labels, workers: TwoSidedWeights | None) -> TwoSidedErrors:
        """No errors yet."""
        classes = labels.n_classes
        shape = (labels.n_workers, classes)
        once = (np.zeros(shape), np.zeros(classes), np.zeros(1)) if workers is None else (np.empty(0),) * 3
        return TwoSidedErrors(np.zeros(shape), np.zeros(shape), np.zeros((2, classes)), *once)

    def sweep(self, labels: Labels, scores: Array, workers: TwoSidedWeights | None, counts: TwoSidedErrors) -> Array:
        """The weighted average of the votes, and every worker's squared errors on either side."""
        changes = np.zeros(labels.n_classes)
        arrays = (labels.item_starts, labels.workers, labels.labels)
        kernels.sweep_two_sided(
            *arrays,
            None if workers is None else (workers.weight_for, workers.weight_against, workers.mean_share),
            self.mean_weight,
            self.change_floor,
            scores,
            changes,
            counts.errors_for,
            counts.errors_against,
            counts.sums,
        )
        if workers is None:
            votes = kernels.votes_per_item(labels.item_starts, None)
            np.add.at(counts.votes_for, (labels.workers, labels.labels), 1)
            counts.disagreement[:] += kernels.disagreement(labels.item_starts, labels.labels, votes, labels.n_classes)
            counts.items[:] += labels.n_items
        # A pass that only anchors has not settled, however little it moves.
        anchoring = workers is not None and workers.anchoring
        return np.maximum(changes, 2 * self.tolerance) if anchoring else changes

    def estimate(self, counts: TwoSidedErrors, previous: TwoSidedWeights | None, change: Array) -> TwoSidedWeights:
        """Anchor the scores if they have drifted; if they have not, weights from the errors."""
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
        """What is known before any error is counted."""
        error_rate = np.maximum(counts.disagreement, 0.5) / counts.votes_for.sum()  # as in BWA
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
            objective=np.zeros(0),
        )
