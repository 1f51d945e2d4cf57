r"""Minimax conditional entropy: what is said depends on a matrix of the worker plus a matrix of the item.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k, l) + \tau_i(k, l)) $$

with ridges on both. Zhou, Liu, Platt and Meek, "Aggregating Ordinal Labels from Crowds by Minimax Conditional
Entropy", ICML 2014, https://proceedings.mlr.press/v32/zhoub14.html.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import CallError
from ..interactions import InteractionMethod, Interactions, fit_interactions
from ..labels import Labels, shares
from ..loop import Progress
from ..result import Result


@dataclass(frozen=True)
class Minimax(InteractionMethod):
    """Confusion of workers and of items together.

    Use it where items mislead in ways of their own and there are few classes: the ridges grow with the square of the
    number of classes, and with ten it knows next to nothing. `loglinear` repairs that. It has a matrix for every item,
    so it needs all labels in memory.

    Args:
        ridge: The workers' ridge over the square of the number of classes; the items' is that times items per worker.
        tolerance: Stop when no probability moves by more than this.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(Minimax().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    ridge: float = 0.25
    tolerance: float = 5e-3
    max_iterations: int = 50

    def __post_init__(self) -> None:
        if not (self.ridge > 0 and self.max_iterations > 0):
            raise CallError("ridge and max_iterations are positive numbers.")

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_single_votes("Minimax")
        classes = labels.n_classes
        worker_ridge = self.ridge * classes**2
        scores = shares(labels)
        first = Interactions(
            np.zeros((labels.n_workers, classes, classes)),
            np.zeros((labels.n_items, classes, classes)),
            np.zeros((classes, classes)),
            np.zeros(classes),
        )
        return fit_interactions(
            self,
            labels,
            scores,
            first,
            worker_ridge=worker_ridge,
            item_ridge=worker_ridge * labels.n_items / labels.n_workers,
            learn_centre=False,
            learn_prior=False,
            progress=progress,
        )
