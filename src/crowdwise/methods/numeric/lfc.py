r"""LFC-N: means weighted by the precision of each worker, which is learned without a prior.

$$ z_i = \sum_j v_j y_{ij} \Big/ \sum_j v_j, \qquad
1 / v_j = \frac{1}{n_j} \sum_i \Big[ (y_{ij} - z_i)^2 + 1 \Big/ \sum_{j'} v_{j'} \Big] $$

Here z_i is the value of item i, y_ij the answer of worker j about it, v_j the precision of the worker, and n_j the
number of its answers. The second term is how uncertain the value is, which the answer itself helped to choose; without
it, the worker who happens to be closest to the values would get all the weight.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...families.numeric.base import NumericCounts, NumericMethod
from ...fitting.parameters import most_iterations, values_settled
from ...numerics import Array
from ..lfc import LearningFromCrowds


@dataclass(frozen=True)
class NumericLFC(NumericMethod):
    """Means weighted by the precision of each worker, of maximum likelihood.

    Use it to compare other methods with. Where workers have few answers, precisions are estimated badly and intervals
    are too narrow; bwa has a prior against that.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(200, 10, seed=1)
    >>> cw.numeric_errors(NumericLFC().fit(crowd.numbers), crowd.truth).correlation > 0.9
    True
    """

    key: ClassVar[str] = "lfc"
    summary: ClassVar[str] = "LFC-N: means weighted by the precision of each worker, learned without a prior."
    paper = LearningFromCrowds.paper

    tolerance: float = values_settled()
    max_iterations: int = most_iterations(500)

    def variances(self, counts: NumericCounts, squares: Array, typical: float) -> tuple[Array, float]:
        """M step: (workers), the mean squared error of every worker, at least a thousandth of the mean of all."""
        answers = counts.errors[:, 0]
        return np.maximum(squares / np.maximum(answers, 1), 1e-3 * typical), typical
