"""`StoredParts`: the parts of a crowd as Spark stores them on its executors."""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from . import kept
from .parts import SMALL_COLUMNS


class StoredParts:
    """The parts of a crowd, one row for each part, stored by Spark.

    Spark stores all columns on the disks of the executors, where they are needed again only if an executor has lost its
    files of a part; see `kept`. A table of the small columns alone is stored in memory: jobs run over its rows, so that
    Spark runs them on the executors that have the files. If an executor ends, Spark makes its rows again, and the files
    with them.

    Args:
        parts: The table of the parts, which Spark has not made yet.
        folder: The name of the folder in which executors keep the parts; see `About.folder`.

    Attributes:
        whole: The table with all columns.
        small: The table with the small columns.
    """

    def __init__(self, parts: DataFrame, folder: str) -> None:
        self._folder = folder
        self.whole = parts.persist(StorageLevel.DISK_ONLY)
        self.small = self.whole.select(*SMALL_COLUMNS).persist(StorageLevel.MEMORY_AND_DISK)

    def remove(self) -> None:
        """Remove the parts from the executors, and their files."""
        self.small.select("part").mapInArrow(partial(_forget, folder=self._folder), "part long").collect()
        self.small.unpersist()
        self.whole.unpersist()


def _forget(batches: Iterator[pa.RecordBatch], folder: str) -> Iterator[pa.RecordBatch]:
    """Remove the files of a crowd from the executor that this runs on."""
    for batch in batches:
        kept.forget(folder)
        yield batch
