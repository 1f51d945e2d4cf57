r"""Hierarchical log-linear: minimax conditional entropy with what workers have in common, and class balance, learned.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k,l) + \tau_i(k,l)), \; \sigma_j \sim N(\bar\sigma, 1/\lambda_w) $$

A Bayesian reading of Zhou, Liu, Platt and Meek, "Aggregating Ordinal Labels from Crowds by Minimax Conditional
Entropy", ICML 2014, https://proceedings.mlr.press/v32/zhoub14.html, with partial pooling of workers.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import CallError
from ..interactions import InteractionMethod, Interactions, fit_interactions
from ..labels import Labels, shares
from ..loop import Progress
from ..result import Result


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

    worker_ridge: float = 4.0
    item_ridge: float = 0.25
    tolerance: float = 5e-3
    max_iterations: int = 50

    def __post_init__(self) -> None:
        if not (self.worker_ridge > 0 and self.max_iterations > 0):
            raise CallError("worker_ridge and max_iterations are positive numbers.")

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_single_votes("LogLinear")
        classes = labels.n_classes
        scores = shares(labels)
        centre = np.eye(classes)
        first = Interactions(
            np.tile(centre, (labels.n_workers, 1, 1)),
            np.zeros((labels.n_items, classes, classes)),
            centre,
            np.zeros(classes),
        )
        return fit_interactions(
            self,
            labels,
            scores,
            first,
            worker_ridge=self.worker_ridge,
            item_ridge=max(1.0, self.item_ridge * classes**2 * labels.n_items / labels.n_workers),
            learn_centre=True,
            learn_prior=True,
            progress=progress,
        )
