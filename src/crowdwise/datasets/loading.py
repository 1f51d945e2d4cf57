"""A dataset by its name."""

import os
from typing import Any

import polars as pl

from ..data.encoding import Duplicates
from .catalog import find
from .downloading import Progress, fetch
from .files import read


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    duplicates: Duplicates | None = None,
    progress: Progress | None = None,
) -> tuple[Any, pl.DataFrame]:
    """A dataset by its name: its labels and its truth.

    It is looked for in the folder given, or else the one that CROWDWISE_DATA names, then in the cache, then at the
    public address, from which it goes to the cache.

    Args:
        name: One of `CATALOG`.
        folder: A folder with paper/, extra/ and numeric/, in each a folder a dataset.
        duplicates: What to do where one worker gave one item several labels; None for what the catalog says.
        progress: Called with the file, the bytes that came and the bytes there are, during a download.

    Returns:
        `Labels` (for a numeric dataset, for which there is no method yet: a polars table of item, worker and label),
        and a table of item and truth.
    """
    return read(find(name), fetch(name, folder=folder, progress=progress), duplicates)
