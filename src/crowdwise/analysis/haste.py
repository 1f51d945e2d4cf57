"""`hasty`: workers who answer much faster than the others, where the input says how many seconds they took."""

from typing import Final

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..numerics import Array

# A worker with fewer labels whose seconds are known cannot be judged, nor can anybody among fewer workers.
_ENOUGH: Final = 10
_FEWEST_WORKERS: Final = 5
# The share of honest crowds in which anybody may be called hasty, by chance.
_UNLIKELY: Final = 0.01
# A hasty worker takes less than this share of what the median worker takes.
_FAR: Final = 1 / 3
# Honest workers differ at least by this, as a standard deviation of logarithms; it is known the worse, the fewer
# workers there are. Both numbers are such that simulated crowds have few false alarms (tests/analysis/test_haste.py).
_LEAST_SPREAD: Final = 0.3
_UNCERTAIN: Final = 6.0
# The standard deviation of a normal distribution, divided by the median of the distances from the median.
_SCALE: Final = 1.4826
_LEAST_SECONDS: Final = 0.01


def with_pace(table: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """Add the columns seconds, timed and noise, of which `pace_of` tells, to a table with a column worker.

    Where nothing is known, they are null.
    """
    pace = labels.report.pace
    if pace is None:
        return table.with_columns(seconds=pl.lit(None, pl.Float64), timed=pl.lit(0), noise=pl.lit(None, pl.Float64))
    named = table.with_columns(pl.col("worker").cast(pl.String).alias("as_text"))
    return named.join(pace, left_on="as_text", right_on="worker", how="left", maintain_order="left").drop("as_text")


def hasty(seconds: Array, timed: Array, noise: Array) -> Array:
    """Return (workers) who takes far less time than the median worker, and less than chance explains.

    Args:
        seconds: (workers), the median of a worker's seconds; NaN if it is not known.
        timed: (workers), of how many labels this is.
        noise: (workers), the variance of its logarithm by chance.
    """
    from scipy import special  # slow to import

    known = np.isfinite(seconds) & (timed >= _ENOUGH)
    workers = int(known.sum())
    found = np.zeros(len(seconds), bool)
    if workers < _FEWEST_WORKERS:
        return found
    height = np.log(np.maximum(seconds[known], _LEAST_SECONDS))
    middle = np.median(height)
    spread = _SCALE * np.median(np.abs(height - middle))
    variance = max(float(spread**2 - np.median(noise[known])), _LEAST_SPREAD**2)
    error = np.sqrt(variance * (1 + _UNCERTAIN / workers) ** 2 + noise[known])
    far = float(-special.ndtri(_UNLIKELY / workers))
    found[known] = ((middle - height) / error > far) & (height < middle + np.log(_FAR))
    return found
