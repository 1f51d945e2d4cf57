"""From rows to codes sorted by item."""

import numpy as np

from .compilation import Array, compiled

_U = np.uint64
_HIGH, _LOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)
# Fibonacci hashing spreads consecutive integers, which are the usual ids, over a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_AGAIN = np.uint64(0xD6E8FEB86659FD93)

# An item with more labels than this is worth a sort of its own.
_FEW = 64

KEEP_ALL, KEEP_FIRST, KEEP_LAST, KEEP_NONE = 0, 1, 2, 3


@compiled
def make_slots(expected: int) -> Array:
    """An empty table with room for `expected` pairs; see `encode`."""
    bits = 4
    while 2 << bits < 3 * expected:
        bits += 1
    return np.zeros((1 << bits, 2), np.uint64)


@compiled
def encode(keys: Array, checks: Array, slots: Array, found: int) -> tuple[Array, Array, Array]:
    """Number the distinct (key, check) pairs in order of first appearance, after the `found` that `slots` has already.

    Returns the number of every row; for every new number, the first row that has it; and the table with them. The table
    is open addressing with linear probing; it doubles when two thirds full. A slot is a key beside half of its check
    and its number, so that a probe is one cache line.
    """
    codes = np.empty(keys.size, np.int32)
    bits = 0
    while 1 << bits < slots.shape[0]:
        bits += 1
    known = found
    first_rows = np.empty(max((2 << bits) // 3 - known, 16), np.int64)
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
        if found - known == first_rows.size:
            longer = np.empty(2 * first_rows.size, np.int64)
            for at in range(first_rows.size):  # an assignment to a slice takes Numba two seconds to compile
                longer[at] = first_rows[at]
            first_rows = longer
        first_rows[found - known] = row
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
    return codes, first_rows[: found - known].copy(), slots


@compiled
def deal(keys: Array, bits: int) -> tuple[Array, Array]:
    """Deal rows to 2^bits parts by their keys: rows in the order of the parts, and where each part starts.

    Rows of one part keep their order.
    """
    parts = np.empty(keys.size, np.int32)
    for row in range(keys.size):
        # Not the bits that `encode` looks a key up by, or all keys of a part would crowd in one place of its table.
        mixed = keys[row] * _SPREAD
        parts[row] = ((mixed ^ (mixed >> _U(32))) * _AGAIN) >> _U(64 - bits) if bits > 0 else 0
    starts = _starts(parts, 1 << bits)
    return _order(parts, starts), starts


@compiled
def group_by_item(
    items: Array, workers: Array, labels: Array, n_items: int, n_workers: int
) -> tuple[Array, Array, Array]:
    """Sort rows by item and, within an item, by worker; rows of one worker on one item keep their order."""
    starts = _starts(items, n_items)
    largest = 0
    for i in range(n_items):
        largest = max(largest, starts[i + 1] - starts[i])
    if largest > _FEW:
        # Sorting by worker first leaves nothing to do within the items, however many labels they have.
        order = _order(workers, _starts(workers, n_workers))
        items, workers, labels = items[order], workers[order], labels[order]
    order = _order(items, starts)
    workers, labels = workers[order], labels[order]
    if largest > _FEW:
        return starts, workers, labels
    for i in range(n_items):
        for row in range(starts[i] + 1, starts[i + 1]):
            worker, label = workers[row], labels[row]
            at = row
            while at > starts[i] and workers[at - 1] > worker:
                workers[at], labels[at] = workers[at - 1], labels[at - 1]
                at -= 1
            workers[at], labels[at] = worker, label
    return starts, workers, labels


@compiled
def _starts(keys: Array, n_keys: int) -> Array:
    """Where the rows of each key start when they are sorted."""
    starts = np.zeros(n_keys + 1, np.int64)
    for row in range(keys.size):
        starts[keys[row] + 1] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    return starts


@compiled
def _order(keys: Array, starts: Array) -> Array:
    """The rows in the order of their keys; rows of one key keep theirs."""
    place = starts.copy()
    order = np.empty(keys.size, np.int64)
    for row in range(keys.size):
        at = place[keys[row]]
        order[at] = row
        place[keys[row]] = at + 1
    return order


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
                    for row in range(low, high):
                        keep[row] = False
                if policy == KEEP_FIRST:
                    keep[low] = True
                elif policy == KEEP_LAST:
                    keep[high - 1] = True
            low = high
    return keep, repeated, conflicts, first_item, first_row
