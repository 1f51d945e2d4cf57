r"""CRH for numbers: answers weighted by how much smaller a worker's loss is than that of the worst worker.

$$ w_j = -\log \Big( d_j / \max_{j'} d_{j'} \Big), \quad d_j = \frac{1}{n_j} \sum_i |y_{ij} - z_i|^q / s_i $$

Here w_j is the weight of worker j, d_j its mean loss, n_j the number of its answers, y_ij its answer about item i, z_i
the value of the item and s_i the standard deviation of the answers on it. With the absolute loss (q = 1) a value is the
weighted median of the answers, with the squared loss (q = 2) their weighted mean.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ...crowd.labels import Labels
from ...families.numeric.base import NumericCounts, NumericMethod, NumericWorkers, sweep_arguments
from ...families.numeric.model import sweep_means, sweep_medians
from ...fitting.parameters import most_iterations, parameter, values_settled
from ...numerics import Array
from ..crh import CRH


@dataclass(frozen=True)
class NumericCRH(NumericMethod):
    """Answers weighted by each worker's loss relative to that of the worst worker.

    Use it to compare other methods with. Weights depend on the worst worker: if it is much worse than all others, they
    all get nearly the same weight.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(200, 10, seed=1)
    >>> cw.numeric_errors(NumericCRH("squared").fit(crowd.numbers), crowd.truth).correlation > 0.9
    True
    """

    key: ClassVar[str] = "crh"
    summary: ClassVar[str] = (
        "CRH: medians or means weighted by the negative logarithm of each worker's loss relative to the worst worker's."
    )
    paper = CRH.paper
    counts_losses: ClassVar[bool] = True

    loss: Literal["absolute", "squared"] = parameter(
        "absolute", "Which errors add up: absolute ones give weighted medians, squared ones weighted means."
    )
    per_label: bool = parameter(
        True,
        "Whether a worker's loss is divided by the number of its answers. If not, workers with many answers get too "
        "little weight.",
    )
    tolerance: float = values_settled()
    max_iterations: int = most_iterations(100)

    def evaluate(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """E step: compute the weighted medians or means of these items, and the losses of the workers."""
        arguments = sweep_arguments(scores, workers, counts)
        if self.loss == "absolute":
            sweep_medians(labels, counts.losses, True, *arguments)
        else:
            sweep_means(labels, counts.losses, *arguments)

    def weights(self, counts: NumericCounts, variance: Array, typical: float) -> Array:
        """M step: the negative logarithm of the loss relative to the highest.

        Small constants keep it finite, and the worst worker's weight well above rounding errors.
        """
        losses = counts.losses / np.maximum(counts.errors[:, 0], 1) if self.per_label else counts.losses
        losses = np.where(losses > 0, losses, 1e-8 * max(losses.max(), 1e-100))
        return np.asarray(np.log((1 + 1e-7) / (losses / losses.max() + 1e-7)) + 1e-7)
