"""How items and workers are numbered while a method works: by a hash of their names.

The last bits of a sum depend on the order of its terms, and some methods make such differences grow from iteration to
iteration. With numbers that depend on the names alone, the same rows in any order give the same sums, and so the same
answers to the bit. To sort by a hash is faster than to sort text. In tables, items and workers stay in the order of
their first appearance.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from ..numerics import Array
from ..numerics.twins import is_few
from ..parallel import Threads, slices
from .encoding import keys
from .grouping import continuing
from .hashing import hash_numbers, hash_text

# So many names are hashed at once, because their text is copied for it.
_BATCH: Final = 1_000_000


def numbers(names: pl.Series) -> Array:
    """Return the number of every name: its place in the order of a hash of the names.

    >>> numbers(pl.Series(["ann", "bob", "cleo"])).tolist(), numbers(pl.Series(["bob", "cleo", "ann"])).tolist()
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
        table = {"position": order[at], "hash": hashed[order[at]], "name": _comparable(names.gather(order[at]))}
        order[at] = pl.DataFrame(table).sort("hash", "name")["position"].to_numpy()
    return inverse(order)


def hashes_of(names: pl.Series) -> Array:
    """Return a 64-bit hash of every name. It is our own, because those of libraries change from version to version."""
    return np.concatenate([_hashes(names.slice(first, _BATCH)) for first in range(0, max(len(names), 1), _BATCH)])


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers that items and workers have while a method works.

    If `numbers` is an array in the order of the numbers, `numbers[item_places]` is the same in the order of the items'
    first appearance.

    Attributes:
        item_places: (items), the number of every item; empty if the labels are in parts, whose items are stored in
            the order of their numbers.
        worker_places: (workers), the number of every worker.
    """

    item_places: Array
    worker_places: Array

    @classmethod
    def of_workers(cls, worker_places: Array) -> "Numbering":
        """Return the numbering of a crowd in parts."""
        return cls(np.zeros(0, np.int32), worker_places)

    def apply(
        self, item_starts: Array, workers: Array, labels: Array, continued: Array | None
    ) -> tuple[Array, Array, Array, Array | None]:
        """Sort labels that are sorted by item and worker again, by the numbers; several threads do it.

        Returns:
            Where the labels of each item start, the number of the worker of every label, the labels, and which of them
            continue a vote; None if none can.
        """
        item_order = inverse(self.item_places)
        starts = np.concatenate([[0], np.cumsum(np.diff(item_starts)[item_order])])
        if is_few(len(workers)):
            places = np.repeat(self.item_places, np.diff(item_starts)), self.worker_places[workers]
            order = np.lexsort((labels, *reversed(places)))
            sorted_workers, sorted_labels = places[1][order], labels[order]
        else:
            sorted_workers, sorted_labels = np.empty_like(workers), np.empty_like(labels)
            given = item_starts, workers, labels, item_order, self.worker_places, starts, sorted_workers, sorted_labels
            _renumber(slices(starts, 0), given)
        return starts, sorted_workers, sorted_labels, None if continued is None else continuing(starts, sorted_workers)


def _renumber(bounds: list[tuple[int, int]], given: tuple[Any, ...]) -> None:
    """Renumber the items between these bounds by a kernel, in threads."""
    from .encoding_kernel import renumber  # which imports Numba

    with Threads(len(bounds)) as threads:
        threads.run(lambda part: renumber(*bounds[part], *given))


def inverse(order: Array) -> Array:
    """Return for every position its place in the order; for places, the order."""
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _hashes(names: pl.Series) -> Array:
    """Return a 64-bit hash of every name."""
    names = _comparable(names)
    if names.dtype == pl.String:
        text = np.frombuffer(names.str.join("").item().encode(), np.uint8)
        return hash_text(text, names.str.len_bytes().cast(pl.Int64).to_numpy())
    return hash_numbers(keys(names)[0])


def _comparable(names: pl.Series) -> pl.Series:
    """Return names as text if the number that is stored for a name depends on the other names, or is too long."""
    stored_otherwise = names.dtype.is_decimal() or names.dtype in (pl.Categorical, pl.Enum, pl.Int128, pl.UInt128)
    return names.cast(pl.String) if stored_otherwise else names
