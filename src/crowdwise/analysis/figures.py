"""Charts that the report and `plot` both draw, from tables about a result: qualities of workers, and confusions."""

from typing import Any, Final

import numpy as np
import polars as pl

from ..numerics import Array
from . import charts
from .condensing import bins

# If there are more workers than this, the chart shows how many there are in each cell of a grid, not a point for each.
MOST_POINTS: Final = 1000
# If there are more than this, bands take the place of the lines of their intervals.
MOST_LINES: Final = 120
# The bands are made for groups of workers with about as many labels.
_GROUPS: Final = 12
# The largest number of classes in a chart.
MOST_CLASSES: Final = 20


def qualities(table: pl.DataFrame, style: charts.Style) -> Any:
    """Draw quality against number of labels: a point for each worker, with bands, or a grid, if there are many workers.

    Args:
        table: Columns worker, labels, quality, low and high (the ends of its interval; null if there is none).
        style: The colours.
    """
    if MOST_LINES < table.height <= MOST_POINTS:
        return charts.worker_bands(table.select("worker", "labels", "quality", "low", "high"), _bands(table), style)
    if table.height <= MOST_POINTS:
        return charts.workers(table.select("worker", "labels", "quality", "low", "high"), style)
    given, quality = table["labels"].to_numpy().astype(float), table["quality"].to_numpy()
    edges = np.geomspace(given.min(), max(given.max(), given.min() + 1) * 1.001, 41)
    counts, across, up = np.histogram2d(given, np.clip(quality, 0, 1), [edges, np.linspace(0, 1, 41)])
    x, y = np.nonzero(counts)
    cells = pl.DataFrame(
        {
            "labels_from": across[x],
            "labels_to": across[x + 1],
            "quality_from": up[y],
            "quality_to": up[y + 1],
            "count": counts[x, y],
            "shade": np.log1p(counts[x, y]) / np.log1p(counts.max()),
        }
    )
    return charts.worker_density(cells, style)


def _bands(table: pl.DataFrame) -> pl.DataFrame:
    """Return, for groups of workers with about as many labels, where half and nine of ten of their qualities are."""
    ends = np.unique(np.quantile(table["labels"].to_numpy(), np.linspace(0, 1, _GROUPS + 1), method="nearest"))
    if len(ends) == 1:
        ends = np.array([ends[0], ends[0] + 1])
    last = table["labels"].cast(pl.Float64).clip(upper_bound=float(ends[-1]) - 0.5)
    group = np.searchsorted(ends, last.to_numpy(), side="right") - 1
    quality = pl.col("quality")
    bands = (
        table.with_columns(pl.Series("group", group))
        .group_by("group")
        .agg(
            *(quality.quantile(q, "linear").alias(f"q{round(100 * q)}") for q in (0.05, 0.25, 0.5, 0.75, 0.95)),
            pl.len(),
        )
        .sort("group")
    )
    edges = {"labels_from": ends[bands["group"]], "labels_to": ends[bands["group"] + 1]}
    return bands.with_columns(*(pl.Series(name, values, pl.Float64) for name, values in edges.items())).drop("group")


def confidence(values: Array, style: charts.Style) -> Any:
    """Draw the histogram of how sure the answers are; (items), probabilities."""
    return charts.histogram(bins(values, 0.0, 1.0), "Confidence", "Items", style)


def half_widths(values: Array, style: charts.Style) -> Any:
    """Draw the histogram of how uncertain numbers are; (items), half of the width of each interval."""
    top = float(values.max())
    return charts.histogram(bins(values, 0.0, top if top > 0 else 1.0), "Half of the 95% interval", "Items", style)


def confusion(
    names: pl.Series, cases: tuple[Array, Array], charted: Array, axes: charts.Axes, style: charts.Style
) -> Any:
    """Draw how often each class of a column goes with each class of a row.

    Args:
        names: The names of the classes, as text.
        cases: For every case, the code of the class that has its row, such as the answer; and of the one that has its
            column, such as what was said.
        charted: The codes of the classes to draw. The others count in the shares.
        axes: What rows, columns and cases are.
        style: The colours.
    """
    rows, columns = cases
    position = np.full(len(names), -1)
    position[charted] = np.arange(len(charted))
    row, column = position[rows], position[columns]
    both = (row >= 0) & (column >= 0)
    cells = np.bincount(row[both] * len(charted) + column[both], minlength=len(charted) ** 2)
    counts = cells.reshape(len(charted), len(charted))
    given = np.bincount(rows, minlength=len(names))[charted]
    share = counts / np.maximum(given, 1)[:, None]
    return charts.heat_map(heat_cells(names.gather(charted), share, counts), axes, style)


def heat_cells(names: pl.Series, share: Array, count: Array | None = None) -> pl.DataFrame:
    """Return what `charts.heat_map` draws, given the share of every row and column, and the count if there is one."""
    row, column = np.indices(share.shape)
    cells = {"row": names.gather(row.ravel()), "column": names.gather(column.ravel()), "share": share.ravel()}
    return pl.DataFrame(cells if count is None else {**cells, "count": count.ravel()})
