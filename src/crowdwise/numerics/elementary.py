r"""What NumPy lacks: `softmax`, sums by group, and tables that start at a cache line.

`softmax`, its logarithm and `normalise` make probabilities of their logarithms, at the end of every E step:

$$ p_k = e^{s_k} / \sum_l e^{s_l} $$

The support s of a class is the logarithm of its probability, up to a constant that is the same for all classes of the
item. A support of -inf means that the class is impossible. If all classes of an item are impossible, all get the same
probability.
"""

import math
from functools import reduce
from typing import Final

import numpy as np

from . import Array

# A processor reads memory in lines of so many bytes.
_LINE: Final = 64
# Along an axis of fewer numbers, NumPy adds them up one after another, as is done here; along a longer one in pairs.
_FEW: Final = 8


def highest_of(rows: Array) -> Array:
    """Return the largest number along the last axis. NumPy itself is slow where that axis is short."""
    return np.asarray(_along_columns(np.maximum, rows) if _is_short(rows) else rows.max(axis=-1))


def sum_of(rows: Array) -> Array:
    """Return the sums along the last axis, to the last bit as NumPy adds up, which is slow where that axis is short."""
    return np.asarray(_along_columns(np.add, rows) if _is_short(rows) else rows.sum(axis=-1))


def _is_short(rows: Array) -> bool:
    return bool(1 < rows.shape[-1] < _FEW)


def _along_columns(join: np.ufunc, rows: Array) -> Array:
    return reduce(join, np.moveaxis(rows, -1, 0))


def sigmoid(logits: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow; SciPy's would import all of scipy.special."""
    return np.asarray((1 + np.tanh(0.5 * logits)) / 2)


def softmax(logarithms: Array) -> Array:
    """Probabilities that add up to one along the last axis, given their logarithms up to a common constant."""
    weights = np.exp(logarithms - highest_of(logarithms)[..., None])
    weights /= sum_of(weights)[..., None]
    return np.asarray(weights)


def log_softmax(logits: Array) -> Array:
    """Return the logarithms of `softmax`."""
    lower = logits - highest_of(logits)[..., None]
    return np.asarray(lower - np.log(sum_of(np.exp(lower)))[..., None])


def log_sum_exp(logarithms: Array) -> Array:
    """Return the logarithm of the sum of the numbers with these logarithms."""
    most = highest_of(logarithms)
    return np.asarray(most + np.log(sum_of(np.exp(logarithms - most[..., None]))))


def normalise(support: Array, scores: Array, changes: Array, negligible: float = np.inf) -> Array:
    """Overwrite `scores` (items, classes) by the probabilities that follow from `support` (items, classes).

    Raises `changes` (classes) to the largest change of a score. A class whose support is `negligible` below the highest
    gets the probability zero. Returns (items), the logarithms of the sums of the exponentials of the supports, which
    are what the items add to the log likelihood; zero if all classes are impossible. Kernels have the function of the
    same name in `softmax_kernel`, for one item.
    """
    by_class = np.ascontiguousarray(support.T)  # NumPy is faster along the long axis
    highest = by_class.max(axis=0)
    possible = highest > -np.inf
    behind = by_class - np.where(possible, highest, 0.0)
    weights = np.where(possible, np.where(behind > -negligible, np.exp(behind), 0.0), 1.0)
    total = weights.sum(axis=0)
    new = weights / total
    np.maximum(changes, np.abs(new - scores.T).max(axis=1, initial=0.0), out=changes)
    scores[:] = new.T
    return np.asarray(np.where(possible, highest + np.log(total), 0.0))


def sums(groups: Array, rows: Array, n_groups: int) -> Array:
    """(groups, columns), the sum of the rows of each group; `groups` has the group of every row.

    The rows of a group are added in their order. This is much faster than `np.add.at`.
    """
    return np.stack([np.bincount(groups, column, n_groups) for column in rows.T], axis=1)


def sums_of_runs(rows: Array, starts: Array) -> Array:
    """The same for rows that are sorted by group: group g has those from `starts[g]` up to `starts[g + 1]`.

    It is faster than `sums` if there are many columns, and takes rows that are themselves arrays of several dimensions.
    """
    found = np.zeros((len(starts) - 1, *rows.shape[1:]))
    some = starts[1:] > starts[:-1]
    if some.any():
        found[some] = np.add.reduceat(rows, starts[:-1][some], axis=0)
    return found


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
