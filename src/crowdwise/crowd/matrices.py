"""Matrices in memory, a row for each item and a column for each worker, as one label a row."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from ..errors import DataError
from ..numerics import Array
from ..system import first_line
from .ids import as_series, half_pair, is_present

# What is no label in a matrix if the user does not say it.
_NO_LABEL: Final = -1
# The most cells to look at together.
_BLOCK_CELLS: Final = 2_000_000


def named_cells(matrix: Any, missing: Any, items: Any, workers: Any) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the labels of a matrix, with the columns item, worker and label, and what the columns are called.

    Raises:
        DataError: It is no matrix, or has not as many rows and columns as there are names.
    """
    try:
        array = np.asarray(matrix)
    except (ValueError, TypeError) as problem:
        raise DataError(f"A {type(matrix).__name__} is no matrix of labels ({first_line(problem)}).") from problem
    try:
        table = pl.concat(list(cells(array, no_label(missing), label_type(array))))
    except ValueError as problem:
        raise DataError(f"The matrix cannot be used: {problem}.") from problem
    for axis, (role, names) in enumerate({"item": items, "worker": workers}.items()):
        if names is None:
            continue
        column = as_series(role, names)
        if len(column) != array.shape[axis] or column.n_unique() < len(column):
            raise DataError(
                f"There are {array.shape[axis]:,} {role}s: {role}s has to have as many names, all different."
            )
        table = table.with_columns(column.gather(table[role]).alias(role))
    return table, {"item": "the rows", "worker": "the columns", "label": "the matrix"}


def no_label(missing: Any) -> list[Any]:
    """Return the values that mean "no label": those that the user gives, else -1."""
    given = list(missing) if isinstance(missing, list | tuple) else [missing]
    return given or [_NO_LABEL]


def label_type(matrix: Any) -> pl.DataType:
    """Return the type of the labels of a matrix. Floats are integers if all of them are whole, as in most files.

    Raises:
        ValueError: It is no matrix of labels; what it is, as the end of a sentence.
    """
    if getattr(matrix, "ndim", None) != 2 or matrix.dtype.kind not in "iubfU" or 0 in matrix.shape:
        kind = f"{matrix.ndim} dimensions of {matrix.dtype}" if hasattr(matrix, "ndim") else "several arrays"
        raise ValueError(f"it has {kind}; a matrix of labels has two, items by workers, and numbers or text in it")
    if matrix.dtype.kind == "f":
        whole = all(bool((np.isnan(block) | _is_whole(block)).all()) for _, block in _blocks(matrix))
        return pl.Int64() if whole else pl.Float64()
    kinds = {"b": pl.Boolean(), "U": pl.String(), "u": pl.UInt64()}
    return kinds.get(matrix.dtype.kind, pl.Int64())


def _is_whole(numbers: Array) -> Array:
    """Return which numbers are whole, and held exactly."""
    return np.asarray((np.abs(numbers) <= 2.0**53) & (numbers == np.floor(numbers)))


def cells(matrix: Any, absent: Sequence[Any], dtype: pl.DataType) -> Iterator[pl.DataFrame]:
    """Yield the labels of a matrix row by row: the numbers of the item and the worker, and the label.

    An item without any label has one row without one, so that it is counted.

    Raises:
        ValueError: Some text is not in UTF-8; which, as the end of a sentence.
    """
    for start, block in _blocks(matrix):
        try:
            values = pl.Series("label", block.ravel() if block.dtype.kind != "U" else block.ravel().tolist())
        except UnicodeEncodeError as problem:
            raise ValueError(f"a cell has {half_pair(problem)}") from problem
        present = is_present(values, absent).to_numpy().reshape(block.shape)
        labelled = np.asarray(present.any(axis=1))
        shown = present.copy()
        shown[~labelled, 0] = True
        rows, workers = np.nonzero(shown)
        labels = values.filter(pl.Series(shown.ravel()))
        if not labelled.all():
            labels = labels.set(pl.Series(~labelled[rows]), None)
        yield pl.DataFrame([pl.Series("item", rows + start), pl.Series("worker", workers), labels.cast(dtype)])


def _blocks(matrix: Any) -> Iterator[tuple[int, Array]]:
    """Yield some rows at a time, with the number of the first of them."""
    rows = max(_BLOCK_CELLS // matrix.shape[1], 1)
    for start in range(0, matrix.shape[0], rows):
        block = np.asarray(matrix[start : start + rows])
        # polars has floats of 32 and 64 bits, in the byte order of the machine.
        dtype = np.dtype(np.float64) if block.dtype.kind == "f" else block.dtype.newbyteorder("=")
        yield start, block.astype(dtype, copy=False)
