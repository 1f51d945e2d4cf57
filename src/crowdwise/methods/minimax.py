r"""The model of `Minimax`.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k, l) + \tau_i(k, l)) $$

with ridges on both.
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
class Minimax(LogLinearMethod):
    """Confusion of workers and of items together.

    Use it where items mislead in ways of their own and there are few classes: the ridges grow with the square of the
    number of classes, and with ten it knows next to nothing. `loglinear` repairs that. It has a matrix for every item,
    so it needs all labels in memory.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=3, seed=1)
    >>> cw.accuracy(Minimax().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "minimax"
    summary: ClassVar[str] = (
        "Minimax conditional entropy: what is said depends on a matrix of the worker plus a matrix of the item."
    )
    paper: ClassVar[Reference] = Reference(
        "Zhou, Liu, Platt and Meek",
        "Aggregating Ordinal Labels from Crowds by Minimax Conditional Entropy",
        "ICML 2014",
        "https://proceedings.mlr.press/v32/zhoub14.html",
    )

    pooled: ClassVar[bool] = False

    ridge: float = parameter(
        0.25,
        "The workers' ridge over the square of the number of classes; the items' is that times items per worker.",
        above=0,
    )
    tolerance: float = parameter(5e-3, "Stop when no probability moves by more than this.", at_least=0)
    max_iterations: int = parameter(50, "Stop then at the latest.", at_least=1)

    def centre(self, n_classes: int) -> Array:
        """Workers add nothing."""
        return np.zeros((n_classes, n_classes))

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """The items' is the workers' times items per worker."""
        of_workers = self.ridge * labels.n_classes**2
        return of_workers, of_workers * labels.n_items / labels.n_workers
