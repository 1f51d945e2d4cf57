"""`NumericMethod`: the base of methods for numeric labels, which give every item a value with an interval.

All of them are weighted means or medians of the answers, and learn the weights, biases, slopes and errors of the
workers in turn with the values. The loop and the engines are those of the other methods: the scores of an item are its
value and the variance of its value instead of one score per class.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...fitting.method import OfNumbers
from ...fitting.sweeping import SweepingMethod
from ...numerics import Array
from ...results.ending import Ending
from ...results.learned import Learned, PerWorker
from ...results.worker_errors import Counted, WorkerErrors, worker_errors
from ...results.worker_lines import FIRST_SLOPE_PRECISION, precision_of_biases, precision_of_slopes, worker_lines
from .model import sweep_means

# The variance of errors is no smaller than this share of the variance between items, so that nothing is divided by 0
# where all workers agree.
_LEAST = 1e-12


class NumericCounts(NamedTuple):
    """What a sweep counts; the counts of two sets of items add up to the counts of both together."""

    errors: Array  # (workers, 9), see `m_step` in families/numeric/model.py
    totals: Array  # (7), see there
    losses: Array  # (workers), what else a method counts of every worker; empty if it counts nothing else


@dataclass(frozen=True, eq=False)
class NumericWorkers(Learned):
    """What a numeric method knows of the workers, and of all items together."""

    parameters: PerWorker  # (workers, 4): the weight of a worker's answers, its bias, the variance of its errors, slope
    doubts: PerWorker  # (workers, 3): the variances of bias and slope, and twice their covariance
    prior: Array  # the mean of the values, their precision around it (0 if it is not used), the variance of that mean
    bias_precision: float | None  # of the biases around 0; None if biases are not learned
    slope_precision: float | None  # of the slopes around 1; None if slopes are not learned
    typical: float  # the mean variance of errors
    outlier_share: float = 0.0  # 0 if no outliers are looked for
    rescaled: float = 0.0  # by how much `typical` changed when this was learned, as a share of it

    @property
    def weight(self) -> Array:
        """(workers), the weight of a worker's answers."""
        return self.parameters[:, 0]

    @property
    def bias(self) -> Array:
        """(workers), the bias of a worker; 0 if the method does not learn biases."""
        return self.parameters[:, 1]

    @property
    def variance(self) -> Array:
        """(workers), the variance of a worker's errors."""
        return self.parameters[:, 2]

    @property
    def slope(self) -> Array:
        """(workers), by how much a worker's answer rises if the value rises by one; 1 if slopes are not learned."""
        return self.parameters[:, 3]


class NumericMethod(OfNumbers, SweepingMethod[NumericWorkers, NumericCounts]):
    """The base of methods for numeric labels: a subclass says how weights follow from errors."""

    # After the first sweep all workers are equal; values that stay are no sign that they have settled.
    least_iterations: ClassVar[int] = 3
    # Whether biases of the workers are learned, and taken off their answers.
    learns_bias: ClassVar[bool] = False
    # Whether values are drawn towards the mean of all values, as far as that is justified by how much they differ.
    learns_prior: ClassVar[bool] = False
    # Whether `losses` are counted.
    counts_losses: ClassVar[bool] = False
    # The share of outliers to begin with.
    first_outlier_share: ClassVar[float] = 0.0
    # Whether slopes of the workers are learned; then biases are, too.
    slopes: bool = False
    # How many answers the mean variance of errors counts as, in what is learned of the errors of each worker.
    prior_strength: float = 15.0

    def start(self, labels: Labels) -> tuple[Array, None]:
        """Start from nothing: the first sweep computes values with equal weights."""
        return np.zeros((labels.n_items, 2)), None

    def empty_counts(self, labels: Labels, workers: NumericWorkers | None) -> NumericCounts:
        """Zeros, which `sweep` adds to."""
        losses = np.zeros(labels.n_workers if self.counts_losses else 0)
        return NumericCounts(np.zeros((labels.n_workers, 9)), np.zeros(7), losses)

    def sweep(self, labels: Labels, scores: Array, workers: NumericWorkers | None, counts: NumericCounts) -> Array:
        """E step: compute values and count errors; at first all workers are equal, and their errors have variance 1."""
        if workers is not None:
            self.evaluate(labels, scores, workers, counts)
            return np.array([workers.rescaled])
        equal, sure = np.tile([1.0, 0.0, 1.0, 1.0], (labels.n_workers, 1)), np.zeros((labels.n_workers, 3))
        first = NumericWorkers(equal, sure, np.zeros(3), None, None, 1.0)
        self.evaluate_first(labels, scores, first, counts)
        return np.zeros(1)

    def moved(self, counts: NumericCounts, change: Array) -> float:
        """How far values moved on average, in units of the typical error, or how much that error changed.

        The mean, because in a large crowd there may be an item whose value jumps back and forth for ever.
        """
        return max(float(counts.totals[6] / counts.totals[0]), float(change[0]))

    def evaluate_first(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """Compute the first values of these items, and count; by default as later."""
        self.evaluate(labels, scores, workers, counts)

    def evaluate(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """Compute the values of these items as weighted means, and count."""
        sweep_means(labels, None, *sweep_arguments(scores, workers, counts))

    def weights(self, counts: NumericCounts, variance: Array, typical: float) -> Array:
        """(workers), the weight of every worker's answers: by default, its precision.

        `variance` (workers) is that of every worker's errors, and `typical` their mean.
        """
        return np.asarray(1 / variance)

    def variances(self, counts: NumericCounts, squares: Array, typical: float) -> tuple[Array, float]:
        """(workers), the variance of every worker's errors, and the mean variance that it is drawn towards.

        `squares` (workers) are the expected sums of squared errors, and `typical` the mean variance so far.
        """
        strength = self.prior_strength
        return (strength * typical + squares) / (strength + counts.errors[:, 0]), typical

    def outlier_share(self, counts: NumericCounts) -> float:
        """The share of outliers: 0 for methods that do not look for them."""
        return 0.0

    def estimate(self, counts: NumericCounts, previous: NumericWorkers | None, change: Array) -> NumericWorkers:
        """M step: what is known of the workers and of all items, from what a sweep counted."""
        if previous is None:
            return self._first(counts)
        share, of_value = counts.errors[:, 3], counts.errors[:, 4]
        line = worker_lines(counts.errors, previous)
        hidden = 2 * previous.variance * share - previous.slope**2 * of_value  # by a worker's own share in the values
        least = _least(counts, previous.prior)
        variance, typical = self.variances(counts, np.maximum(line.squares + hidden, 0), previous.typical)
        variance = np.maximum(variance, least)
        bias_precision = slope_precision = None
        if previous.bias_precision is not None:
            bias_precision = precision_of_biases(line.bias, line.doubts[:, 0], previous.typical)
        if previous.slope_precision is not None:
            slope_precision = precision_of_slopes(line.slope, line.doubts[:, 1])
        # Stretching all values and making all slopes less changes no answer: the mean slope is 1. It is the mean by how
        # much the answers of a worker say about values, so that those who compress the scale do not set it.
        stretch = 1.0
        if slope_precision is not None:
            said = counts.errors[:, 0] * line.slope**2 / variance
            stretch = float((said * line.slope).sum() / said.sum())
        slope = line.slope / stretch
        prior = self._prior(counts, previous.prior, stretch)
        # The bias is that of an answer about an item whose value is the mean of the prior, which has moved.
        bias = line.bias + (slope - 1) * (prior[0] - previous.prior[0])
        parameters = np.column_stack([self.weights(counts, variance, typical), bias, variance, slope])
        return NumericWorkers(
            parameters,
            line.doubts / [1, stretch**2, stretch],
            prior,
            bias_precision,
            slope_precision,
            max(typical, least),
            self.outlier_share(counts),
            abs(max(typical, least) / previous.typical - 1),
        )

    def _first(self, counts: NumericCounts) -> NumericWorkers:
        """What is known after the first sweep: all workers err alike."""
        n_workers = len(counts.errors)
        answers, items = counts.errors[:, 0].sum(), counts.totals[0]
        typical = max(float(counts.errors[:, 2].sum() / max(answers - items, 1.0)), _least(counts, np.zeros(3)))
        variance = np.full(n_workers, typical)
        weights = self.weights(counts, variance, typical)
        parameters = np.column_stack([weights, np.zeros(n_workers), variance, np.ones(n_workers)])
        mean = counts.totals[1] / items
        around_zero = 10 / typical if self.learns_bias else None
        around_one = FIRST_SLOPE_PRECISION if self.slopes else None
        prior = np.array([mean, 0.0, 0.0])
        sure = np.zeros((n_workers, 3))
        return NumericWorkers(parameters, sure, prior, around_zero, around_one, typical, self.first_outlier_share)

    def _prior(self, counts: NumericCounts, previous: Array, stretch: float) -> Array:
        """The mean of the values, their precision around it, and the variance of that mean.

        Values are first stretched, around the previous mean.
        """
        items, away, square, uncertain, information = counts.totals[:5]
        mean = previous[0] + stretch * away / items
        if not self.learns_prior:
            return np.array([mean, 0.0, 0.0])
        variance = max((square + uncertain) / items, _least(counts, previous))
        of_mean = 1 / information if information > 0 else variance / items
        return np.array([mean, 1 / (stretch**2 * variance), stretch**2 * of_mean])

    def variance_of_values(self, counts: NumericCounts) -> float:
        """The variance of the true values of the items."""
        items, away, square, uncertain, _, of_values, _ = counts.totals
        if self.learns_prior:
            return float((square + uncertain) / items)
        return float(max(square / items - (away / items) ** 2 - of_values / items, 0.0))

    def worker_errors(self, ending: Ending) -> WorkerErrors:
        """How every worker errs, by what the last sweep counted."""
        workers: NumericWorkers = ending.workers
        counts: NumericCounts = ending.counts
        of_values, outliers = self.variance_of_values(counts), self.outliers(counts)
        return worker_errors(Counted(counts.errors, workers, workers.typical, of_values, outliers, counts.totals[0]))

    def outliers(self, counts: NumericCounts) -> Array | None:
        """(workers), the expected number of outliers; None for methods that do not look for them."""
        return None


def sweep_arguments(scores: Array, workers: NumericWorkers, counts: NumericCounts) -> Any:
    """The arguments that all sweeps of numeric methods end with."""
    return workers.parameters, workers.prior, workers.typical**0.5, scores, counts.errors, counts.totals


def _least(counts: NumericCounts, prior: Array) -> float:
    """The least variance of errors: nothing to speak of, but not 0."""
    items, away, square = counts.totals[:3]
    between = max(square / items - (away / items) ** 2, 0.0)
    return float(_LEAST * between + 1e-30 * (prior[0] + away / items) ** 2 + 1e-100)
