"""Files in and out of a Spark cluster, wherever it can reach them: s3a://, hdfs://, a folder they all share."""

import os
import sys
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from ...errors import CallError, DataError
from .. import columns
from ..encoding import INTEGER
from ..formats import spark_format_of
from ..frames import first_line


def connect(master: str | None) -> SparkSession:
    """A session on a cluster, or on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("crowdwise").config("spark.ui.showConsoleProgress", "false")
    try:
        session = (builder if master is None else builder.master(master)).getOrCreate()
    except Exception as problem:  # whatever Java says
        raise CallError(f"Spark does not start ({first_line(problem)}): it needs Java 17 and its master.") from problem
    session.sparkContext.setLogLevel("ERROR")
    return session


def read(
    session: SparkSession, files: Sequence[str], given: Mapping[str, str | None]
) -> tuple[DataFrame, dict[str, str]]:
    """Files of one format as one table of the columns asked for, and what those are called."""
    formats = {spark_format_of(path) for path in files}
    if len(formats) > 1:
        raise CallError("On Spark, all files must be of one format.")
    file_format, spark = formats.pop()
    try:
        table = session.read.format(spark.name).options(**spark.options).load(list(files))
    except Exception as problem:  # whatever the file system of the cluster says
        raise DataError(f"{', '.join(files)} does not read as {file_format.name}: {first_line(problem)}.") from problem
    found = columns.recognise(table.columns, given, files[0])
    table = table.select(*(f.col(f"`{name}`").alias(role) for role, name in found.items()))
    return (_integers(table) if file_format.is_text else table), found


def write(table: DataFrame, path: str) -> None:
    """Write a table as a folder of files; it has a file _SUCCESS in it once it is whole."""
    spark = spark_format_of(path)[1]
    table.write.format(spark.name).options(**spark.options).mode("overwrite").save(path)


def _integers(table: DataFrame) -> DataFrame:
    """Columns of text that hold nothing but integers, as integers: as other engines read CSV."""
    there = {field.name: f.col(field.name).isNotNull() & (f.col(field.name) != "") for field in table.schema.fields}
    number = {name: f.col(name).rlike(INTEGER) & f.col(name).try_cast("long").isNotNull() for name in there}
    texts = table.agg(*(f.sum(f.when(there[name] & ~number[name], 1).otherwise(0)).alias(name) for name in there))
    count = texts.collect()[0].asDict()
    whole = [name for name in there if count[name] == 0]
    return table.select(*(f.col(name).try_cast(t.LongType()).alias(name) if name in whole else name for name in there))
