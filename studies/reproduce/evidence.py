"""`Evidence`: the measured results, and functions that read the published numbers."""

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

# The only dataset of the paper whose labels may be missing. The accuracies of some methods on it are published.
SENTI: Final = "senti"


@cache
def published(name: str) -> pl.DataFrame:
    """Return the table `name` in the folder `published`."""
    return pl.read_csv(_PUBLISHED / f"{name}.csv")


@dataclass(frozen=True)
class Evidence:
    """The measured results, from which the page is made.

    Attributes:
        accuracies: The accuracies, one row for each method, dataset and seed.
        seconds: The times, one row for each method, dataset and seed.
        sensitivity: The accuracies of BWA, one row for each prior, prior strength and dataset.
    """

    accuracies: pl.DataFrame
    seconds: pl.DataFrame
    sensitivity: pl.DataFrame

    @classmethod
    def read(cls, folder: Path) -> "Evidence":
        """Read the results in a folder."""
        accuracies, seconds, sensitivity = open_results(folder)
        return cls(accuracies.table, seconds.table, sensitivity.table)

    def datasets(self, collection: str) -> list[str]:
        """Return the datasets of a collection that were measured, in the order of the catalog."""
        measured = set(self.accuracies["dataset"])
        catalog = cw.datasets.CATALOG.items()
        return [name for name, dataset in catalog if dataset.collection == collection and name in measured]

    def methods(self, datasets: Sequence[str], group: str | None = None) -> list[str]:
        """Return the methods that have an accuracy on all of these datasets; only those of the group, if given."""
        complete = self.means.filter(pl.col("dataset").is_in(datasets)).drop_nulls("accuracy")
        counts = dict(complete.group_by("method").len().iter_rows())
        return [
            name
            for name, contestant in CONTESTANTS.items()
            if counts.get(name) == len(datasets) and group in (None, contestant.group)
        ]

    def accuracy(self, method: str, datasets: Sequence[str]) -> list[float]:
        """Return a method's accuracy on each of these datasets, the mean over its seeds."""
        rows = self.means.filter(pl.col("method") == method)
        values: dict[str, float] = dict(rows.select("dataset", "accuracy").iter_rows())
        return [values[name] for name in datasets]

    def by_seed(self, method: str, datasets: Sequence[str]) -> list[list[float]]:
        """Return a method's accuracies on each of these datasets: a list with one accuracy for every seed."""
        rows = self.accuracies.filter(pl.col("method") == method)
        return [rows.filter(pl.col("dataset") == name)["accuracy"].to_list() for name in datasets]

    @property
    def means(self) -> pl.DataFrame:
        """The mean accuracies over the seeds; columns method, dataset and accuracy.

        The accuracy is null if the method refuses the dataset.
        """
        return self.accuracies.group_by("method", "dataset", maintain_order=True).agg(pl.col("accuracy").mean())


def open_results(folder: Path) -> tuple[Results, Results, Results]:
    """Open the three files of results in a folder: accuracies, seconds and sensitivity."""
    return (
        Results(folder / "accuracies.csv", ACCURACIES, 6),
        Results(folder / "seconds.csv", SECONDS, 6),
        Results(folder / "sensitivity.csv", SENSITIVITY, 6),
    )


def paper_row(method: str) -> dict[str, Any] | None:
    """Return the row of a method in the paper's Table 3; None if it is not there."""
    rows = published("table_3").filter(pl.col("method") == method)
    return rows.row(0, named=True) if rows.height else None
