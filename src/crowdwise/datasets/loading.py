"""`load`: read a dataset by its name, and download it first if necessary."""

import os
from typing import Any

import polars as pl

from ..crowd.encoding import Duplicates
from .catalog import find
from .downloading import DownloadProgress, fetch
from .files import read


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
    return read(find(name), fetch(name, folder=folder, progress=progress), duplicates)
