r"""CATD for numbers: means weighted by a cautious estimate of how precise each worker is.

$$ z_i = \sum_j w_j y_{ij} \Big/ \sum_j w_j, \qquad w_j = \chi^2_{\alpha/2}(n_j) \Big/ \sum_i (y_{ij} - z_i)^2 $$

Here z_i is the value of item i, y_ij the answer of worker j about it, w_j the weight of the worker and n_j the number
of its answers. The numerator is the quantile alpha/2 of the chi-squared distribution with n_j degrees of freedom. So a
worker who was close because it gave few answers gets no large weight.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...families.numeric.base import NumericCounts, NumericMethod
from ...fitting.parameters import most_iterations, parameter, values_settled
from ...numerics import Array
from ..catd import CATD


@dataclass(frozen=True)
class NumericCATD(NumericMethod):
    """Means weighted by the lower end of the confidence interval of each worker's precision.

    Use it to compare other methods with, where most workers have few answers. A worker who never differs would decide
    everything alone, so `smoothing` mean squared errors are added to those of every worker.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(200, 10, seed=1)
    >>> cw.numeric_errors(NumericCATD().fit(crowd.numbers), crowd.truth).correlation > 0.9
    True
    """

    key: ClassVar[str] = "catd"
    summary: ClassVar[str] = (
        "CATD: means weighted by the lower end of the confidence interval of each worker's precision."
    )
    paper = CATD.paper

    level: float = parameter(0.95, "The level of the confidence interval (1 - alpha in the paper).", above=0, below=1)
    smoothing: float = parameter(0.5, "How many mean squared errors to add to those of every worker.", above=0)
    tolerance: float = values_settled()
    max_iterations: int = most_iterations(500)

    def weights(self, counts: NumericCounts, variance: Array, typical: float) -> Array:
        """M step: the chi-squared quantile divided by the sum of squared errors, in units of the mean precision."""
        from scipy import special  # imported here because it is slow to import

        answers, squares = counts.errors[:, 0], counts.errors[:, 2]
        quantile = 2 * special.gammaincinv(answers / 2, (1 - self.level) / 2)
        weight = np.where(answers > 0, quantile / (squares / typical + self.smoothing), 0.0)
        return np.asarray(np.maximum(weight / weight.max(), 1e-12))
