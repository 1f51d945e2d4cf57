"""`pace_of`: how many seconds each worker takes for a label, where the input says it."""

from typing import Final

import polars as pl

# Less than this counts as this, because clocks are no better.
_LEAST: Final = 0.01
# The variance of a median of many values, relative to that of their mean, if they are normal.
_OF_MEDIAN: Final = 1.5708


def pace_of(rows: pl.LazyFrame) -> pl.DataFrame | None:
    """Return how fast each worker is; None if no row says it.

    Args:
        rows: The columns worker, of any type, and seconds, a number or text; a row for each label.

    Returns:
        A row for each worker: worker (as text), seconds (the median), timed (of how many labels), and noise (the
        variance of the logarithm of the median, by chance).
    """
    seconds = pl.col("seconds").cast(pl.Float64, strict=False)
    timed = rows.select(pl.col("worker").cast(pl.String), seconds).filter(
        pl.col("worker").is_not_null(), pl.col("seconds").is_finite(), pl.col("seconds") >= 0
    )
    logarithm = pl.col("seconds").clip(_LEAST).log()
    found = (
        timed.group_by("worker", maintain_order=True)
        .agg(
            pl.col("seconds").median(),
            pl.len().alias("timed"),
            (_OF_MEDIAN * logarithm.var() / pl.len()).fill_null(0.0).alias("noise"),
        )
        .collect()
    )
    return found if found.height else None
