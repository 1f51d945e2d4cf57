r"""BWA for numbers: means weighted by the precision of each worker, in a Bayesian model with biases.

$$ z_i \sim N(\mu, 1/\lambda), \quad y_{ij} \sim N(z_i + b_j, 1/v_j), \quad b_j \sim N(0, 1/\tau), \quad
v_j \sim \mathrm{Gamma}(a/2, \mathrm{rate}\ a \varepsilon/2) $$

Here z_i is the value of item i, y_ij the answer of worker j about it, b_j the bias and v_j the precision of the worker.
This is the model of the paper as it stands, in which labels are numbers; for classes it is relaxed. mu, lambda and tau
are learned; epsilon is the mean squared difference of answers from the means of their items. In each iteration

$$ z_i = \frac{\lambda \mu + \sum_j v_j (y_{ij} - b_j)}{\lambda + \sum_j v_j}, \quad
v_j = \frac{a + n_j}{a \varepsilon + \sum_i \mathrm{E}(y_{ij} - z_i - b_j)^2}, \quad
b_j = \frac{v_j \sum_i (y_{ij} - z_i)}{\tau + v_j n_j} $$

and the mean of all biases is made 0, because nothing tells a bias that all share from the values.
"""

from dataclasses import dataclass
from typing import ClassVar

from ...families.numeric.base import NumericMethod
from ...fitting.parameters import most_iterations, parameter, values_settled
from ..bwa import BWA


@dataclass(frozen=True)
class NumericBWA(NumericMethod):
    """Means weighted by the precision of each worker, without their biases.

    Use it where nobody answers wildly. Values are drawn towards the mean of all values as far as the answers are
    uncertain compared with how much items differ; the interval of a value is that of its posterior distribution.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(200, 10, seed=1)
    >>> cw.numeric_errors(NumericBWA().fit(crowd.numbers), crowd.truth).correlation > 0.9
    True
    """

    key: ClassVar[str] = "bwa"
    summary: ClassVar[str] = "BWA: means weighted by the precision of each worker, without the workers' biases."
    paper = BWA.paper
    learns_bias: ClassVar[bool] = True
    learns_prior: ClassVar[bool] = True

    prior_strength: float = parameter(
        15.0, "How many answers the mean error of all workers counts as for each worker (a in the paper).", above=0
    )
    tolerance: float = values_settled()
    max_iterations: int = most_iterations(500)
