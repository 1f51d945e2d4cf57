"""A Spark session, and label files that it reads from any place that the cluster can reach."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from ..crowd.encoding import INTEGER
from ..crowd.read_options import ReadOptions
from ..crowd.soft_votes import SOFT_ROLES
from ..errors import CallError, DataError
from ..sources.formats import spark_format_of
from ..sources.paths import inputs_of
from ..sources.rows import open_rows
from ..system import first_line

# So many rows are looked at to find out what a table holds.
_FEW_ROWS: Final = 1_000


def reason(problem: BaseException) -> str:
    """Return the first line of an error of Spark; of an error in Java, that of Java, because Python's says nothing."""
    in_java = getattr(problem, "java_exception", None)
    return first_line(problem if in_java is None else RuntimeError(in_java.toString()))


def to_polars(table: DataFrame) -> pl.DataFrame:
    """Copy a Spark table into the memory of this process."""
    frame = pl.from_arrow(table.toArrow())
    assert isinstance(frame, pl.DataFrame)
    return frame


def first_rows_of(table: DataFrame, names: list[str]) -> pl.DataFrame:
    """Return some columns of a few rows."""
    return to_polars(table.select(*(f.col(f"`{name}`") for name in names)).limit(_FEW_ROWS))


def connect(master: str | None) -> SparkSession:
    """Start a Spark session.

    Args:
        master: The master of the cluster; None for this machine.

    Raises:
        CallError: Spark does not start.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("crowdwise").config("spark.ui.showConsoleProgress", "false")
    try:
        session = (builder if master is None else builder.master(master)).getOrCreate()
    except Exception as problem:  # Java may report anything
        raise CallError(f"Spark does not start ({reason(problem)}): it needs Java 17 and its master.") from problem
    session.sparkContext.setLogLevel("ERROR")
    return session


def open_files(session: SparkSession, paths: Sequence[str], options: ReadOptions) -> tuple[DataFrame, bool]:
    """Return files of one format as one table, and whether this format stores everything as text, as CSV does.

    Raises:
        CallError: The files have different formats or delimiters.
        DataError: The files cannot be read.
    """
    formats = {spark_format_of(path) for path in paths}
    if len(formats) > 1:
        raise CallError("On Spark, all files must be of one format.")
    file_format, spark = formats.pop()
    found = _look_at(session, paths, options.roles) if file_format.compressible else {}
    try:
        table = session.read.format(spark.name).options(**{**spark.options, **found}).load(list(paths))
    except Exception as problem:  # the file system of the cluster may report anything
        raise DataError(f"{', '.join(paths)} does not read as {file_format.name}: {reason(problem)}.") from problem
    return table, file_format.is_text


def _look_at(session: SparkSession, paths: Sequence[str], given: Mapping[str, str | None]) -> Mapping[str, Any]:
    """Look at text files on this machine, as the other engines do, and return the options to read them with.

    Spark itself takes a row with too few fields, or a key with values of several types, without a word. Files elsewhere
    are taken as they are.

    Raises:
        CallError: The files have different delimiters.
        DataError: A file is not sound.
    """
    if not session.sparkContext.master.startswith("local"):
        return {}
    files = [file for path in paths if "://" not in path for file in inputs_of(path, ReadOptions())]
    options = [open_rows(file, given, ReadOptions()).table.spark_options for file in files]
    if len({one.get("sep") for one in options}) > 1:
        raise CallError("On Spark, all files must have one delimiter.")
    # A file with a row over several lines is read whole by one executor; so this is asked for only where it must be.
    return max(options, key=lambda one: bool(one.get("multiLine")), default={})


def parse_integers(table: DataFrame) -> DataFrame:
    """Turn columns of text that hold only integers into integers, as the other engines do for CSV files."""
    names = [name for name in table.columns if name not in SOFT_ROLES]
    present = {name: f.col(name).isNotNull() & (f.col(name) != "") for name in names}
    is_integer = {name: f.col(name).rlike(INTEGER) & f.col(name).try_cast("long").isNotNull() for name in present}
    others = table.agg(
        *(f.sum(f.when(present[name] & ~is_integer[name], 1).otherwise(0)).alias(name) for name in present)
    )
    count = others.collect()[0].asDict()
    integer_columns = [name for name in present if count[name] == 0]
    return table.select(
        *(f.col(name).try_cast(t.LongType()).alias(name) if name in integer_columns else name for name in table.columns)
    )
