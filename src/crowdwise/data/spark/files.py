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


def read(session: SparkSession, paths: Sequence[str], given: Mapping[str, str | None]) -> DataFrame:
    """Files of one format as one table; where the format has only text, whole numbers become numbers.

    Args:
        session: Where to read them.
        paths: What the cluster can reach: files, folders, patterns or addresses.
        given: The columns that are named, to be looked at for numbers; those that are recognised are, too.
    """
    formats = {spark_format_of(path) for path in paths}
    if len(formats) > 1:
        raise CallError("On Spark, all files must be of one format.")
    file_format, spark = formats.pop()
    try:
        table = session.read.format(spark.name).options(**spark.options).load(list(paths))
    except Exception as problem:  # whatever the file system of the cluster says
        raise DataError(f"{', '.join(paths)} does not read as {file_format.name}: {first_line(problem)}.") from problem
    found = columns.recognise(table.columns, given, paths[0])
    picked = table.select(*(f.col(f"`{name}`") for name in found.values()))
    return _integers(picked) if file_format.is_text else picked


def _integers(table: DataFrame) -> DataFrame:
    """Columns of text that hold nothing but integers, as integers: as other engines read CSV."""
    there = {field.name: f.col(field.name).isNotNull() & (f.col(field.name) != "") for field in table.schema.fields}
    number = {name: f.col(name).rlike(INTEGER) & f.col(name).try_cast("long").isNotNull() for name in there}
    texts = table.agg(*(f.sum(f.when(there[name] & ~number[name], 1).otherwise(0)).alias(name) for name in there))
    count = texts.collect()[0].asDict()
    whole = [name for name in there if count[name] == 0]
    return table.select(*(f.col(name).try_cast(t.LongType()).alias(name) if name in whole else name for name in there))
