"""`zeros` and `columns`: tables of workers that start at a cache line."""

import math
from typing import Final

import numpy as np

from . import Array

# A processor reads memory in lines of so many bytes.
_LINE: Final = 64


def zeros(*shape: int) -> Array:
    """Zeros that start at a cache line, so that a row of as many numbers as a line has is in one line and not in two.

    Kernels meet the rows of workers in no order. Where a row is in two lines, they wait for both.
    """
    numbers = math.prod(shape)
    size = np.dtype(float).itemsize
    # `np.zeros` would leave it to the system to write zeros when a row is first met. Here they are written in order,
    # and the table is in the cache when its rows are met in no order.
    memory = np.empty(numbers + _LINE // size)
    memory.fill(0.0)
    first = -memory.__array_interface__["data"][0] % _LINE // size
    return memory[first : first + numbers].reshape(shape)


def columns(table: Array, block: tuple[int, ...]) -> Array:
    """The columns of a table (rows, columns) that `block` lists, as a table that starts at a cache line."""
    chosen = zeros(len(table), len(block))
    for lane, column in enumerate(block):
        chosen[:, lane] = table[:, column]
    return chosen
