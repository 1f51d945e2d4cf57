r"""Mean: the value of an item is the mean of its answers.

$$ z_i = \frac{1}{n_i} \sum_j y_{ij} $$

Here z_i is the value of item i, n_i the number of its answers, and y_ij the answer of worker j.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...families.numeric.base import NumericCounts, NumericMethod
from ...fitting.method import Reference
from ...numerics import Array

BASELINE = Reference(
    "A baseline of Zheng, Li, Li, Shan and Cheng",
    "Truth Inference in Crowdsourcing: Is the Problem Solved?",
    "PVLDB 10, 2017",
    "https://doi.org/10.14778/3055540.3055547",
)


@dataclass(frozen=True)
class NumericMean(NumericMethod):
    """The value of an item is the mean of its answers.

    Use it as the baseline, which is hard to beat where workers are about equally good and nobody answers wildly. The
    interval is that of a mean of answers whose errors have the same variance everywhere.

    >>> import crowdwise as cw
    >>> numbers = cw.Numbers.from_arrays([1, 1, 1], ["ann", "bob", "cem"], [2.0, 3.0, 7.0])
    >>> NumericMean().fit(numbers).values.tolist()
    [4.0]
    """

    key: ClassVar[str] = "mean"
    summary: ClassVar[str] = "Mean: the value of an item is the mean of its answers."
    paper: ClassVar[Reference] = BASELINE

    # Values do not depend on what is learned, so one iteration is enough.
    least_iterations: ClassVar[int] = 1
    tolerance: ClassVar[float] = 0.0  # type: ignore[misc]  # no parameter here
    max_iterations: ClassVar[int] = 1  # type: ignore[misc]

    def weights(self, counts: NumericCounts, variance: Array, typical: float) -> Array:
        """All workers have the same weight."""
        return np.ones(len(variance))
