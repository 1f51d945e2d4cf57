"""Tables out of a Spark cluster: folders of files, all of them whole or none.

A table is written to a folder beside its target first, whose name starts with a dot so that nothing reads it, and
renamed when all tables are whole. So an interrupted write leaves the target as it was.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ...errors import CallError, DataError
from ..formats import spark_format_of
from ..frames import first_line

# Spark puts this file into a folder once it is whole.
_WHOLE = "_SUCCESS"


def check_folder(session: SparkSession, path: str) -> None:
    """Refuse a target that cannot be written, and one that is there already but was not written by Spark."""
    spark_format_of(path)
    files, target = _located(session, path)
    if files.exists(target) and not files.exists(_located(session, f"{path.rstrip('/')}/{_WHOLE}")[1]):
        raise CallError(f"{path} is there already and is no whole folder of Spark's; name another, or remove it first.")


def write_folders(tables: Mapping[str, DataFrame]) -> None:
    """Write every table as a folder in the format that its path's extension says: all of them, or none."""
    parts = {path: _beside(path) for path in tables}
    try:
        for path, table in tables.items():
            _write(table, path, parts[path])
        for path, table in tables.items():
            files, target = _located(table.sparkSession, path)
            files.delete(target, True)
            files.rename(_located(table.sparkSession, parts[path])[1], target)
    finally:
        for path, table in tables.items():
            files, part = _located(table.sparkSession, parts[path])
            files.delete(part, True)  # only if something failed is it still there


def _write(table: DataFrame, path: str, part: str) -> None:
    spark = spark_format_of(path)[1]
    try:
        table.write.format(spark.name).options(**spark.options).save(part)
    except Exception as problem:  # whatever the file system of the cluster says
        raise DataError(f"{path} could not be written: {first_line(problem)}.") from problem


def _beside(path: str) -> str:
    """A name beside the target that nobody else has."""
    folder, slash, name = path.rstrip("/").rpartition("/")
    return f"{folder}{slash}.{name}.{uuid.uuid4().hex}.part"


def _located(session: SparkSession, path: str) -> tuple[Any, Any]:
    """Hadoop's file system of a path, and the path as it wants it."""
    java: Any = session.sparkContext._jvm
    where = java.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(session.sparkContext._jsc.hadoopConfiguration()), where
