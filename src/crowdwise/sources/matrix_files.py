"""Matrices of labels in files: a row for each item and a column for each worker, in NumPy's format or as text."""

import io
from collections.abc import Iterator, Sequence
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import polars as pl

from ..crowd.matrices import cells, label_type, no_label
from ..numerics import Array
from .table import Table, from_batches
from .unpacking import Content, UnsoundError, whole_lines


def open_array(content: Content, missing: Sequence[Any], transposed: bool) -> Table:
    """Return a file of NumPy with a matrix as a table with a row for each label.

    Nothing in the file is unpickled, and it is not read before it is needed.
    """
    try:
        with catch_warnings():
            simplefilter("ignore", UserWarning)  # that Python 2 wrote the file
            if isinstance(content, str):
                matrix = np.load(content, "r", allow_pickle=False)
            else:
                matrix = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as problem:  # what is at the beginning of the file is parsed as Python is, and may be anything
        raise UnsoundError(f"it is damaged, or holds objects of Python ({_beginning(problem)})") from problem
    return _table(matrix, missing, transposed)


def open_text(content: Content, missing: Sequence[Any], transposed: bool) -> Table:
    """Return a text file with a matrix as a table with a row for each label; numbers have spaces between them."""
    blocks: list[Array] = []
    lines = 0
    for piece in whole_lines(content):
        try:
            block = np.loadtxt(io.BytesIO(piece.text), ndmin=2, comments=None)
        except ValueError as problem:
            raise UnsoundError(f"its lines from {lines + 1:,} on are no matrix ({_beginning(problem)})") from problem
        if block.size and blocks and block.shape[1] != blocks[0].shape[1]:
            raise UnsoundError(
                f"its lines from {lines + 1:,} on have {block.shape[1]:,} numbers, and the first has "
                f"{blocks[0].shape[1]:,}"
            )
        if block.size:
            blocks.append(block)
        lines += piece.lines
    return _table(np.concatenate(blocks), missing, transposed)


def _beginning(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:80].rstrip(".") or type(problem).__name__


def _table(matrix: Any, missing: Sequence[Any], transposed: bool) -> Table:
    try:
        dtype = label_type(matrix)
    except ValueError as problem:
        raise UnsoundError(str(problem)) from problem
    if transposed:
        matrix = matrix.T
    absent = no_label(missing)

    def batches() -> Iterator[pl.DataFrame]:
        try:
            yield from cells(matrix, absent, dtype)
        except ValueError as problem:
            raise UnsoundError(str(problem)) from problem

    said = ", ".join(map(str, absent)) or "nothing"
    remark = (
        f"A matrix of {matrix.shape[0]:,} items by {matrix.shape[1]:,} workers, in which {said} means no label "
        "(--missing says what does, --transposed that rows are workers)."
    )
    lazy = from_batches(batches, {"item": pl.Int64(), "worker": pl.Int64(), "label": dtype})
    return Table.of(lazy, matrix.nbytes, lambda: int(matrix.size), remarks=(remark,))
