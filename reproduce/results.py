"""The results on disk: what is in them is not measured again, and they are whole at any time."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw

from .contestants import CONTESTANTS

# Times are in a file of their own: everything else must come out the same, byte for byte, on every machine.
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
    """A table in a CSV file, in one order whatever the order of measurement.

    The file is written anew, beside itself, and renamed: an interruption loses what was being measured and no more.
    """

    def __init__(self, path: Path, schema: dict[str, Any], decimals: int) -> None:
        self.path = path
        self._schema = schema
        self._decimals = decimals
        empty = pl.DataFrame(schema=schema)
        self.table = self._ordered(pl.read_csv(path, schema=schema)) if path.exists() else empty

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Add measurements and save."""
        self.table = self._ordered(pl.concat([self.table, pl.DataFrame(list(rows), schema=self._schema)]))
        part = self.path.with_name(f".{self.path.name}.part")
        self.table.write_csv(part, float_precision=self._decimals)
        part.replace(self.path)

    def forget(self, **values: Sequence[str]) -> None:
        """Forget the rows that have one of these values in each of these columns."""
        matching = pl.all_horizontal(pl.col(column).is_in(among) for column, among in values.items())
        self.table = self.table.filter(~matching)

    def keys(self, *columns: str) -> set[tuple[Any, ...]]:
        """What has been measured."""
        return set(self.table.select(columns).iter_rows())

    def _ordered(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows of methods and datasets that there are, in the order of their tables."""
        for column, values in _ORDERS.items():
            if column in self._schema:
                table = table.filter(pl.col(column).is_in(values))
        keys = [column for column in self._schema if column not in ("accuracy", "iterations", "seconds")]
        by = [pl.col(key).cast(pl.Enum(_ORDERS[key])) if key in _ORDERS else pl.col(key) for key in keys]
        return table.unique(subset=keys, keep="last").sort(by)
