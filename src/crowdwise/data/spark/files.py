"""Files in and out of a Spark cluster, wherever it can reach them: s3a://, hdfs://, a folder they all share."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from ...errors import CallError, DataError
from .. import columns
from ..encoding import INTEGER
from ..formats import split_extension
from ..frames import first_line

# What Spark calls the formats that it reads and writes.
_NAMES: Final = {"Parquet": "parquet", "CSV": "csv", "TSV": "csv", "JSON lines": "json"}


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
    kinds = {_kind(path) for path in files}
    if len(kinds) > 1:
        raise CallError("On Spark, all files must be of one format.")
    kind = kinds.pop()
    options = {"header": True, "sep": "\t" if kind == "TSV" else ","} if kind in ("CSV", "TSV") else {}
    try:
        table = session.read.format(_NAMES[kind]).options(**options).load(list(files))
    except Exception as problem:  # whatever the file system of the cluster says
        raise DataError(f"{', '.join(files)} does not read as {kind}: {first_line(problem)}.") from problem
    found = columns.recognise(table.columns, given, files[0])
    table = table.select(*(f.col(f"`{name}`").alias(role) for role, name in found.items()))
    return (_integers(table) if options else table), found


def write(table: DataFrame, path: str) -> None:
    """Write a table as a folder of files; it has a file _SUCCESS in it once it is whole."""
    kind = _kind(path)
    options = {"header": True, "sep": "\t" if kind == "TSV" else ","} if kind in ("CSV", "TSV") else {}
    table.write.format(_NAMES[kind]).options(**options).mode("overwrite").save(path)


def _kind(path: str) -> str:
    """The format by the extension; a folder without one holds Parquet."""
    kind = split_extension(PurePosixPath(path.rstrip("/")))[0] or "Parquet"
    if kind not in _NAMES:
        raise CallError(f"{path}: Spark reads and writes {', '.join(_NAMES)}.")
    return kind


def _integers(table: DataFrame) -> DataFrame:
    """Columns of text that hold nothing but integers, as integers: as other engines read CSV."""
    there = {field.name: f.col(field.name).isNotNull() & (f.col(field.name) != "") for field in table.schema.fields}
    number = {name: f.col(name).rlike(INTEGER) & f.col(name).try_cast("long").isNotNull() for name in there}
    texts = table.agg(*(f.sum(f.when(there[name] & ~number[name], 1).otherwise(0)).alias(name) for name in there))
    count = texts.collect()[0].asDict()
    whole = [name for name in there if count[name] == 0]
    return table.select(*(f.col(name).try_cast(t.LongType()).alias(name) if name in whole else name for name in there))
