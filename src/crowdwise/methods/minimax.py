r"""Minimax conditional entropy: what is said depends on a matrix of the worker plus one of the item.

$$ P(y_{ij} = l \mid z_i = k) \propto \exp(\sigma_j(k, l) + \tau_i(k, l)) $$

Here z_i is the true class of item i, y_ij the class that worker j said, sigma_j the worker's matrix, and tau_i the
item's matrix. Both are drawn to zero by a penalty on their squares.
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
class Minimax(LogLinearMethod):
    """A matrix for every worker and every item, all drawn to zero.

    Use it where items mislead workers in different ways and there are few classes. The penalty grows with the square of
    the number of classes, so that with ten classes it learns next to nothing; use `loglinear` then. It has a matrix for
    every item, so it needs all labels in memory; it takes at most 16 classes.

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
        "How strongly the workers' matrices are drawn to zero: this times the square of the number of classes. For the "
        "items' matrices, it is also multiplied by the number of items per worker.",
        above=0,
    )
    tolerance: float = settled_within(5e-3)
    max_iterations: int = most_iterations(50)

    def centre(self, n_classes: int) -> Array:
        """Zeros: workers start as guessing."""
        return np.zeros((n_classes, n_classes))

    def ridges(self, labels: Labels) -> tuple[float, float]:
        """The strength of the penalty on the workers' matrices, and on the items': that times the items per worker."""
        of_workers = self.ridge * labels.n_classes**2
        return of_workers, of_workers * labels.n_items / labels.n_workers
