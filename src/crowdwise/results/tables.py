"""What every result does with its two tables: write them to files, and find the most disputed items."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import polars as pl

from ..data.replacing import check_distinct
from ..data.writing import write
from ..errors import CallError, shown


class ResultTables(ABC):
    """The base of results: a table of items and a table of workers."""

    @abstractmethod
    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """Return the table of the items, with a column for the score of every class if `scores`."""

    @abstractmethod
    def workers_frame(self) -> pl.DataFrame:
        """Return the table of the workers."""

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the `count` items whose best two classes are closest, the closest first."""
        if not isinstance(count, int) or not 0 <= count < 2**63:
            raise CallError(f"count={shown(count)} is not a whole number from 0 on.")
        columns = ("item", "label", "score", "runner_up", "runner_up_score", "votes")
        table = self.lazy().select(columns).drop_nulls("runner_up")
        margin = pl.col("score") - pl.col("runner_up_score")
        return table.bottom_k(count, by=margin).collect().sort(margin, maintain_order=True)

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
    ) -> None:
        """Write the tables to files; the extension of a file says its format.

        No file is replaced before all tables are complete, and none if one of them cannot be replaced.

        Args:
            truth: The file for the rows of the items; None to write none.
            workers: The file for the rows of the workers; None to write none.
            scores: Whether to add a column `score_<class>` for every class to the rows of the items.
        """
        check_distinct([path for path in (truth, workers) if path is not None])
        tables: dict[str, Any] = {}
        if truth is not None:
            tables[fspath(truth)] = self._items_to_write(scores)
        if workers is not None:
            tables[fspath(workers)] = self._workers_to_write()
        self._write(tables)

    def _items_to_write(self, scores: bool) -> Any:
        """Return the table of the items in the form that `_write` takes."""
        return self.lazy(scores)

    def _workers_to_write(self) -> Any:
        """Return the table of the workers in the form that `_write` takes."""
        return self.workers_frame()

    def _write(self, tables: Mapping[str, Any]) -> None:
        """Write tables, by path; no file is replaced before all tables are complete."""
        write(tables)
