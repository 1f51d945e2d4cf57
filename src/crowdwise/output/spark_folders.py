"""Spark tables as folders of files; no failure leaves an incomplete folder behind.

A table is written first to a folder beside its target, with a name that starts with a dot so that no program reads it.
When all tables are complete, these folders are renamed. So an error while writing leaves the targets unchanged.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ..errors import DataError
from ..partitions.spark_reading import reason
from ..sources.formats import spark_format_of
from .targets import SUCCESS_FILE, refuse_to_replace


def write_folders(tables: Mapping[str, DataFrame]) -> None:
    """Write every table as a folder, in the format that the extension of its path says; see `writing.write`.

    No folder is replaced before all are complete.

    Raises:
        CallError: Something is there already that is not a complete folder written by Spark.
        DataError: A table cannot be written.
    """
    folders = [_Folder(table.sparkSession, path) for path, table in tables.items()]
    try:
        for folder, table in zip(folders, tables.values(), strict=True):
            folder.check()
            _write(table, folder.path, folder.temporary)
        for folder in folders:
            folder.replace()
    finally:
        for folder in folders:
            folder.remove_temporary()


class _Folder:
    """A target, and the temporary folder beside it. Both are on any file system that Hadoop knows."""

    def __init__(self, session: SparkSession, path: str) -> None:
        parent, slash, name = path.rstrip("/").rpartition("/")
        unique = f"{parent}{slash}.{name}.{uuid.uuid4().hex}"
        self.path, self.temporary = path, f"{unique}.part"
        self._java: Any = session.sparkContext._jvm
        self._target, self._new, self._old = (self._hadoop(name) for name in (path, self.temporary, f"{unique}.old"))
        self._files = self._target.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())

    def check(self) -> None:
        """Raise `CallError` if something exists at the target that Spark did not write."""
        if self._files.exists(self._target) and not self._files.exists(self._hadoop(f"{self.path}/{SUCCESS_FILE}")):
            refuse_to_replace(self.path)

    def replace(self) -> None:
        """Put the new folder in the place of the old one; if that fails, the old one is put back."""
        had_one = self._files.exists(self._target)
        if had_one:
            self._rename(self._target, self._old)
        try:
            self._rename(self._new, self._target)
        except BaseException:
            if had_one:
                self._rename(self._old, self._target)
            raise
        self._files.delete(self._old, True)

    def remove_temporary(self) -> None:
        """Remove the temporary folder; it still exists only if something failed."""
        self._files.delete(self._new, True)

    def _rename(self, before: Any, after: Any) -> None:
        # Hadoop says by False, not by an error, that it did not rename.
        if not self._files.rename(before, after):
            raise DataError(f"{self.path} could not be written: {before} could not be renamed to {after}.")

    def _hadoop(self, path: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(path)


def _write(table: DataFrame, path: str, temporary: str) -> None:
    """Write one table to its temporary folder; errors name the target instead."""
    spark = spark_format_of(path)[1]
    try:
        table.write.format(spark.name).options(**spark.options).save(temporary)
    except Exception as problem:  # the file system of the cluster may report anything
        raise DataError(f"{path} could not be written: {reason(problem)}.") from problem
