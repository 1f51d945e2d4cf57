r"""Hierarchical log-linear: minimax conditional entropy with what workers have in common, and class balance, learned.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k,l) + \tau_i(k,l)), \; \sigma_j \sim N(\bar\sigma, 1/\lambda_w) $$

A Bayesian reading of Zhou, Liu, Platt and Meek, "Aggregating Ordinal Labels from Crowds by Minimax Conditional
Entropy", ICML 2014, https://proceedings.mlr.press/v32/zhoub14.html, with partial pooling of workers.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.labels import Labels
from ..errors import CallError
from ..inference.log_linear import InteractionMethod
from ..kernels import Array


@dataclass(frozen=True)
class LogLinear(InteractionMethod):
    """Confusion of workers, pooled, and of items.

    Use it where accuracy matters most and the crowd fits in memory: it has a matrix for every item. `worker_ridge` was
    chosen among three values by looking at the paper's datasets.

    Args:
        worker_ridge: lambda_w, how strongly workers are drawn to what they have in common.
        item_ridge: What lambda_t, how strongly items are drawn to adding nothing, is over the square of the number of
            classes times items per worker; at least one.
        tolerance: Stop when no probability moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(LogLinear().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    pooled: ClassVar[bool] = True

    worker_ridge: float = 4.0
    item_ridge: float = 0.25
    tolerance: float = 5e-3
    max_iterations: int = 50

    def __post_init__(self) -> None:
        if not (self.worker_ridge > 0 and self.max_iterations > 0):
            raise CallError("worker_ridge and max_iterations are positive numbers.")

    def centre(self, n_classes: int) -> Array:
        """Workers are right more often than wrong."""
        return np.eye(n_classes)

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """lambda_w and lambda_t."""
        of_items = self.item_ridge * labels.n_classes**2 * labels.n_items / labels.n_workers
        return self.worker_ridge, max(1.0, of_items)
