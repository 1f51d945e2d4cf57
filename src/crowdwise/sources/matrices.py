"""Matrices of labels: a row for each item and a column for each worker, from NumPy files, text files and arrays."""

import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ..crowd.ids import as_series, half_pair, is_present
from ..errors import DataError
from ..numerics import Array
from .batchwise import from_batches
from .table import Table
from .unpacking import Content, UnsoundError, whole_lines

# What is no label in a matrix if the user does not say it.
_NO_LABEL: Final = -1
# The most cells to look at together.
_BLOCK_CELLS: Final = 2_000_000
_NUMBERS: Final = re.compile(r"[ \t]*[-+]?\d[\d.eE+-]*([ \t]+[-+]?\d[\d.eE+-]*)+[ \t]*")


def is_matrix(start: str) -> bool:
    r"""Return whether the first line of a text is several numbers with spaces between them, and no names of columns.

    >>> is_matrix("0 -1 2\n1 1 1\n"), is_matrix("item worker label\n"), is_matrix("1\n2\n")
    (True, False, False)
    """
    return _NUMBERS.fullmatch(start.partition("\n")[0].rstrip("\r")) is not None


def open_array(content: Content, missing: Sequence[Any], transposed: bool) -> Table:
    """Return a file of NumPy with a matrix as a table with a row for each label.

    Nothing in the file is unpickled, and it is not read before it is needed.
    """
    try:
        if isinstance(content, str):
            matrix = np.load(content, "r", allow_pickle=False)
        else:
            matrix = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as problem:  # what is at the beginning of the file is parsed as Python is, and may be anything
        raise UnsoundError(f"it is damaged, or holds objects of Python ({_first(problem)})") from problem
    return _table(matrix, missing, transposed)


def _first(problem: BaseException) -> str:
    """Return the beginning of another library's message."""
    return " ".join(str(problem).split())[:80].rstrip(".") or type(problem).__name__


def open_text(content: Content, missing: Sequence[Any], transposed: bool) -> Table:
    """Return a text file with a matrix as a table with a row for each label; numbers have spaces between them."""
    blocks: list[Array] = []
    lines = 0
    for piece in whole_lines(content):
        try:
            block = np.loadtxt(io.BytesIO(piece.text), ndmin=2, comments=None)
        except ValueError as problem:
            raise UnsoundError(f"its lines from {lines + 1:,} on are no matrix ({_first(problem)})") from problem
        if block.size and blocks and block.shape[1] != blocks[0].shape[1]:
            raise UnsoundError(
                f"its lines from {lines + 1:,} on have {block.shape[1]:,} numbers, and the first has "
                f"{blocks[0].shape[1]:,}"
            )
        if block.size:
            blocks.append(block)
        lines += piece.lines
    return _table(np.concatenate(blocks), missing, transposed)


def _table(matrix: Any, missing: Sequence[Any], transposed: bool) -> Table:
    """Return a matrix as a table with a row for each label."""
    _require_matrix(matrix)
    if transposed:
        matrix = matrix.T
    absent = no_label(missing)
    dtype = label_type(matrix)
    schema = {"item": pl.Int64(), "worker": pl.Int64(), "label": dtype}

    said = ", ".join(map(str, absent)) or "nothing"
    remark = (
        f"A matrix of {matrix.shape[0]:,} items by {matrix.shape[1]:,} workers, in which {said} means no label "
        "(--missing says what does, --transposed that rows are workers)."
    )
    lazy = from_batches(partial(cells, matrix, absent, dtype), schema)
    return Table.of(lazy, matrix.nbytes, lambda: int(matrix.size), remarks=(remark,))


def named_cells(matrix: Any, missing: Any, items: Any, workers: Any) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the labels of a matrix, with the columns item, worker and label, and what the columns are called.

    Raises:
        DataError: It is no matrix, or has not as many rows and columns as there are names.
    """
    try:
        array = np.asarray(matrix)
        _require_matrix(array)
        absent = no_label(missing if isinstance(missing, list | tuple) else [missing])
        table = pl.concat(list(cells(array, absent, label_type(array))))
    except (ValueError, TypeError) as problem:
        raise DataError(f"A {type(matrix).__name__} is no matrix of labels ({_first(problem)}).") from problem
    except UnsoundError as problem:
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


def _require_matrix(matrix: Any) -> None:
    """Raise `UnsoundError` if this is no matrix of labels."""
    if getattr(matrix, "ndim", None) != 2 or matrix.dtype.kind not in "iubfU" or 0 in matrix.shape:
        kind = f"{matrix.ndim} dimensions of {matrix.dtype}" if hasattr(matrix, "ndim") else "several arrays"
        raise UnsoundError(f"it has {kind}; a matrix of labels has two, items by workers, and numbers or text in it")


def no_label(missing: Sequence[Any]) -> list[Any]:
    """Return the values that mean "no label": those that the user gives, else -1."""
    given = [missing] if isinstance(missing, str) or not isinstance(missing, Sequence) else list(missing)
    return given or [_NO_LABEL]


def label_type(matrix: Any) -> pl.DataType:
    """Return the type of the labels of a matrix. Floats are integers if all of them are whole, as in most files."""
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
    """
    for start, block in _blocks(matrix):
        values = _column(block)
        present = is_present(values, absent).to_numpy().reshape(block.shape)
        labelled = np.asarray(present.any(axis=1))
        shown = present.copy()
        shown[~labelled, 0] = True
        rows, workers = np.nonzero(shown)
        labels = values.filter(pl.Series(shown.ravel()))
        if not labelled.all():
            labels = labels.set(pl.Series(~labelled[rows]), None)
        yield pl.DataFrame([pl.Series("item", rows + start), pl.Series("worker", workers), labels.cast(dtype)])


def _column(block: Array) -> pl.Series:
    """Return the cells of some rows as one column. Raises `UnsoundError` if some text is not in UTF-8."""
    try:
        return pl.Series("label", block.ravel() if block.dtype.kind != "U" else block.ravel().tolist())
    except UnicodeEncodeError as problem:
        raise UnsoundError(f"a cell has {half_pair(problem)}") from problem


def _blocks(matrix: Any) -> Iterator[tuple[int, Array]]:
    """Yield some rows at a time, with the number of the first of them."""
    rows = max(_BLOCK_CELLS // matrix.shape[1], 1)
    for start in range(0, matrix.shape[0], rows):
        block = np.asarray(matrix[start : start + rows])
        # polars has floats of 32 and 64 bits, in the byte order of the machine.
        dtype = np.dtype(np.float64) if block.dtype.kind == "f" else block.dtype.newbyteorder("=")
        yield start, block.astype(dtype, copy=False)
