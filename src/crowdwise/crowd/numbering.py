"""Numbers of items and workers while a method works, by a hash of their names.

The last bits of a sum depend on the order of its terms, and some methods make such differences grow from iteration to
iteration. With numbers that depend on the names alone, the same rows in any order give the same sums, and so the same
answers to the bit. To sort by a hash is faster than to sort text. In tables, items and workers stay in the order of
their first appearance.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from ..numerics import Array
from ..numerics.twins import is_few
from ..parallel import Threads, slices
from .encoding import continuing
from .hashing import hashes_of, in_own_values


def hash_ranks(names: pl.Series) -> Array:
    """Return the rank of every name in the order of a hash of the names.

    >>> hash_ranks(pl.Series(["ann", "bob", "cleo"])).tolist(), hash_ranks(pl.Series(["bob", "cleo", "ann"])).tolist()
    ([1, 0, 2], [0, 2, 1])
    """
    count = len(names)
    hashed = hashes_of(names)
    # The positions are put into the lower bits, because to sort numbers is many times faster than to sort positions.
    bits = np.uint64(count.bit_length())
    ordered = np.sort((hashed >> bits << bits) | np.arange(count, dtype=np.uint64))
    upper = ordered >> bits
    order = (ordered ^ (upper << bits)).astype(np.int64)
    tied = np.flatnonzero(upper[1:] == upper[:-1])
    if len(tied):  # few, unless somebody chose the names to be so
        at = np.union1d(tied, tied + 1)
        table = {"position": order[at], "hash": hashed[order[at]], "name": in_own_values(names.gather(order[at]))}
        order[at] = pl.DataFrame(table).sort("hash", "name")["position"].to_numpy()
    return inverse(order)


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers that items and workers have while a method works.

    If `values` is an array in the order of the numbers, `values[item_numbers]` is the same in the order of the items'
    first appearance.

    Attributes:
        item_numbers: (items), the number of every item; empty if the labels are in parts, whose items are stored in
            the order of their numbers.
        worker_numbers: (workers), the number of every worker.
    """

    item_numbers: Array
    worker_numbers: Array

    @classmethod
    def of_workers(cls, worker_numbers: Array) -> "Numbering":
        """Return the numbering of a crowd in parts."""
        return cls(np.zeros(0, np.int32), worker_numbers)

    def apply(
        self, item_starts: Array, workers: Array, labels: Array, continued: Array | None, soft: Array | None = None
    ) -> tuple[Array, Array, Array, Array | None, Array | None]:
        """Return the arrays of `Labels` with items and workers in the order of their numbers."""
        item_order = inverse(self.item_numbers)
        starts = np.concatenate([[0], np.cumsum(np.diff(item_starts)[item_order])])
        if soft is not None or is_few(len(workers)):
            renumbered = self.worker_numbers[workers]
            order = np.lexsort((labels, renumbered, np.repeat(self.item_numbers, np.diff(item_starts))))
            sorted_workers, sorted_labels = renumbered[order], labels[order]
            soft = None if soft is None else soft[order]
        else:
            from .encoding_kernel import renumber  # which imports Numba

            sorted_workers, sorted_labels = np.empty_like(workers), np.empty_like(labels)
            given = item_starts, workers, labels, item_order, self.worker_numbers, starts, sorted_workers, sorted_labels
            bounds = slices(starts, 0)
            with Threads(len(bounds)) as threads:
                threads.run(lambda part: renumber(*bounds[part], *given))
        continued = None if continued is None else continuing(starts, sorted_workers)
        return starts, sorted_workers, sorted_labels, continued, soft


def inverse(order: Array) -> Array:
    """Inverse permutation."""
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks
