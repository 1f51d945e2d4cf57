r"""The spectral start of Dawid-Skene: confusion matrices by the method of moments on three groups of workers.

Zhang, Chen, Zhou and Jordan, "Spectral Methods Meet EM", JMLR 17, 2016, https://jmlr.org/papers/v17/14-511.html,
Algorithm 1. Let Z_g be the shares of an item's votes in group g, and C_g the mean confusion matrix of the group. Given
the true class, groups are independent, so that over all items

$$ E[Z_a Z_b^T] = C_a W C_b^T, \quad
   E[Z_a \otimes Z_b \otimes Z_c] = \sum_k w_k \, C_{ak} \otimes C_{bk} \otimes C_{ck} $$

where W has the shares w of the classes on its diagonal. Both are turned into moments of C_c alone; after whitening, its
columns are the eigenvectors of a tensor, which power iterations find. A worker's own matrix then follows from its
labels beside the shares of another group. The groups are every third worker by their numbers, which depend on their
names alone.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, NoReturn

import numpy as np

from ...crowd.labels import Labels
from ...errors import DataError
from ...families.confusion_matrices.base import Confusions, as_evidence, log
from ...numerics import Array

_GROUPS: Final = 3
# With more classes than this, the third moments are too many numbers to be known from a crowd.
_MOST_CLASSES: Final = 20
# About how many numbers are worked on at once.
_AT_ONCE: Final = 1 << 20
# How often power iterations start, and how many steps each start takes.
_STARTS, _STEPS = 50, 100
# The smallest eigenvalue relative to the largest that is not taken for zero.
_SMALLEST_EIGENVALUE: Final = 1e-6
# The smallest probability of a start; the paper has such a limit too.
_SMALLEST: Final = 1e-3


class Moments(NamedTuple):
    """Sums over items; those of disjoint sets of items add up.

    Attributes:
        items: (1), how many items all three groups labelled.
        third: (classes, classes, classes), the sum over these items of the products of the shares of the three groups.
        second: (3, classes, classes), that of the products of groups 0 and 1, 1 and 2, 2 and 0.
        beside: (workers, said class, classes), for the labels of a worker, the sum of the shares of the next group.
    """

    items: Array
    third: Array
    second: Array
    beside: Array


@dataclass(frozen=True, eq=False)
class _Group:
    """The mean confusion matrix of a group (said class, true class), and how common the classes are by it."""

    matrix: Array
    classes: Array


def count_moments(labels: Labels) -> Moments:
    """Return the moments of these labels."""
    n_classes = labels.n_classes
    found = Moments(
        np.zeros(1),
        np.zeros((n_classes,) * 3),
        np.zeros((_GROUPS, n_classes, n_classes)),
        np.zeros((labels.n_workers, n_classes, n_classes)),
    )
    step = max(1, _AT_ONCE // n_classes**2)
    for first in range(0, labels.n_items, step):
        _add(labels.slice(first, min(first + step, labels.n_items)), found)
    return found


def _add(labels: Labels, found: Moments) -> None:
    """Add the moments of a few items."""
    n_items, n_classes, groups = labels.n_items, labels.n_classes, labels.workers % _GROUPS
    cells = (groups * np.int64(n_items) + labels.item_of) * n_classes + labels.labels
    votes = np.bincount(cells, minlength=_GROUPS * n_items * n_classes).reshape(_GROUPS, n_items, n_classes)
    given = votes.sum(axis=2, keepdims=True)
    shares = votes / np.maximum(given, 1)
    by_all = (given > 0).all(axis=(0, 2))
    one, two, three = shares[:, by_all]
    found.items[0] += len(one)
    pairs = (one[:, :, None] * two[:, None, :]).reshape(len(one), n_classes**2)
    found.third[:] += (pairs.T @ three).reshape(found.third.shape)
    for group, (left, right) in enumerate(((one, two), (two, three), (three, one))):
        found.second[group] += left.T @ right
    others = shares[(groups + 1) % _GROUPS, labels.item_of]  # (labels, classes), zeros if nobody of it said anything
    said = labels.workers * np.int64(n_classes) + labels.labels
    for k in range(n_classes):
        found.beside[:, :, k] += np.bincount(said, others[:, k], found.beside[:, :, k].size).reshape(-1, n_classes)


def check(n_workers: int, n_classes: int) -> None:
    """Refuse crowds that no moments can be computed of."""
    if n_workers < _GROUPS:
        _refuse(f"it needs three workers, and here are {n_workers}")
    if n_classes > _MOST_CLASSES:
        _refuse(f"it takes at most {_MOST_CLASSES} classes, and here are {n_classes}")


def start_from(moments: Moments) -> Confusions:
    """Return the confusion matrices and class shares that have these moments. Raises `DataError` if there are none."""
    n_workers, n_classes = moments.beside.shape[:2]
    if moments.items[0] == 0:
        _refuse("no item has labels of all three groups that it makes of the workers")
    groups = [_group(moments, number) for number in range(_GROUPS)]
    classes = np.mean([group.classes for group in groups], axis=0)
    classes = classes / classes.sum()
    matrices = np.empty((n_workers, n_classes, n_classes))
    for number, group in enumerate(groups):
        beside, other = moments.beside[number::_GROUPS], groups[(number + 1) % _GROUPS]
        total = beside.sum(axis=(1, 2), keepdims=True)
        found = (beside / np.maximum(total, 1)) @ np.linalg.inv(other.matrix.T) / classes
        # Who shares no item with the other group is taken as the mean of the own one.
        matrices[number::_GROUPS] = np.where(total > 0, found, group.matrix)
    confusion = _as_chances(matrices).swapaxes(1, 2)
    return Confusions(as_evidence(log(confusion)), log(classes), np.ascontiguousarray(confusion), np.zeros(1))


def _group(moments: Moments, number: int) -> _Group:
    """Return the mean confusion matrix of a group, by the moments of all three."""
    first, second = (number + 1) % _GROUPS, (number + 2) % _GROUPS
    total = moments.items[0]
    own_first, first_second, second_own = (moments.second[one] / total for one in (number, first, second))
    third = np.moveaxis(moments.third, (first, second, number), (0, 1, 2)) / total
    try:
        # What the shares of another group say about those of this one.
        from_first = second_own.T @ np.linalg.inv(first_second)
        from_second = own_first @ np.linalg.inv(first_second.T)
        symmetric = from_first @ first_second @ from_second.T
        sizes, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    except np.linalg.LinAlgError:
        _refuse("a class is missing from the labels that the groups share")
    if sizes[0] <= _SMALLEST_EIGENVALUE * sizes[-1]:
        _refuse("the labels that the groups share do not tell the classes apart")
    white, back = vectors / np.sqrt(sizes), vectors * np.sqrt(sizes)
    tensor = np.einsum("abc,xa,yb,xp,yq,cr->pqr", third, from_first, from_second, white, white, white, optimize=True)
    columns, classes = [], []
    for size, vector in _eigenvectors(tensor):
        columns.append(size * back @ vector)
        classes.append(size**-2)
    return _aligned(np.stack(columns, axis=1), np.array(classes))


def _eigenvectors(tensor: Array) -> list[tuple[float, Array]]:
    """Return the eigenvalues and eigenvectors of a symmetric tensor whose eigenvectors are orthogonal.

    Power iterations start from many random vectors, the same in every call; the largest is kept and taken away.
    """
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    tensor = np.asarray(np.mean([tensor.transpose(order) for order in orders], axis=0))
    random = np.random.default_rng(0)
    found = []
    for _ in range(len(tensor)):
        vectors = random.normal(size=(_STARTS, len(tensor)))
        for _ in range(_STEPS):
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
            vectors = np.einsum("pqr,sq,sr->sp", tensor, vectors, vectors)
        sizes = np.linalg.norm(vectors, axis=1)
        best = int(sizes.argmax())
        if sizes[best] <= _SMALLEST_EIGENVALUE:
            _refuse("the labels that the groups share do not tell the classes apart")
        vector = vectors[best] / sizes[best]
        size = float(np.einsum("pqr,p,q,r", tensor, vector, vector, vector))
        found.append((size, vector))
        tensor = tensor - size * np.einsum("p,q,r->pqr", vector, vector, vector)
    return found


def _aligned(columns: Array, classes: Array) -> _Group:
    """Return a group whose true classes are in the order of the said ones: workers are mostly right.

    The columns (said class, true class) are in any order of the true classes, and not quite probabilities.
    """
    from scipy.optimize import linear_sum_assignment  # imported here because it is slow to import

    matrix = _as_chances(columns)
    _, order = linear_sum_assignment(-matrix)
    return _Group(matrix[:, order], classes[order])


def _as_chances(matrices: Array) -> Array:
    """Return probabilities along the axis of the said classes, the last but one, of which none is nearly zero."""
    bounded = np.maximum(matrices, _SMALLEST)
    return np.asarray(bounded / bounded.sum(axis=-2, keepdims=True))


def _refuse(reason: str) -> NoReturn:
    raise DataError(f"The spectral start cannot be computed: {reason}; use start_from=majority.")
