r"""The model of `LogLinear`.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k,l) + \tau_i(k,l)), \; \sigma_j \sim N(\bar\sigma, 1/\lambda_w) $$
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.labels import Labels
from ..inference.log_linear import LogLinearMethod
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array


@dataclass(frozen=True)
class LogLinear(LogLinearMethod):
    """Confusion of workers, pooled, and of items.

    Use it where accuracy matters most and the crowd fits in memory: it has a matrix for every item. `worker_ridge` was
    chosen among three values by looking at the paper's datasets.

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
        "lambda_w, how strongly workers are drawn to what they have in common.",
        above=0,
    )
    item_ridge: float = parameter(
        0.25,
        "What lambda_t, how strongly items are drawn to adding nothing, is over the square of the number of classes "
        "times items per worker; at least one.",
        at_least=0,
    )
    tolerance: float = parameter(5e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(50, "Stop then at the latest.", at_least=1)

    def centre(self, n_classes: int) -> Array:
        """Workers are right more often than wrong."""
        return np.eye(n_classes)

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """lambda_w and lambda_t."""
        of_items = self.item_ridge * labels.n_classes**2 * labels.n_items / labels.n_workers
        return self.worker_ridge, max(1.0, of_items)
