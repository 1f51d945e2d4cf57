"""`Numbers`: numeric labels in memory."""

from dataclasses import dataclass
from typing import ClassVar

from .labels import Labels


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Labels):
    """The numbers that workers gave to items, in memory.

    Build one with `Numbers.from_frame`, `Numbers.from_arrays` or `read_numbers`; the arguments are those of `Labels`.
    It differs from `Labels` in that `labels` has the numbers themselves (float64), and that there are no classes.

    >>> numbers = Numbers.from_arrays([1, 1, 2], ["ann", "bob", "ann"], [2.5, 3.0, 1.0])
    >>> numbers
    Numbers(3 labels of 2 items by 2 workers as numbers)
    >>> numbers.labels.tolist()
    [2.5, 3.0, 1.0]
    """

    numeric: ClassVar[bool] = True
