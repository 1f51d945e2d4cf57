"""Counts of how often the labels of one item agree with each other."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating

_U = np.uint64


@allocating
def pair_counts(item_starts: Array, labels: Array, group_of: Array, n_groups: int, n_classes: int) -> Array:
    """Count disagreeing pairs of labels of the same item, and the labels of each class, for groups of items.

    `group_of` (items) is the group of every item. Returns (groups, 1 + classes). An item with m labels, n_k of them of
    class k, adds the sum over k of n_k (m - n_k) / (m - 1) to column 0 of its group, and n_k to column 1 + k. Items
    with one label add nothing.
    """
    out = np.zeros((n_groups, 1 + n_classes))
    named = np.zeros(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        labels_of_item = float(item_starts[i + 1] - item_starts[i])
        if labels_of_item < 2.0:
            continue
        g = _U(group_of[i])
        for e in range(low, high):
            named[_U(labels[e])] += 1.0
            out[g, _U(1) + _U(labels[e])] += 1.0
        for e in range(low, high):
            k = _U(labels[e])
            out[g, _U(0)] += named[k] * (labels_of_item - named[k]) / (labels_of_item - 1.0)
            named[k] = 0.0  # this class is done: further labels of it add nothing
    return out


@allocating
def spread_counts(item_starts: Array, labels: Array, group_of: Array, n_groups: int, values: Array) -> Array:
    """Sum up how far apart labels of the same item are, for groups of items; `values` (classes) are those of classes.

    `group_of` (items) is the group of every item. Returns (groups, 4). An item with m labels, whose squared differences
    of all pairs, each in both orders, have the sum s, adds s / (m - 1) to column 0 of its group; and to the others m,
    the sum of the values, and that of their squares. Items with one label add nothing.
    """
    out = np.zeros((n_groups, 4))
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        labels_of_item = float(item_starts[i + 1] - item_starts[i])
        if labels_of_item < 2.0:
            continue
        g = _U(group_of[i])
        total = squares = around = 0.0
        for e in range(low, high):
            total += values[_U(labels[e])]
        for e in range(low, high):
            value = values[_U(labels[e])]
            squares += value * value
            around += (value - total / labels_of_item) ** 2
        out[g, 0] += 2.0 * labels_of_item * around / (labels_of_item - 1.0)
        out[g, 1] += labels_of_item
        out[g, 2] += total
        out[g, 3] += squares
    return out


@allocating
def agreements_with_others(
    item_starts: Array, workers: Array, labels: Array, n_workers: int, n_classes: int
) -> tuple[Array, Array]:
    """Count how often each worker agrees with the other workers of the same items.

    Returns two arrays (workers): how many labels a worker has on items that others labelled too; and the sum over these
    labels of the share of the others who said the same class.
    """
    compared, agreed = np.zeros(n_workers), np.zeros(n_workers)
    named = np.zeros(n_classes)
    for i in range(item_starts.size - 1):
        low, high = _U(item_starts[i]), _U(item_starts[i + 1])
        others = float(item_starts[i + 1] - item_starts[i]) - 1.0
        if others < 1.0:
            continue
        for e in range(low, high):
            named[_U(labels[e])] += 1.0
        for e in range(low, high):
            compared[_U(workers[e])] += 1.0
            agreed[_U(workers[e])] += (named[_U(labels[e])] - 1.0) / others
        for e in range(low, high):
            named[_U(labels[e])] = 0.0
    return compared, agreed
