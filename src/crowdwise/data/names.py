"""`Names`: what the codes of items, workers and classes stand for."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, eq=False)
class Names:
    """What items, workers and classes are called, each in the user's own dtype.

    The name of code 3 is the entry at place 3. Where labels are on disk or in a cluster, `items` is empty: items have
    their names in the part that they are in.
    """

    items: pl.Series
    workers: pl.Series
    classes: pl.Series
