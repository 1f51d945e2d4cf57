"""A sketch of the ids of items, which shows whether a later batch of labels has the same items again.

It has the smallest hashes of all ids (k minimum values). The sketch of two batches together is made of their sketches.
Hashes are evenly spread, so items with small ones are a random sample: the share of them that two batches have in
common is the share of all. As long as there are no more items than hashes in a sketch, nothing is estimated.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import polars as pl

from ..numerics import Array
from .hashing import hashes_of
from .ids import text

# So many hashes are kept, 32 KB.
SIZE: Final = 4096
# So many ids are hashed at once, because their text is copied for it.
_BATCH: Final = 1_000_000


def sketch(items: pl.Series) -> Array:
    """Return the smallest hashes of ids, ascending; 7 and "7" have the same hash.

    >>> sketch(pl.Series([7, 8])).tolist() == sketch(pl.Series(["8", "7"])).tolist()
    True
    """
    pieces = (items.slice(first, _BATCH) for first in range(0, len(items), _BATCH))
    return union(union([hashes_of(pl.select(text(pl.lit(piece), piece.dtype)).to_series())]) for piece in pieces)


def union(sketches: Iterable[Array]) -> Array:
    """Return the sketch of all items together."""
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *sketches]))[:SIZE]


def share_in_common(one: Array, other: Array) -> float:
    """Return the share of the items of one sketch that are also in the other; exact if both are complete."""
    ends = [sketch[-1] for sketch in (one, other) if len(sketch) == SIZE]
    # Above the end of a full sketch, an item may have been left out of it.
    compared = one if not ends else one[one <= min(ends)]
    return float(np.isin(compared, other).mean()) if len(compared) else 0.0


def count(sketch: Array) -> tuple[int, bool]:
    """Return how many items a sketch is of, and whether that is exact."""
    if len(sketch) < SIZE:
        return len(sketch), True
    return round((SIZE - 1) / (int(sketch[-1]) / 2**64)), False
