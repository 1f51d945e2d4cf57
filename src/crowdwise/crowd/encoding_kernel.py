"""Rows of any ids turned into numbers and sorted by item, compiled."""

import numpy as np

from ..numerics import Array
from ..numerics.compilation import allocating, compiled
from ..numerics.simd import fetch_number

_U = np.uint64
_HIGH, _LOW = np.uint64(0xFFFFFFFF00000000), np.uint64(0x00000000FFFFFFFF)
# The multiplier of Fibonacci hashing: it spreads consecutive integers, which many ids are, over the whole table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)

# If no item has more labels than this, the labels within items are sorted by insertion, which is faster for so few.
_FEW = 64

# So many rows ahead, the processor is asked to fetch what will be needed: the places are all over the memory.
_AHEAD = 16


def make_slots(expected: int) -> Array:
    """An empty hash table with room for `expected` pairs; see `encode`."""
    bits = 4
    while 2 << bits < 3 * expected:
        bits += 1
    return np.zeros((1 << bits, 2), np.uint64)


@allocating
def encode(keys: Array, checks: Array, slots: Array, found: int) -> tuple[Array, Array, Array]:
    """Number the distinct pairs (key, check) from 0 on, in the order in which they first appear.

    A key and a check are 64 bits each of the hash of one id; `keys` and `checks` have one of each for every row.
    `slots` is the hash table, with the `found` pairs that were numbered before; it may be changed, so use the one
    returned.

    Returns the number of every row; for every new number, the first row that has it; and the hash table with the new
    pairs. The table has open addressing with linear probing, and is doubled when it is two thirds full. A slot holds a
    key in the first column; in the second, the upper half of its check and, in the lower half, its number plus one. So
    a slot is within one cache line, and a second column of zero marks an empty slot.
    """
    codes = np.empty(keys.size, np.int32)
    bits = 0
    while 1 << bits < slots.shape[0]:
        bits += 1
    known = found
    first_rows = np.empty(max((2 << bits) // 3 - known, 16), np.int64)
    flat, last = slots.reshape(-1), keys.size - 1
    for row in range(keys.size):
        fetch_number(flat, ((keys[min(row + _AHEAD, last)] * _SPREAD) >> _U(64 - bits)) << _U(1))
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
            for at in range(first_rows.size):  # a loop, because Numba takes two seconds to compile assigning to a slice
                longer[at] = first_rows[at]
            first_rows = longer
        first_rows[found - known] = row
        found += 1
        slots[slot, 0], slots[slot, 1] = key, half | _U(found)
        if 3 * found > 2 << bits:
            bits += 1
            old = slots
            slots = np.zeros((1 << bits, 2), np.uint64)
            flat = slots.reshape(-1)
            for at in range(old.shape[0]):
                if old[at, 1] != 0:
                    slot = (old[at, 0] * _SPREAD) >> _U(64 - bits)
                    while slots[slot, 1] != 0:
                        slot = (slot + _U(1)) & _U((1 << bits) - 1)
                    slots[slot, 0], slots[slot, 1] = old[at, 0], old[at, 1]
    return codes, first_rows[: found - known].copy(), slots


@allocating
def group_by_item(
    items: Array, workers: Array, labels: Array, n_items: int, n_workers: int
) -> tuple[Array, Array, Array]:
    """See `sorting.group_by_item`."""
    starts = _starts(items, n_items)
    largest = 0
    for i in range(n_items):
        largest = max(largest, starts[i + 1] - starts[i])
    if largest > _FEW:
        # Sort all rows by worker first: sorting by item then keeps them in this order within every item.
        order = _order(workers, _starts(workers, n_workers))
        items, workers, labels = items[order], workers[order], labels[order]
    workers, labels = _moved(items, starts, workers, labels)
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


@allocating
def _moved(items: Array, starts: Array, workers: Array, labels: Array) -> tuple[Array, Array]:
    """The workers and labels of the rows, sorted by item; rows of the same item keep their order."""
    place, last = starts.copy(), items.size - 1
    sorted_workers, sorted_labels = np.empty_like(workers), np.empty_like(labels)
    for row in range(items.size):
        fetch_number(place, _U(items[min(row + 2 * _AHEAD, last)]))
        coming = _U(place[_U(items[min(row + _AHEAD, last)])])
        fetch_number(sorted_workers, coming)
        fetch_number(sorted_labels, coming)
        at = _U(place[_U(items[row])])
        sorted_workers[at], sorted_labels[at] = workers[row], labels[row]
        place[_U(items[row])] = at + _U(1)
    return sorted_workers, sorted_labels


@compiled
def renumber(
    first: int,
    last: int,
    old_starts: Array,
    old_workers: Array,
    old_labels: Array,
    item_order: Array,
    worker_numbers: Array,
    starts: Array,
    workers: Array,
    labels: Array,
) -> None:
    """Copy the rows of the items from `first` to `last` to where they belong by other numbers of items and workers.

    `item_order` (items) has the old number of every new one, `worker_numbers` (workers) the new of every old one.
    `starts` (items + 1) says where the rows of an item go in `workers` and `labels`. Within an item, they are sorted by
    worker and label: by Shell's method, which for a few rows is insertion, and needs no other memory for many.
    """
    for i in range(first, last):
        fetch_number(old_starts, _U(item_order[min(i + 2 * _AHEAD, last - 1)]))
        coming = _U(old_starts[item_order[min(i + _AHEAD, last - 1)]])
        fetch_number(old_workers, coming)
        fetch_number(old_labels, coming)
        low, high = starts[i], starts[i + 1]
        shift = old_starts[item_order[i]] - low
        for row in range(low, high):
            workers[row], labels[row] = worker_numbers[old_workers[row + shift]], old_labels[row + shift]
        gap = 1
        while 9 * gap < high - low:
            gap = 3 * gap + 1
        while gap > 0:
            for row in range(low + gap, high):
                worker, label = workers[row], labels[row]
                at = row
                while at >= low + gap and (
                    workers[at - gap] > worker or (workers[at - gap] == worker and labels[at - gap] > label)
                ):
                    workers[at], labels[at] = workers[at - gap], labels[at - gap]
                    at -= gap
                workers[at], labels[at] = worker, label
            gap //= 3


@allocating
def fnv(text: Array, lengths: Array) -> Array:
    """See `hashing.fnv`."""
    hashes = np.empty(lengths.size, np.uint64)
    at = 0
    for piece in range(lengths.size):
        hashed = _U(0xCBF29CE484222325)
        for byte in range(at, at + lengths[piece]):
            hashed = (hashed ^ _U(text[byte])) * _U(0x100000001B3)
        hashes[piece] = hashed
        at += lengths[piece]
    return hashes


@allocating
def _starts(keys: Array, n_keys: int) -> Array:
    """(keys + 1): where the rows of each key start when the rows are sorted by key."""
    starts, last = np.zeros(n_keys + 1, np.int64), keys.size - 1
    for row in range(keys.size):
        fetch_number(starts, _U(keys[min(row + _AHEAD, last)]) + _U(1))
        starts[_U(keys[row]) + _U(1)] += 1
    for key in range(n_keys):
        starts[key + 1] += starts[key]
    return starts


@allocating
def _order(keys: Array, starts: Array) -> Array:
    """The numbers of the rows, sorted by key; rows with the same key keep their order. `starts` is from `_starts`."""
    place = starts.copy()
    order = np.empty(keys.size, np.int64)
    for row in range(keys.size):
        at = place[keys[row]]
        order[at] = row
        place[keys[row]] = at + 1
    return order
