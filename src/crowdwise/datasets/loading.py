"""`load`: read a dataset by its name, download it first if necessary, and check its counts."""

import os
from pathlib import Path
from typing import Any

import polars as pl

from ..crowd.read_options import Duplicates
from ..errors import DataError
from ..reading.read_labels import read_labels
from ..reading.read_truth import read_truth
from ..system import first_line
from .catalog import Dataset, find
from .downloading import DownloadProgress, fetch


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    duplicates: Duplicates | None = None,
    progress: DownloadProgress | None = None,
) -> tuple[Any, pl.DataFrame]:
    """Read a dataset by its name, and download it first if necessary.

    The dataset is looked for in `folder` (or the folder that CROWDWISE_DATA names), then in the cache, then at its
    public address, from which it is downloaded into the cache.

    Args:
        name: The name of the dataset; one of `CATALOG`.
        folder: A folder that contains paper/, extra/ and numeric/, each with one folder per dataset.
        duplicates: What to do where one worker gave one item several labels; None for what the catalog says.
        progress: Called during a download with the name of a file, the bytes received so far and its size in bytes.

    Returns:
        The labels and the truth. The labels are `Labels`, but for a numeric dataset a polars table of item, worker and
        label, which `read_numbers` takes. The truth is a polars table of item and truth.

    Raises:
        CallError: There is no dataset of this name.
        DataError: The dataset cannot be downloaded or read.
    """
    return _read(find(name), fetch(name, folder=folder, progress=progress), duplicates)


def _read(dataset: Dataset, folder: Path, duplicates: Duplicates | None) -> tuple[Any, pl.DataFrame]:
    """Read the files of a dataset. Raises `DataError` if their counts are not those of the catalog."""
    if dataset.collection == "numeric":
        numbers = _numbers(folder / "label.csv", "label")
        truth = _numbers(folder / "truth.csv", "truth")
        workers = numbers["worker"].n_unique()
        _check(dataset, folder, items=numbers["item"].n_unique(), workers=workers, labels=numbers.height)
        _check(dataset, folder, truths=truth.height)
        return numbers, truth
    labels = read_labels(folder / "label.csv", duplicates=duplicates or dataset.duplicates)
    # Items and classes must have the same types as in the labels. A truth that cannot be converted is left out.
    types = {"item": labels.names.items.dtype, "truth": labels.names.classes.dtype}
    truth = read_truth(folder / "truth.csv").cast(types, strict=False).drop_nulls()  # type: ignore[arg-type]
    if duplicates not in ("first", "last", "drop"):  # with these, labels are left out on purpose
        counts = {"workers": labels.n_workers, "classes": labels.n_classes, "labels": labels.n_labels}
        _check(dataset, folder, items=labels.n_items, **counts)
    _check(dataset, folder, truths=truth.height)
    return labels, truth


def _check(dataset: Dataset, folder: Path, **counts: int) -> None:
    """Raise `DataError` if a count differs from the one in the catalog."""
    for what, count in counts.items():
        if count != getattr(dataset, what):
            raise DataError(
                f"{folder} is not {dataset.name} as published: it has {count:,} {what} and should have "
                f"{getattr(dataset, what):,}. Replace its files, or read them by read_labels if they are meant so."
            )


def _numbers(path: Path, column: str) -> pl.DataFrame:
    """Read a file whose labels or truths, in `column`, are numbers; rows that repeat exactly are dropped."""
    try:
        return pl.read_csv(path, schema_overrides={column: pl.Float64}).unique(maintain_order=True)
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise DataError(f"{path} does not read as a table of numbers: {first_line(problem)}.") from problem
