r"""Robust: BWA for numbers, in which every worker has a slope and every answer may be an outlier.

$$ y_{ij} \sim (1 - p) \, N(m + b_j + s_j (z_i - m), 1/v_j) + p \, U_j, \qquad U_j = \sqrt{v_j / 2 \pi} / \kappa $$

Here z_i is the value of item i and m the mean of all values, y_ij the answer of worker j, b_j, s_j and v_j the bias,
the slope and the precision of the worker, and p the share of outliers, which is learned. A worker who compresses
the scale has a slope below 1. Slopes are normal around 1 with a variance that is learned (results/worker_lines.py). An
outlier may be any number, with the same density U_j everywhere: that of a normal distribution which is kappa times
as wide, at its highest point. The value of an item is

$$ z_i - m = \sum_j u_{ij} v_j s_j (y_{ij} - m - b_j) \Big/ \Big( \lambda + \sum_j u_{ij} v_j s_j^2 \Big) $$

with u_ij the probability that the answer is no outlier. Everything else is as in BWA, with each answer counted by u_ij.
The mean variance of errors, which workers with few answers are drawn towards, is that of the inliers.

Stretching all values and dividing all slopes by the same changes no answer. So the mean slope is made 1: the mean by
how much the answers of a worker say about values, n_j v_j s_j^2, so that those who compress the scale do not set it.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

from ...crowd.labels import Labels
from ...families.numeric.base import NumericCounts, NumericMethod, NumericWorkers, sweep_arguments
from ...families.numeric.model import sweep_means, sweep_without_outliers
from ...fitting.method import Reference
from ...fitting.parameters import most_iterations, parameter, values_settled
from ...numerics import Array

# The share of outliers is drawn towards one in a hundred, as if by fifty answers, and is no larger than one in ten:
# where more differ, they are no exceptions, and workers are simply worse.
_USUAL_SHARE: Final = 0.01
_AS_IF_ANSWERS: Final = 50.0
_LARGEST_SHARE: Final = 0.1


@dataclass(frozen=True)
class NumericRobust(NumericMethod):
    """Weighted means, corrected for biases, compressed scales and outliers.

    This is the default for numbers. Judges who use only a part of the scale count by what their answers say, and not by
    how little these differ. A wild answer, such as a slip of the keyboard, a wrong unit or a random number, has
    hardly any weight, and does not make its worker look imprecise; where there are none of either, it is nearly BWA.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(200, 10, wild=0.05, seed=1)
    >>> cw.numeric_errors(NumericRobust().fit(crowd.numbers), crowd.truth).correlation > 0.9
    True
    """

    key: ClassVar[str] = "robust"
    summary: ClassVar[str] = (
        "Robust: BWA for numbers, in which workers may compress the scale and outliers have hardly any weight; the "
        "default."
    )
    paper: ClassVar[Reference] = Reference(
        "The model of BWA with contaminated errors, as in Huber",
        "Robust Estimation of a Location Parameter",
        "Annals of Mathematical Statistics 35, 1964",
        "https://doi.org/10.1214/aoms/1177703732",
    )
    learns_bias: ClassVar[bool] = True
    learns_prior: ClassVar[bool] = True
    counts_losses: ClassVar[bool] = True
    first_outlier_share: ClassVar[float] = _USUAL_SHARE
    work_per_label: ClassVar[int] = 8

    prior_strength: float = parameter(
        15.0, "How many answers the mean error of all workers counts as for each worker.", above=0
    )
    slopes: bool = parameter(
        True,
        "Whether workers have slopes: one who compresses the scale has a slope below 1. If not, it is 1 for all.",
    )
    wildness: float = parameter(
        20.0, "How many times as wide as usual answers wild ones are spread.", above=1, at_most=1e6
    )
    tolerance: float = values_settled()
    max_iterations: int = most_iterations(500)

    def evaluate_first(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """Compute the means of these items: no answer is an outlier before the errors of workers are known."""
        sweep_means(labels, None, *sweep_arguments(scores, workers, counts))

    def evaluate(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """Compute the values of these items; `losses` are the expected numbers of outliers."""
        about_outliers = (workers.outlier_share, 1 / self.wildness, workers.doubts, counts.losses)
        sweep_without_outliers(labels, *about_outliers, *sweep_arguments(scores, workers, counts))

    def variances(self, counts: NumericCounts, squares: Array, typical: float) -> tuple[Array, float]:
        """As in BWA, with the mean variance of inliers."""
        typical = float(squares.sum() / counts.errors[:, 0].sum())
        return super().variances(counts, squares, typical)

    def outlier_share(self, counts: NumericCounts) -> float:
        """The expected share of outliers, drawn towards a usual share."""
        inliers, outliers = counts.errors[:, 0].sum(), counts.losses.sum()
        share = (outliers + _USUAL_SHARE * _AS_IF_ANSWERS) / (inliers + outliers + _AS_IF_ANSWERS)
        return float(min(share, _LARGEST_SHARE))

    def outliers(self, counts: NumericCounts) -> Array | None:
        """(workers), the expected number of outliers."""
        return counts.losses
