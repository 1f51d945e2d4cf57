r"""Minimax conditional entropy: what is said depends on a matrix of the worker plus a matrix of the item.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k, l) + \tau_i(k, l)) $$

with ridges on both. Zhou, Liu, Platt and Meek, "Aggregating Ordinal Labels from Crowds by Minimax Conditional
Entropy", ICML 2014, https://proceedings.mlr.press/v32/zhoub14.html.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..data.labels import Labels
from ..errors import CallError
from ..inference.log_linear import InteractionMethod
from ..kernels import Array


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

    pooled: ClassVar[bool] = False

    ridge: float = 0.25
    tolerance: float = 5e-3
    max_iterations: int = 50

    def __post_init__(self) -> None:
        if not (self.ridge > 0 and self.max_iterations > 0):
            raise CallError("ridge and max_iterations are positive numbers.")

    def centre(self, n_classes: int) -> Array:
        """Workers add nothing."""
        return np.zeros((n_classes, n_classes))

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """The items' is the workers' times items per worker."""
        of_workers = self.ridge * labels.n_classes**2
        return of_workers, of_workers * labels.n_items / labels.n_workers
