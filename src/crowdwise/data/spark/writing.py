"""Write Spark tables as folders of files, so that no failure leaves an incomplete folder behind.

A table is written first to a folder beside its target, with a name that starts with a dot so that no program reads it.
When all tables are complete, these folders are renamed. So an error while writing leaves the targets unchanged.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ...errors import CallError, DataError
from ..formats import spark_format_of
from ..frames import first_line

# Spark writes this file into a folder when all other files of the folder are complete.
_SUCCESS_FILE = "_SUCCESS"


def check_folder(session: SparkSession, path: str) -> None:
    """Raise `CallError` if Spark cannot write to a path.

    This is so if Spark does not know the format, or if something exists there that is not a complete folder by Spark.
    """
    spark_format_of(path)
    files, target = _hadoop_path(session, path)
    if files.exists(target) and not files.exists(_hadoop_path(session, f"{path.rstrip('/')}/{_SUCCESS_FILE}")[1]):
        raise CallError(f"{path} is there already and is no whole folder of Spark's; name another, or remove it first.")


def write_folders(tables: Mapping[str, DataFrame]) -> None:
    """Write every table as a folder, in the format that the extension of its path says.

    No target is replaced before all tables are complete. Raises `DataError` if a table cannot be written.
    """
    temporaries = {path: _temporary_name(path) for path in tables}
    try:
        for path, table in tables.items():
            _write(table, path, temporaries[path])
        for path, table in tables.items():
            files, target = _hadoop_path(table.sparkSession, path)
            files.delete(target, True)
            files.rename(_hadoop_path(table.sparkSession, temporaries[path])[1], target)
    finally:
        for path, table in tables.items():
            files, temporary = _hadoop_path(table.sparkSession, temporaries[path])
            files.delete(temporary, True)  # it still exists only if something failed


def _write(table: DataFrame, path: str, temporary: str) -> None:
    """Write one table to its temporary folder; errors name the target instead."""
    spark = spark_format_of(path)[1]
    try:
        table.write.format(spark.name).options(**spark.options).save(temporary)
    except Exception as problem:  # the file system of the cluster may report anything
        raise DataError(f"{path} could not be written: {first_line(problem)}.") from problem


def _temporary_name(path: str) -> str:
    """Return a name beside the target that nothing else has."""
    folder, slash, name = path.rstrip("/").rpartition("/")
    return f"{folder}{slash}.{name}.{uuid.uuid4().hex}.part"


def _hadoop_path(session: SparkSession, path: str) -> tuple[Any, Any]:
    """Return the Hadoop file system of a path, and the path as a Hadoop object."""
    java: Any = session.sparkContext._jvm
    where = java.org.apache.hadoop.fs.Path(path)
    return where.getFileSystem(session.sparkContext._jsc.hadoopConfiguration()), where
