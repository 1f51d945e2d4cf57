"""What keeps a page small however large the crowd is: count in bins, show what is most common, say what is left out."""

import numpy as np
import polars as pl

from ..kernels import Array


def bins(values: Array, low: float, high: float, count: int = 30) -> pl.DataFrame:
    """A histogram of the values: a row per bin with its ends `low` and `high` and how many values it holds, `count`.

    Values outside of `low` to `high` go into the first or the last bin.
    """
    counts, edges = np.histogram(np.clip(values, low, high), count, (low, high))
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def most_common(counts: Array, limit: int) -> Array:
    """The codes with the largest counts, at most `limit` of them, in ascending order.

    >>> most_common(np.array([5, 0, 7, 6]), 2).tolist()
    [2, 3]
    """
    if len(counts) <= limit:
        return np.arange(len(counts))
    return np.sort(np.argsort(-counts, kind="stable")[:limit])


def left_out(shown: int, total: int, rule: str) -> str:
    """A sentence that says by which rule rows are shown and how many are not; "" where all are shown.

    >>> left_out(300, 1000, "The workers with the most labels:")
    'The workers with the most labels: 300 of 1,000; 700 are left out here.'
    """
    return f"{rule} {shown:,} of {total:,}; {total - shown:,} are left out here." if shown < total else ""
