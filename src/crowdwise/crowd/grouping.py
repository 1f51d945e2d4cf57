"""Rows sorted by item and worker, and rows that a worker repeats."""

from typing import Literal

import numpy as np

from ..numerics import Array
from ..numerics.twins import exact_twin

# Which rows are kept where one worker gave one item different labels.
Kept = Literal["all", "first", "last", "none"]


@exact_twin("crowdwise.crowd.encoding_kernel")
def group_by_item(
    items: Array, workers: Array, labels: Array, n_items: int, n_workers: int
) -> tuple[Array, Array, Array]:
    """Sort rows by item and, within an item, by worker; rows of one worker on one item keep their order.

    Returns:
        Where the rows of each item start (items + 1), and the workers and labels of the sorted rows.
    """
    order = np.lexsort((workers, items))
    starts = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=n_items))])
    return starts, workers[order], labels[order]


def resolve_repeats(item_starts: Array, workers: Array, labels: Array, kept: Kept) -> tuple[Array, int, int, int, int]:
    """Decide which rows to keep where one worker labelled one item more than once.

    A row with the same label as an earlier one is never kept. A worker who gave an item different labels is called a
    conflict; `kept` says which of these rows to keep.

    Returns:
        Which rows to keep (rows); how many rows repeat an earlier one; how many conflicts there are; and the item and
        the first row of the first conflict, or -1 and -1 if there is none.
    """
    keep = np.ones(len(workers), np.bool_)
    same = continuing(item_starts, workers)  # as the row before
    if not same.any():
        return keep, 0, 0, -1, -1
    rows = np.flatnonzero(same | np.append(same[1:], False))
    pair = np.cumsum(~same[rows]) - 1
    firsts = np.flatnonzero(~same[rows])
    # Sorted by pair and label, and else in their order, a row repeats the one before it if both are the same.
    order = np.lexsort((labels[rows], pair))
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (np.diff(pair[order]) != 0) | (labels[rows][order][1:] != labels[rows][order][:-1])
    keep[rows[order]] = is_new
    in_conflict = np.bincount(pair[order][is_new]) > 1
    repeated, conflicts = int((~is_new).sum()), int(in_conflict.sum())
    if not conflicts:
        return keep, repeated, 0, -1, -1
    first_rows = rows[firsts[in_conflict]]
    if kept != "all":
        keep[rows[in_conflict[pair]]] = False
    if kept == "first":
        keep[first_rows] = True
    elif kept == "last":
        keep[rows[np.append(firsts[1:], len(rows))[in_conflict] - 1]] = True
    first_item = int(np.searchsorted(item_starts, first_rows[0], side="right")) - 1
    return keep, repeated, conflicts, first_item, int(first_rows[0])


def starts_pair(items: Array, workers: Array) -> Array:
    """Return which rows are the first of their item and worker, in rows that are sorted by both."""
    is_first = np.ones(len(items), np.bool_)
    is_first[1:] = (items[1:] != items[:-1]) | (workers[1:] != workers[:-1])
    return is_first


def continuing(item_starts: Array, workers: Array) -> Array:
    """Return which rows are of the same worker on the same item as the row before them."""
    continued = np.zeros(len(workers), bool)
    continued[1:] = workers[1:] == workers[:-1]
    continued[item_starts[item_starts < len(workers)]] = False
    return continued
