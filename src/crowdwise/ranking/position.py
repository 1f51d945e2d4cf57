"""`positions`: how often judges take what they see first, and how many verdicts change with the order."""

import numpy as np
import polars as pl

from ..analysis.panels.positions import position_table
from ..numerics import Array
from .comparisons import BY_VOTE, FIRST, SECOND, TIE, Comparisons


def positions(comparisons: Comparisons) -> pl.DataFrame:
    """Return one row per judge, as `position_table` does; an empty table if it is not known what judges saw first."""
    judges = len(comparisons.judges)
    if not comparisons.ordered:
        return pl.DataFrame()
    first, second, ties = (
        np.bincount(comparisons.judge, comparisons.outcome == said, judges).astype(np.int64)
        for said in (FIRST, SECOND, TIE)
    )
    return position_table(comparisons.judges, (first, second, ties), _flips(comparisons))


def _flips(comparisons: Comparisons) -> tuple[Array, Array, Array]:
    """Return for every judge how many pairs it saw in both orders, and how many verdicts changed; and to the first."""
    judges = len(comparisons.judges)
    if comparisons.cluster == BY_VOTE:
        none = np.zeros(judges, np.int64)
        return none, none, none
    rows = pl.DataFrame(
        {
            "judge": comparisons.judge,
            "prompt": comparisons.prompt,
            "pair": comparisons.pair,
            "ascending": comparisons.first < comparisons.second,
            "outcome": comparisons.outcome,
        }
    )
    # Of several votes in one order, the first of them in the order of codes stands for all.
    sides = rows.group_by("judge", "prompt", "pair").agg(
        pl.col("outcome").filter(pl.col("ascending")).first().alias("one"),
        pl.col("outcome").filter(~pl.col("ascending")).first().alias("other"),
    )
    both = sides.drop_nulls()
    counted = both.group_by("judge").agg(
        pl.len().alias("both"),
        (pl.col("one") != -pl.col("other")).sum().alias("flips"),
        ((pl.col("one") == FIRST) & (pl.col("other") == FIRST)).sum().alias("to_first"),
    )
    counts = np.zeros((3, judges), np.int64)
    counts[:, counted["judge"].to_numpy()] = counted.select("both", "flips", "to_first").to_numpy().T
    return counts[0], counts[1], counts[2]
