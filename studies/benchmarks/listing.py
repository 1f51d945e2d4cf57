"""The program listing of BWA in the paper, in NumPy and SciPy; easier to read than the kernels.

It is from the appendix of Li, Rubinstein and Cohn (WWW 2019) and is changed only as far as new versions of NumPy and
SciPy need it. Tests compare the results of the kernels with it, and benchmarks compare their times.
"""

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray


def bwa_binary(
    exists: Any, is_one: Any, rows_per_item: NDArray[Any], mean_weight: float, strength: float, correction: float
) -> tuple[NDArray[np.float64], int]:
    """Return the scores (items) of one class against all others, and the number of iterations.

    Args:
        exists: Sparse matrix (items, workers), 1 where a worker labelled an item.
        is_one: Sparse matrix (items, workers), 1 where a worker gave this class to an item.
        rows_per_item: (items), the number of labels.
        mean_weight: The weight of the mean score in the score of an item.
        strength: The prior strength a_v.
        correction: The factor of the error rate in the prior.
    """
    votes = np.asarray(exists.sum(axis=0)).ravel()
    z = np.asarray(is_one.sum(axis=1)).ravel() / np.asarray(exists.sum(axis=1)).ravel()
    errors = strength * rows_per_item.dot(z * (1 - z)) / exists.sum() * correction
    iteration = 0
    while iteration < 500:
        iteration += 1
        last = z
        mean = z.mean()
        squared = (exists.multiply(z[:, None]).tocsr() - is_one).power(2).sum(axis=0)
        v = (strength + votes) / (errors + np.asarray(squared).ravel())
        z = (mean_weight * mean + is_one.dot(v)) / (mean_weight + exists.dot(v))
        if np.allclose(last, z, rtol=1e-3):
            break
    return z, iteration


def bwa(
    tuples: NDArray[np.int64], strength: float = 15, mean_weight: float = 1, prior_correction: bool = True
) -> tuple[NDArray[np.float64], list[int]]:
    """Return the scores (items, classes) and the number of iterations of each class.

    Args:
        tuples: Rows of (item, worker, label), whole numbers from 0.
        strength: The prior strength a_v.
        mean_weight: The weight of the mean score in the score of an item.
        prior_correction: Whether the error rate in the prior is corrected for the number of classes.
    """
    items, workers, classes = tuples.max(axis=0) + 1
    rows_per_item = np.bincount(tuples[:, 0])
    correction = 4 * (1 - 1 / classes) if prior_correction else 1.0
    exists = _cells(tuples, items, workers)
    scores = np.empty((items, classes))
    iterations = []
    for k in range(classes):
        is_one = _cells(tuples[tuples[:, 2] == k], items, workers)
        scores[:, k], count = bwa_binary(exists, is_one, rows_per_item, mean_weight, strength, correction)
        iterations.append(count)
    return scores, iterations


def _cells(tuples: NDArray[np.int64], items: int, workers: int) -> Any:
    """Return a sparse matrix (items, workers), 1 where at least one row has this item and this worker."""
    cells = sparse.csr_matrix((np.ones(len(tuples)), (tuples[:, 0], tuples[:, 1])), shape=(items, workers))
    cells.data[:] = 1
    return cells
