"""`Results`: a CSV file of measurements, so that an interrupted run can be continued."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw

from .contestants import CONTESTANTS

# The times are in a file of their own, because the other files must be the same, byte for byte, on every machine.
ACCURACIES: Final = {
    "method": pl.String,
    "dataset": pl.String,
    "seed": pl.Int64,
    "accuracy": pl.Float64,
    "iterations": pl.Int64,
}
SECONDS: Final = {"method": pl.String, "dataset": pl.String, "seed": pl.Int64, "seconds": pl.Float64}
SENSITIVITY: Final = {
    "prior": pl.String,
    "prior_strength": pl.Int64,
    "dataset": pl.String,
    "accuracy": pl.Float64,
}

_ORDERS: Final[dict[str, Sequence[str]]] = {
    "method": list(CONTESTANTS),
    "dataset": list(cw.datasets.CATALOG),
    "prior": ["original", "adjusted"],
}


class Results:
    """A table in a CSV file; the order of its rows does not depend on the order of measurement.

    Every time rows are added, a new file is written and then renamed to replace the old one. So the file is never
    incomplete, and an interruption loses only what was being measured.

    Args:
        path: The file; it is read if it exists.
        schema: The names and the types of the columns.
        decimals: The number of decimals of the numbers in the file.
    """

    def __init__(self, path: Path, schema: dict[str, Any], decimals: int) -> None:
        self.path = path
        self._schema = schema
        self._decimals = decimals
        empty = pl.DataFrame(schema=schema)
        self.table = self._ordered(pl.read_csv(path, schema=schema)) if path.exists() else empty

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add measurements, replacing those with the same key, and save the file."""
        self.table = self._ordered(pl.concat([self.table, pl.DataFrame(list(rows), schema=self._schema)]))
        part = self.path.with_name(f".{self.path.name}.part")
        self.table.write_csv(part, float_precision=self._decimals)
        part.replace(self.path)

    def forget(self, **values: Sequence[str]) -> None:
        """Remove the rows that have, in each of these columns, one of the values given; does not save the file."""
        matching = pl.all_horizontal(pl.col(column).is_in(among) for column, among in values.items())
        self.table = self.table.filter(~matching)

    def keys(self, *columns: str) -> set[tuple[Any, ...]]:
        """Return the values of these columns in all rows, as a set of tuples."""
        return set(self.table.select(columns).iter_rows())

    def _ordered(self, table: pl.DataFrame) -> pl.DataFrame:
        """Sort the rows by the tables of methods and datasets; drop repeated rows and unknown methods and datasets."""
        for column, values in _ORDERS.items():
            if column in self._schema:
                table = table.filter(pl.col(column).is_in(values))
        keys = [column for column in self._schema if column not in ("accuracy", "iterations", "seconds")]
        by = [pl.col(key).cast(pl.Enum(_ORDERS[key])) if key in _ORDERS else pl.col(key) for key in keys]
        return table.unique(subset=keys, keep="last").sort(by)
