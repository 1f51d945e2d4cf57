"""What was measured and what was published, ready to be put side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import polars as pl

import crowdwise as cw

from .contestants import CONTESTANTS
from .results import ACCURACIES, SECONDS, SENSITIVITY, Results

_PUBLISHED: Final = Path(__file__).parent / "published"

# The one dataset of the paper whose labels may be missing; its accuracies are partly published.
SENTI: Final = "senti"


@cache
def published(name: str) -> pl.DataFrame:
    """One of the tables in the folder `published`."""
    return pl.read_csv(_PUBLISHED / f"{name}.csv")


@dataclass(frozen=True)
class Evidence:
    """Everything the page is made from.

    Attributes:
        accuracies: As measured, one row a seed.
        seconds: The same for times.
        sensitivity: BWA's accuracies by prior and prior strength.
    """

    accuracies: pl.DataFrame
    seconds: pl.DataFrame
    sensitivity: pl.DataFrame

    @classmethod
    def read(cls, folder: Path) -> "Evidence":
        """Read a folder of results."""
        accuracies, seconds, sensitivity = open_results(folder)
        return cls(accuracies.table, seconds.table, sensitivity.table)

    def datasets(self, collection: str) -> list[str]:
        """The datasets of a collection that were measured, in the order of the catalog."""
        measured = set(self.accuracies["dataset"])
        catalog = cw.datasets.CATALOG.items()
        return [name for name, dataset in catalog if dataset.collection == collection and name in measured]

    def methods(self, datasets: Sequence[str], group: str | None = None) -> list[str]:
        """The methods that were measured on all of these datasets."""
        complete = self.means.filter(pl.col("dataset").is_in(datasets)).drop_nulls("accuracy")
        counts = dict(complete.group_by("method").len().iter_rows())
        return [
            name
            for name, contestant in CONTESTANTS.items()
            if counts.get(name) == len(datasets) and group in (None, contestant.group)
        ]

    def accuracy(self, method: str, datasets: Sequence[str]) -> list[float]:
        """A method's accuracies on datasets, each the mean over its seeds."""
        rows = self.means.filter(pl.col("method") == method)
        values: dict[str, float] = dict(rows.select("dataset", "accuracy").iter_rows())
        return [values[name] for name in datasets]

    def by_seed(self, method: str, datasets: Sequence[str]) -> list[list[float]]:
        """The same, a list of its seeds for every dataset."""
        rows = self.accuracies.filter(pl.col("method") == method)
        return [rows.filter(pl.col("dataset") == name)["accuracy"].to_list() for name in datasets]

    @property
    def means(self) -> pl.DataFrame:
        """Accuracies over seeds: method, dataset, accuracy; null where the method refuses the dataset."""
        return self.accuracies.group_by("method", "dataset", maintain_order=True).agg(pl.col("accuracy").mean())


def open_results(folder: Path) -> tuple[Results, Results, Results]:
    """The three files of results in a folder: accuracies, seconds, sensitivity."""
    return (
        Results(folder / "accuracies.csv", ACCURACIES, 6),
        Results(folder / "seconds.csv", SECONDS, 6),
        Results(folder / "sensitivity.csv", SENSITIVITY, 6),
    )


def paper_row(method: str) -> dict[str, Any] | None:
    """A method's row of the paper's Table 3."""
    rows = published("table_3").filter(pl.col("method") == method)
    return rows.row(0, named=True) if rows.height else None
