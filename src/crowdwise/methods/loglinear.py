r"""Hierarchical log-linear: a matrix per worker and item, and what workers have in common is learned.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k,l) + \tau_i(k,l)), \; \sigma_j \sim N(\bar\sigma, 1/\lambda_w) $$

Here z_i is the true class of item i, y_ij the class that worker j said, sigma_j the worker's matrix, and tau_i the
item's matrix. The workers' matrices are normally distributed around their mean, which is learned, with precision
lambda_w; the items' matrices are normally distributed around zero, with precision lambda_t.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..crowd.labels import Labels
from ..families.log_linear.base import LogLinearMethod
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter, settled_within
from ..numerics import Array


@dataclass(frozen=True)
class LogLinear(LogLinearMethod):
    """A matrix for every worker and every item; the workers' matrices are drawn to their mean.

    Use it where accuracy matters most, all labels fit in memory and there are at most 16 classes. It has a matrix for
    every item, so it is slow, and does not suit large data. The default of `worker_ridge` was chosen among three values
    by the accuracy on the BWA paper's datasets.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LogLinear().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "loglinear"
    summary: ClassVar[str] = (
        "Hierarchical log-linear: minimax conditional entropy with what workers have in common, and class balance, "
        "learned."
    )
    paper: ClassVar[Reference] = Reference(
        "A Bayesian reading of Zhou, Liu, Platt and Meek",
        "Aggregating Ordinal Labels from Crowds by Minimax Conditional Entropy",
        "ICML 2014",
        "https://proceedings.mlr.press/v32/zhoub14.html",
    )

    pooled: ClassVar[bool] = True

    worker_ridge: float = parameter(
        4.0,
        "How strongly the workers' matrices are drawn to their mean.",
        above=0,
    )
    item_ridge: float = parameter(
        0.25,
        "How strongly the items' matrices are drawn to zero: this times the square of the number of classes times the "
        "number of items per worker, but at least one.",
        at_least=0,
    )
    tolerance: float = settled_within(5e-3)
    max_iterations: int = most_iterations(50)

    def centre(self, n_classes: int) -> Array:
        """The identity matrix: workers start as right more often than wrong."""
        return np.eye(n_classes)

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """lambda_w and lambda_t in the formulas."""
        of_items = self.item_ridge * labels.n_classes**2 * labels.n_items / labels.n_workers
        return self.worker_ridge, max(1.0, of_items)
