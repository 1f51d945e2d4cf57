"""Cholesky factors of small matrices, without the cost of a call of LAPACK for each."""

import numpy as np

from . import Array
from .compilation import compiled


@compiled
def factorise(matrix: Array) -> None:
    """Replace the lower triangle of a positive definite matrix by its Cholesky factor. Only this triangle is read."""
    for row in range(matrix.shape[0]):
        for column in range(row + 1):
            rest = matrix[row, column]
            for inner in range(column):
                rest -= matrix[row, inner] * matrix[column, inner]
            matrix[row, column] = np.sqrt(rest) if row == column else rest / matrix[column, column]


@compiled
def log_determinant(factor: Array) -> float:
    """The logarithm of the determinant of the matrix whose Cholesky factor this is."""
    total = 0.0
    for row in range(factor.shape[0]):
        total += np.log(factor[row, row])
    return 2.0 * total


@compiled
def divide(factor: Array, columns: Array) -> None:
    """Replace (rows, columns) by the inverse of the lower triangle of `factor` times these columns."""
    for row in range(factor.shape[0]):
        for inner in range(row):
            weight = factor[row, inner]
            for column in range(columns.shape[1]):
                columns[row, column] -= weight * columns[inner, column]
        for column in range(columns.shape[1]):
            columns[row, column] /= factor[row, row]


@compiled
def solve(matrix: Array, vector: Array) -> None:
    """Replace a vector by the inverse of a positive definite matrix times the vector.

    Only the lower triangle of the matrix is read; it is replaced by its Cholesky factor.
    """
    factorise(matrix)
    for row in range(vector.size):
        for inner in range(row):
            vector[row] -= matrix[row, inner] * vector[inner]
        vector[row] /= matrix[row, row]
    for row in range(vector.size - 1, -1, -1):
        for inner in range(row + 1, vector.size):
            vector[row] -= matrix[inner, row] * vector[inner]
        vector[row] /= matrix[row, row]


@compiled
def invert(matrix: Array, scratch: Array) -> float:
    """Replace a positive definite matrix by its inverse. `scratch` is of the same shape, and is overwritten.

    Returns the logarithm of the determinant that the matrix had before.
    """
    n = matrix.shape[0]
    factorise(matrix)
    found = log_determinant(matrix)
    for row in range(n):
        for column in range(n):
            scratch[row, column] = 1.0 if row == column else 0.0
    divide(matrix, scratch)
    for row in range(n):
        for column in range(row + 1):
            product = 0.0
            for inner in range(row, n):  # above, the inverse of a lower triangle is zero
                product += scratch[inner, row] * scratch[inner, column]
            matrix[row, column] = matrix[column, row] = product
    return found
