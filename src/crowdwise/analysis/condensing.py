"""Functions that keep charts and pages of a large crowd small: histograms, most common values, omitted rows."""

from typing import Final

import numpy as np
import polars as pl

from ..errors import shortened
from ..numerics import Array

# The most characters of a name in a chart or a page.
LONGEST_NAME: Final = 200


def bins(values: Array, low: float, high: float, count: int = 30) -> pl.DataFrame:
    """Return a histogram of the values: one row per bin with the columns low, high (its ends) and count.

    Args:
        values: The values. Those below `low` are counted in the first bin, those above `high` in the last bin.
        low: The lower end of the first bin.
        high: The upper end of the last bin.
        count: The number of bins.
    """
    counts, edges = np.histogram(np.clip(values, low, high), count, (low, high))
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def most_common(counts: Array, limit: int) -> Array:
    """Return the positions of the largest counts, at most `limit` of them, in ascending order.

    >>> most_common(np.array([5, 0, 7, 6]), 2).tolist()
    [2, 3]
    """
    if len(counts) <= limit:
        return np.arange(len(counts))
    return np.sort(np.argsort(-counts, kind="stable")[:limit])


def evenly(table: pl.DataFrame, limit: int) -> pl.DataFrame:
    """Return at most `limit` rows of a table, evenly from all of them.

    >>> evenly(pl.DataFrame({"row": range(10)}), 4)["row"].to_list()
    [0, 3, 6, 9]
    """
    return table[np.unique(np.linspace(0, table.height - 1, min(table.height, limit)).astype(int))]


def names_as_text(names: pl.Series) -> pl.Series:
    """Return names of any type as text, for charts and tables; long ones are cut."""
    texts = names.cast(pl.String)
    if (texts.str.len_chars() <= LONGEST_NAME).all():
        return texts
    return texts.map_elements(lambda name: shortened(name, LONGEST_NAME), pl.String)


def left_out(shown: int, total: int, rule: str) -> str:
    """Return a sentence that says which rows are shown and how many are not; "" if all are shown.

    Args:
        shown: The number of rows that are shown.
        total: The number of all rows.
        rule: The beginning of the sentence: which rows are shown.

    >>> left_out(300, 1000, "The workers with the most labels:")
    'The workers with the most labels: 300 of 1,000; 700 are left out here.'
    """
    return f"{rule} {shown:,} of {total:,}; {total - shown:,} are left out here." if shown < total else ""
