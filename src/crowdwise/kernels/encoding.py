"""From rows to codes sorted by item."""

import numpy as np

from .compilation import Array, compiled

_U = np.uint64
_HIGH, _LOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)
# Fibonacci hashing spreads consecutive integers, which are the usual ids, over a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

KEEP_ALL, KEEP_FIRST, KEEP_LAST, KEEP_NONE = 0, 1, 2, 3


@compiled
def encode(keys: Array, checks: Array, expected: int) -> tuple[Array, Array]:
    """Number the distinct (key, check) pairs in order of first appearance.

    Returns the number of every row and, for every number, the first row that has it. The table is open addressing with
    linear probing; it starts with room for `expected` pairs and doubles when two thirds full. A slot is a key beside
    half of its check and its number, so that a probe is one cache line.
    """
    codes = np.empty(keys.size, np.int32)
    first_rows = np.empty(max(expected, 16), np.int64)
    bits = 4
    while 2 << bits < 3 * expected:
        bits += 1
    slots = np.zeros((1 << bits, 2), np.uint64)
    found = 0
    for row in range(keys.size):
        key = keys[row]
        half = checks[row] & _HIGH
        slot = (key * _SPREAD) >> _U(64 - bits)
        while slots[slot, 1] != 0 and (slots[slot, 0] != key or slots[slot, 1] & _HIGH != half):
            slot = (slot + _U(1)) & _U((1 << bits) - 1)
        if slots[slot, 1] != 0:
            codes[row] = (slots[slot, 1] & _LOW) - _U(1)
            continue
        codes[row] = found
        if found == first_rows.size:
            longer = np.empty(2 * found, np.int64)
            longer[:found] = first_rows
            first_rows = longer
        first_rows[found] = row
        found += 1
        slots[slot, 0], slots[slot, 1] = key, half | _U(found)
        if 3 * found > 2 << bits:
            bits += 1
            old = slots
            slots = np.zeros((1 << bits, 2), np.uint64)
            for at in range(old.shape[0]):
                if old[at, 1] != 0:
                    slot = (old[at, 0] * _SPREAD) >> _U(64 - bits)
                    while slots[slot, 1] != 0:
                        slot = (slot + _U(1)) & _U((1 << bits) - 1)
                    slots[slot, 0], slots[slot, 1] = old[at, 0], old[at, 1]
    return codes, first_rows[:found].copy()


@compiled
def group_by_item(items: Array, workers: Array, labels: Array, n_items: int) -> tuple[Array, Array, Array]:
    """Sort rows by item and, within an item, by worker; rows of one worker on one item keep their order."""
    starts = np.zeros(n_items + 1, np.int64)
    for row in range(items.size):
        starts[items[row] + 1] += 1
    for i in range(n_items):
        starts[i + 1] += starts[i]
    place = starts[:-1].copy()
    sorted_workers = np.empty_like(workers)
    sorted_labels = np.empty_like(labels)
    for row in range(items.size):
        at = place[items[row]]
        place[items[row]] = at + 1
        sorted_workers[at] = workers[row]
        sorted_labels[at] = labels[row]
    for i in range(n_items):
        low, high = starts[i], starts[i + 1]
        if high - low > 64:
            order = np.argsort(sorted_workers[low:high], kind="mergesort")
            sorted_workers[low:high] = sorted_workers[low:high][order]
            sorted_labels[low:high] = sorted_labels[low:high][order]
            continue
        for row in range(low + 1, high):
            worker, label = sorted_workers[row], sorted_labels[row]
            at = row
            while at > low and sorted_workers[at - 1] > worker:
                sorted_workers[at] = sorted_workers[at - 1]
                sorted_labels[at] = sorted_labels[at - 1]
                at -= 1
            sorted_workers[at] = worker
            sorted_labels[at] = label
    return starts, sorted_workers, sorted_labels


@compiled
def resolve_repeats(item_starts: Array, workers: Array, labels: Array, policy: int) -> tuple[Array, int, int, int, int]:
    """Which rows to keep where one worker labelled one item more than once.

    A row that repeats an earlier one exactly is never kept. Where different labels remain, `policy` decides.
    Returns the mask of kept rows, how many rows repeat exactly, how many (item, worker) pairs conflict, and the
    item and the first row of the first conflict (-1 without one).
    """
    keep = np.ones(workers.size, np.bool_)
    repeated = conflicts = 0
    first_item = first_row = -1
    for i in range(item_starts.size - 1):
        low = item_starts[i]
        while low < item_starts[i + 1]:
            high = low + 1
            while high < item_starts[i + 1] and workers[high] == workers[low]:
                high += 1
            if high - low == 1:
                low = high
                continue
            distinct = 0
            for row in range(low, high):
                for earlier in range(low, row):
                    if keep[earlier] and labels[earlier] == labels[row]:
                        keep[row] = False
                        repeated += 1
                        break
                if keep[row]:
                    distinct += 1
            if distinct > 1:
                conflicts += 1
                if first_item < 0:
                    first_item, first_row = i, low
                if policy != KEEP_ALL:
                    keep[low:high] = False
                if policy == KEEP_FIRST:
                    keep[low] = True
                elif policy == KEEP_LAST:
                    keep[high - 1] = True
            low = high
    return keep, repeated, conflicts, first_item, first_row
