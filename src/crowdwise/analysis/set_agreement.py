r"""Krippendorff's alpha of answers that are sets of classes.

Two answers disagree by 1 - |A & B| / |A | B| (Jaccard), or by 1 - M |A & B| / |A | B| where M is 1 for equal sets, 2/3
if one holds the other, 1/3 if they share something, and 0 otherwise (MASI: Passonneau, "Measuring Agreement on
Set-valued Items", 2006, https://aclanthology.org/L06-1392/). Two empty sets agree.

Equal sets count together: of an item, and of all answers. Sets that share no class disagree by one, so only those that
share one are compared, by a sparse product. If there are more than a few thousand different sets, what is expected by
chance is the mean over some thousand answers drawn at random, each compared with all others. The interval is a
bootstrap over the items of what is observed; what is expected by chance, which varies far less, stays as it is.
"""

from typing import TYPE_CHECKING, Final

import numpy as np

from ..crowd.class_sets import ClassSets, SetDistance
from ..numerics import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# So many different sets are compared with all others at once.
_AT_ONCE: Final = 1024
# Of more different sets than this, so many answers are drawn and compared with all others.
_MOST_COMPARED: Final = 4096


def set_alpha(sets: ClassSets, distance: SetDistance) -> tuple[Array, float]:
    """Return (items, 2), the observed disagreement n D_o and the answers of every item with several; and D_e."""
    per_item = sets.answers_per_item
    item = np.repeat(np.arange(len(sets.items)), per_item)
    kept = per_item[item] > 1
    different, set_of = _different_sets(sets)  # in an order that does not depend on that of the rows
    of_items = np.zeros((len(sets.items), 2))
    of_items[:, 1] = np.where(per_item > 1, per_item, 0)
    # Different sets of an item, how often each is there, and all pairs of them.
    n_sets = different.shape[0]
    cells, times = np.unique(item[kept] * np.int64(n_sets) + set_of[kept], return_counts=True)
    items, which = cells // n_sets, cells % n_sets
    starts = np.flatnonzero(np.diff(items, prepend=-1))
    sizes = np.diff(np.append(starts, len(items)))
    size_of = np.repeat(sizes, sizes)
    left = np.repeat(np.arange(len(items)), size_of)
    first_of = np.repeat(np.repeat(starts, sizes), size_of)
    right = first_of + np.arange(len(left)) - np.repeat(np.cumsum(size_of) - size_of, size_of)
    shared = np.asarray(different[which[left]].multiply(different[which[right]]).sum(axis=1)).ravel()
    of_sets = _set_sizes(different)
    apart = _distance(shared, of_sets[which[left]], of_sets[which[right]], distance)
    apart[left == right] = 0.0
    observed = np.bincount(items[left], times[left] * times[right] * apart, len(sets.items))
    of_items[:, 0] = observed / np.maximum(per_item - 1, 1)
    return of_items, _by_chance(different, np.bincount(set_of[kept], minlength=n_sets), of_sets, distance)


def _different_sets(sets: ClassSets) -> "tuple[csr_array, Array]":
    """Return the different sets, as a table of sets and classes; and which of them each answer is."""
    sizes = np.diff(sets.set_starts)
    bytes_of = np.ascontiguousarray(sets.named.astype(np.int64)).tobytes()
    ends = 8 * sets.set_starts
    keys = [bytes_of[first:last] for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    codes = {key: code for code, key in enumerate(sorted(set(keys)))}
    set_of = np.array([codes[key] for key in keys], np.int64)
    first = np.zeros(len(codes), np.int64)
    first[set_of[::-1]] = np.arange(len(keys))[::-1]
    named = np.frombuffer(b"".join(codes), np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes[first])])
    from scipy.sparse import csr_array  # slow to import, and not needed for other crowds

    return csr_array((np.ones(len(named)), named, starts), shape=(len(codes), len(sets.classes))), set_of


def _set_sizes(different: "csr_array") -> Array:
    return np.diff(different.indptr)


def _distance(shared: Array, left: Array, right: Array, distance: SetDistance) -> Array:
    """Return how far sets are apart, of these sizes and with so many classes in both."""
    union = left + right - shared
    alike = np.where(union > 0, shared / np.maximum(union, 1), 1.0)
    if distance == "masi":
        holds = shared == np.minimum(left, right)
        alike = alike * np.where(union == shared, 1.0, np.where(shared == 0, 0.0, np.where(holds, 2 / 3, 1 / 3)))
    return np.asarray(1 - alike)


def _by_chance(different: "csr_array", times: Array, sizes: Array, distance: SetDistance) -> float:
    """Return D_e: how far two answers are apart, of any items."""
    n = float(times.sum())
    if n < 2:
        return np.nan
    chosen, weights = np.arange(different.shape[0]), times.astype(float)
    if len(chosen) > _MOST_COMPARED:
        drawn = np.random.default_rng(0).multinomial(_MOST_COMPARED, times / n)
        chosen = np.flatnonzero(drawn)
        weights = drawn[chosen] * (n / _MOST_COMPARED)
    alike, across, empty = 0.0, different.T.tocsr(), float(times[sizes == 0].sum())
    for first in range(0, len(chosen), _AT_ONCE):
        rows = chosen[first : first + _AT_ONCE]
        product = (different[rows] @ across).tocoo()
        near = 1 - _distance(product.data, sizes[rows][product.row], sizes[product.col], distance)
        alike += float((weights[first : first + _AT_ONCE][product.row] * times[product.col] * near).sum())
    alike += float(weights[sizes[chosen] == 0].sum()) * empty
    # An answer is not compared with itself, with which it agrees.
    return 1 - (alike - n) / (n * (n - 1))
