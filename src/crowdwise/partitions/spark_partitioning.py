"""Rows of a Spark table, encoded and split into sorted parts on the executors."""

import math
import pickle
import uuid
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from ..crowd import encoding
from ..crowd.classes import classes_of
from ..crowd.cleaning import Cleaning, finish
from ..crowd.ids import ZEROS, as_number, codes_of, in_text, require_ids
from ..crowd.names import Names
from ..crowd.number_reader import LARGEST, NO_CLASSES, NUMBER, first_case, refuse_unusable
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import ReadingReport
from ..crowd.samples import Samples
from ..crowd.soft_votes import SOFT_ROLES, first_row
from ..crowd.sorting import Conflict, SortCounts
from ..errors import CallError, DataError, quoted
from ..numerics import Array
from ..system import first_line
from .crowd_meta import CrowdMeta, numbering_and_sorting
from .spark_parts import StoredParts
from .spark_reading import to_polars

# Rows per part if the caller does not say how many parts to make. Sorting this many takes about a second, and they
# take little of an executor's memory.
_ROWS_PER_PART: Final = 2_000_000
# The most rows per part: Arrow keeps at most 2 GB in a value, and a part has a value with 8 bytes for each item.
_MOST_ROWS_PER_PART: Final = 2**28 - 1


class Partitioned(NamedTuple):
    """What `partition` returns.

    Attributes:
        meta: What all parts know of the crowd.
        report: What was read and repaired.
        parts: The parts.
        n_parts: The number of parts that have items.
        types: The Spark data type of each column.
    """

    meta: CrowdMeta
    report: ReadingReport
    parts: StoredParts
    n_parts: int
    types: dict[str, t.DataType]


def partition(votes: DataFrame, found: dict[str, str], options: ReadOptions, partitions: int | None) -> Partitioned:
    """Encode, check, split and sort the rows of a table in the cluster.

    Only the names of workers and classes come to the driver, never the labels.

    Args:
        votes: The columns item, worker and label, and time for "latest".
        found: The name of the column for each role, for messages.
        options: How labels are read.
        partitions: The number of parts; None to choose it by the number of rows.

    Raises:
        DataError: The rows cannot be used.
        CallError: `options.policy` is not a known policy.
    """
    session = votes.sparkSession
    require_ids(_schema(votes), found, "The table")
    picked = _tidied(votes, options)
    rows = picked.withColumn("row", f.monotonically_increasing_id()).persist(StorageLevel.MEMORY_AND_DISK)
    has_label = _has_value(picked, "label")
    for value in options.missing:
        has_label = has_label & ~_equals(picked, value)
    cleaning = Cleaning(found, options)
    _count_rows(cleaning, picked, rows, has_label)
    cleaning.check()
    labelled = rows.filter(has_label)
    workers, _ = _distinct(labelled, "worker")
    coded = rows.withColumn("has_label", has_label).join(_codes(session, workers, picked, "worker"), "worker", "left")
    classes, ranks = NO_CLASSES, None
    if options.numeric:
        label = _as_numbers(labelled)
    else:
        values, counts = _distinct(labelled, "label")
        integers = values.dtype == pl.Int64
        classes, ranks = classes_of(values, options, found["label"], int(counts.sum()), counts, integers)
        coded, label = coded.join(_codes(session, values, picked, "label"), "label", "left"), f.col("label_code")
    coded = coded.select(
        "item",
        "row",
        f.when(f.col("has_label"), f.col("worker_code")).otherwise(-1).cast("int").alias("worker"),
        f.when(f.col("has_label"), label).otherwise(-1).cast("double" if options.numeric else "int").alias("label"),
        *(role for role in ("time", *SOFT_ROLES) if role in found),
    )
    count = partitions or max(math.ceil(cleaning.rows / _ROWS_PER_PART), session.sparkContext.defaultParallelism)
    if cleaning.rows > count * _MOST_ROWS_PER_PART:
        raise CallError(f"{count:,} partitions are too few for {cleaning.rows:,} rows: leave partitions out.")
    samples = Samples.of(workers, _most_answers(labelled, workers)) if options.policy == "samples" else None
    names = Names.read(workers, classes, samples, options.fold_case)
    numbering, sort = numbering_and_sorting(names, ranks, samples, options)
    parts = StoredParts(coded.repartition(count, "item"), sort, f"crowdwise-{uuid.uuid4().hex}")
    summary = [row.asDict() for row in parts.small.collect()]
    rows.unpersist()
    problems = sorted(part["problem"] for part in summary if part["problem"] is not None)
    if problems:
        raise DataError(problems[0])
    total = sum((SortCounts(*(part[name] for name in SortCounts.names())) for part in summary), SortCounts())
    report = finish(cleaning, total, _first_conflict(summary), names)
    meta = CrowdMeta.of(names, numbering, ranks, total, options)
    types = {field.name: field.dataType for field in picked.schema.fields}
    return Partitioned(meta, report, parts, sum(part["items"] > 0 for part in summary), types)


def _first_conflict(parts: list[dict[str, Any]]) -> Conflict | None:
    """Return the conflict whose item comes first in the rows; None if there is none."""
    conflicts = [pickle.loads(part["conflict"]) for part in parts if part["conflict"] is not None]
    return min(conflicts, key=lambda found: int(found[0]))[1] if conflicts else None


def _schema(table: DataFrame) -> pl.Schema:
    """Return the data types of a table as polars has them; a type that Arrow does not know is refused as any other."""
    try:
        empty = pl.from_arrow(to_arrow_schema(table.schema).empty_table())
    except Exception as problem:  # pyspark raises several kinds of errors
        raise DataError(f"The table has a column whose type cannot be used: {first_line(problem)}.") from problem
    assert isinstance(empty, pl.DataFrame)
    return empty.schema


def _equals(table: DataFrame, value: Any) -> Column:
    """Return where the label is this value: numbers as numbers, so that -1 is also -1.0, all else as `text`."""
    kind, number = table.schema["label"].dataType, as_number(value)
    if isinstance(kind, t.NumericType) and number is not None:
        return f.col("label") == f.lit(number)
    written = f.col("label").cast("string")
    if isinstance(kind, t.BooleanType):
        return written == str(value).lower()
    for zeros in ZEROS:
        written = f.regexp_replace(written, zeros, "$1")
    return written == in_text(value, pl.String())


def _has_value(table: DataFrame, role: str) -> Column:
    """Return the condition that a value is present: not null, not NaN and not empty text."""
    kind = table.schema[role].dataType
    present = f.col(role).isNotNull()
    if isinstance(kind, t.FloatType | t.DoubleType):
        present = present & ~f.isnan(role)
    if isinstance(kind, t.StringType):
        present = present & (f.col(role) != "")
    return present


def _count_rows(cleaning: Cleaning, table: DataFrame, rows: DataFrame, has_label: Column) -> None:
    """Count the rows that cannot be used, and find the first one without an item or a worker.

    Args:
        cleaning: Gets the counts.
        table: The columns item, worker and label.
        rows: The same columns, and the number of each row.
        has_label: The condition that a row has a label.
    """
    conditions = {"blank": _has_value(table, "label"), "missing": has_label}
    conditions |= {role: _has_value(table, role) for role in ("item", "worker")}
    sums = [f.sum(f.when(condition, 0).otherwise(1)).alias(name) for name, condition in conditions.items()]
    counts = rows.agg(f.count("*").alias("rows"), *sums).collect()[0].asDict()
    absent = {}
    for role in ("item", "worker"):
        if counts[role]:
            first = rows.filter(~conditions[role]).orderBy("row").first()
            number = rows.filter(f.col("row") < first["row"]).count() + 1 if first is not None else 0
            others = [f"{name} {quoted(first[name])}" for name in ("item", "worker", "label") if first and name != role]
            absent[role] = counts[role], f"row {number} ({', '.join(others)})"
    cleaning.set_counts(counts["rows"], counts["blank"] or 0, counts["missing"] or 0, absent)
    for role in SOFT_ROLES:
        if role in table.columns:
            most = 1.0 if role == "probability" else LARGEST
            wrong = rows.filter(f.isnan(role) | (f.col(role) < 0) | (f.col(role) > most))
            first = wrong.orderBy("row").first()
            if first is not None:
                number = rows.filter(f.col("row") < first["row"]).count()
                case = first_row(first.asDict(), number, role)
                cleaning.set_unusable(role, wrong.count(), case)


def _tidied(table: DataFrame, options: ReadOptions) -> DataFrame:
    """Return a table whose labels are stripped, and written as in `missing` where they mean "no label"."""
    for role in SOFT_ROLES:
        if role in table.columns:
            number = f.expr(f"try_cast(trim(cast({role} as string)) as double)")
            number = f.exp(number) if options.log and role == "probability" else number
            given = f.trim(f.col(role).cast("string"))
            number = f.when(given != "", f.coalesce(number, f.lit(float("nan"))))
            table = table.withColumn(role, number)
    if not (options.strip or options.fold_case) or not isinstance(table.schema["label"].dataType, t.StringType):
        return table
    label = f.regexp_replace("label", r"(?U)^\s+|\s+$", "") if options.strip else f.col("label")
    if options.fold_case and options.missing:
        is_missing = f.lower(label).isin([str(value) for value in options.missing])
        label = f.when(is_missing, f.lower(label)).otherwise(label)
    return table.withColumn("label", label)


def _most_answers(labelled: DataFrame, workers: pl.Series) -> Array:
    """Return (workers), the largest number of answers of each worker to one item."""
    answers = labelled.groupBy("item", "worker").count().groupBy("worker").agg(f.max("count").alias("most"))
    found = to_polars(answers)
    most = np.zeros(len(workers), np.int64)
    most[codes_of(found["worker"], workers)] = found["most"].to_numpy()
    return most


def _distinct(labelled: DataFrame, role: str) -> tuple[pl.Series, Array]:
    """Return the distinct values of a column in the order of their first appearance, and how many rows have each."""
    numbered = labelled.groupBy(role).agg(f.min("row").alias("first"), f.count("*").alias("rows")).orderBy("first")
    names = to_polars(numbered.select(role, "rows"))
    encoding.require_codes(names.height, f"different values of the {role}")
    return names[role], names["rows"].to_numpy()


def _codes(session: SparkSession, names: pl.Series, table: DataFrame, role: str) -> DataFrame:
    """Return a table of names and their codes, which Spark sends to all executors, to join with the rows of `table`."""
    schema = t.StructType(
        [t.StructField(role, table.schema[role].dataType), t.StructField(f"{role}_code", t.IntegerType())]
    )
    codes = pl.DataFrame({role: names, f"{role}_code": np.arange(len(names), dtype=np.int32)})
    return f.broadcast(session.createDataFrame(codes.to_arrow().cast(to_arrow_schema(schema)), schema))


def _as_numbers(labelled: DataFrame) -> Column:
    """Return the labels as numbers; every row has a label.

    Raises:
        DataError: The data type is neither of numbers nor of text, or some label is no usable number.
    """
    kind = labelled.schema["label"].dataType
    if isinstance(kind, t.NumericType):
        number = f.col("label").cast("double")
    elif isinstance(kind, t.StringType):
        number = f.when(f.col("label").rlike(NUMBER), f.trim("label").cast("double"))
    else:
        raise DataError(
            f"The labels are {kind.simpleString()}, and numeric labels are numbers, or text that says numbers: turn "
            "each value into a number first."
        )
    unusable = labelled.filter(~f.coalesce(f.abs(number) <= LARGEST, f.lit(False)))
    first = unusable.orderBy("row").first()
    if first is not None:
        case = first_case(first["label"], first["item"], first["worker"])
        refuse_unusable(unusable.count(), labelled.count(), case)
    return number
