r"""Median: the value of an item is the median of its answers.

$$ z_i = \mathrm{median}_j \, y_{ij} $$

Here z_i is the value of item i, and y_ij the answer of worker j.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...crowd.labels import Labels
from ...families.numeric.base import NumericCounts, NumericMethod, NumericWorkers, sweep_arguments
from ...families.numeric.model import sweep_medians
from ...fitting.method import Reference
from ...numerics import Array
from .mean import BASELINE


@dataclass(frozen=True)
class NumericMedian(NumericMethod):
    """The value of an item is the median of its answers; of two middle ones, their mean.

    Use it as the simplest method that wild answers cannot move. Its interval is that of a median of normal answers
    whose errors have the same variance everywhere.

    >>> import crowdwise as cw
    >>> numbers = cw.Numbers.from_arrays([1, 1, 1], ["ann", "bob", "cem"], [2.0, 3.0, 700.0])
    >>> NumericMedian().fit(numbers).values.tolist()
    [3.0]
    """

    key: ClassVar[str] = "median"
    summary: ClassVar[str] = "Median: the value of an item is the median of its answers."
    paper: ClassVar[Reference] = BASELINE

    least_iterations: ClassVar[int] = 1
    tolerance: ClassVar[float] = 0.0  # type: ignore[misc]  # as for the mean
    max_iterations: ClassVar[int] = 1  # type: ignore[misc]

    def evaluate(self, labels: Labels, scores: Array, workers: NumericWorkers, counts: NumericCounts) -> None:
        """Compute the medians of these items."""
        sweep_medians(labels, None, False, *sweep_arguments(scores, workers, counts))

    def weights(self, counts: NumericCounts, variance: Array, typical: float) -> Array:
        """All workers have the same weight."""
        return np.ones(len(variance))
