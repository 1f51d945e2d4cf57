"""`numeric_errors`: how far inferred values are from known true values."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..crowd.ids import comparable
from ..crowd.number_reader import NumberReader
from ..errors import DataError
from ..reading.read_truth import read_truth
from ..results.in_parts import ResultInParts
from ..results.numeric_result import NumericResult
from .pairing import require_numbers


@dataclass(frozen=True)
class NumericErrors:
    """How far inferred values are from the true ones.

    Attributes:
        mae: The mean absolute error.
        rmse: The root of the mean squared error.
        correlation: The correlation of inferred and true values; NaN if either are all the same.
        coverage: The share of true values inside the 95 % interval; NaN if there are no intervals.
        items: The number of items that were compared.
    """

    mae: float
    rmse: float
    correlation: float
    coverage: float
    items: int


def numeric_errors(result: NumericResult | ResultInParts, truth: Any) -> NumericErrors:
    """Return how far the values of a numeric method are from the true ones.

    Args:
        result: The result of a numeric method.
        truth: The true values of some items: a path, a table, or a mapping from item to value. Items without any label
            are left out.

    Raises:
        DataError: A truth is not a number, or none is about an item of the result.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate_numbers(100, 10, seed=1)
    >>> numeric_errors(cw.NumericMean().fit(crowd.numbers), crowd.truth).items
    100
    """
    matched = match_values(result, truth)
    error = (matched["value"] - matched["truth"]).to_numpy()
    value, true = matched["value"].to_numpy(), matched["truth"].to_numpy()
    correlation = float("nan")
    if np.ptp(value) > 0 and np.ptp(true) > 0:
        correlation = float(np.corrcoef(value, true)[0, 1])
    inside = matched.select(pl.col("truth").is_between("low", "high")).to_series().mean()
    return NumericErrors(
        mae=float(np.abs(error).mean()),
        rmse=float(np.sqrt((error**2).mean())),
        correlation=correlation,
        coverage=float("nan") if inside is None else float(inside),  # type: ignore[arg-type]  # a mean of booleans
        items=len(error),
    )


def match_values(result: NumericResult | ResultInParts, truth: Any) -> pl.DataFrame:
    """Return the rows of the items whose true value is known, with a column `truth`."""
    require_numbers(result)
    known = read_truth(truth)
    reader = NumberReader("truth")
    values = reader.read(known.select("item", worker=pl.lit("truth"), label="truth"))
    reader.finish()
    table = result.to_frame()
    items, wanted = comparable(table["item"], known["item"])
    matched = table.with_columns(items.alias("key")).join(
        pl.DataFrame({"key": wanted, "truth": values}), on="key", how="inner", maintain_order="left"
    )
    if matched.height == 0:
        raise DataError(
            f"None of the {known.height:,} items with a truth has a label; the first is {known['item'][0]!r}, and the "
            f"first item with a label is {table['item'][0]!r}."
        )
    return matched.drop("key")
