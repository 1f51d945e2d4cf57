"""Rows of a Spark table into parts on the executors."""

import math
import pickle
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from ...errors import DataError
from .. import encoding
from ..cleaning import Cleaning, Rules
from ..labels import NOTHING_LEFT
from ..reading_report import ReadingReport
from .parts import PART, About, sort_part

# Rows of a part, unless told: a second of sorting, and small beside an executor's memory.
_ROWS: Final = 2_000_000


def partition(
    votes: DataFrame, found: dict[str, str], rules: Rules, partitions: int | None
) -> tuple[DataFrame, DataFrame, About, ReadingReport, tuple[int, int, int]]:
    """Encode, sort and check on the cluster; only names of workers and classes come to the driver.

    Returns:
        The columns that were found, the parts, what they need to know of the whole, what was repaired, and how many
        parts with items, items and labels there are.
    """
    encoding.check_policy(rules.duplicates)
    session = votes.sparkSession
    picked = votes.select(*(f.col(f"`{name}`").alias(role) for role, name in found.items()))
    rows = picked.withColumn("row", f.monotonically_increasing_id()).persist(StorageLevel.MEMORY_AND_DISK)
    there = _given(picked, "label")
    for value in rules.missing:
        there = there & (f.col("label").cast("string") != str(value))
    cleaning = Cleaning(found, rules.missing)
    _count(cleaning, picked, rows, there)
    cleaning.check(rules.strict)
    given = rows.filter(there)
    workers, classes = (_distinct(given, role) for role in ("worker", "label"))
    ordered = classes.sort()
    ranks = encoding.rank(ordered)  # the codes are in order already
    coded = (
        rows.withColumn("there", there)
        .join(f.broadcast(_codes(session, workers, picked, "worker")), "worker", "left")
        .join(f.broadcast(_codes(session, ordered, picked, "label")), "label", "left")
        .select(
            "item",
            "row",
            f.coalesce("worker_code", f.lit(-1)).alias("worker"),
            f.when(f.col("there"), f.col("label_code")).otherwise(-1).cast("int").alias("label"),
        )
    )
    count = partitions or max(math.ceil(cleaning.rows / _ROWS), session.sparkContext.defaultParallelism)
    sort = partial(sort_part, n_workers=len(workers), ranks=ranks, duplicates=rules.duplicates)
    parts = coded.repartition(count, "item").mapInArrow(sort, PART).persist(StorageLevel.MEMORY_AND_DISK)
    summary = parts.select("items", "labels", "repeated", "conflicts", "unlabelled", "conflict").collect()
    rows.unpersist()
    total = {name: sum(one[name] for one in summary) for name in ("items", "labels", "repeated", "conflicts")}
    if total["conflicts"] and rules.duplicates == "error":
        firsts = [pickle.loads(one["conflict"]) for one in summary if one["conflict"] is not None]
        _, item, worker, said = min(firsts, key=lambda first: int(first[0]))
        encoding.refuse_conflicts(total["conflicts"], item, workers[worker], ordered.gather(list(said)))
    if rules.strict:
        encoding.refuse_repeats(total["repeated"])
    if not total["items"]:
        raise DataError(NOTHING_LEFT)
    set_valued = rules.duplicates == "set" and total["conflicts"] > 0
    about = About(workers.alias("worker"), ordered.alias("label"), ranks.dtype, set_valued)
    unlabelled = sum(one["unlabelled"] for one in summary)
    counted = (cleaning.rows, cleaning.unlabelled, total["repeated"], total["conflicts"], rules.duplicates, unlabelled)
    sizes = sum(one["items"] > 0 for one in summary), total["items"], total["labels"]
    return picked, parts, about, ReadingReport(*counted, found), sizes


def _given(table: DataFrame, role: str) -> Column:
    """Where a value is there: not null, NaN or empty text."""
    kind = table.schema[role].dataType
    there = f.col(role).isNotNull()
    if isinstance(kind, t.FloatType | t.DoubleType):
        there = there & ~f.isnan(role)
    if isinstance(kind, t.StringType):
        there = there & (f.col(role) != "")
    return there


def _count(cleaning: Cleaning, table: DataFrame, rows: DataFrame, there: Column) -> None:
    """Count rows that cannot be used, and find the first without an item or a worker."""
    conditions = {"silent": _given(table, "label"), "unlabelled": there}
    conditions |= {role: _given(table, role) for role in ("item", "worker")}
    sums = [f.sum(f.when(condition, 0).otherwise(1)).alias(name) for name, condition in conditions.items()]
    counts = rows.agg(f.count("*").alias("rows"), *sums).collect()[0].asDict()
    absent = {}
    for role in ("item", "worker"):
        if counts[role]:
            first = rows.filter(~conditions[role]).orderBy("row").first()
            number = rows.filter(f.col("row") < first["row"]).count() + 1 if first is not None else 0
            rest = [f"{name} {first[name]!r}" for name in ("item", "worker", "label") if first and name != role]
            absent[role] = counts[role], f"row {number} ({', '.join(rest)})"
    cleaning.take(counts["rows"], counts["silent"] or 0, counts["unlabelled"] or 0, absent)


def _distinct(given: DataFrame, role: str) -> pl.Series:
    """The values of a column in the order of their first appearance, on the driver."""
    firsts = given.groupBy(role).agg(f.min("row").alias("first")).orderBy("first").select(role)
    names = pl.from_arrow(firsts.toArrow())
    assert isinstance(names, pl.DataFrame)
    return names.to_series()


def _codes(session: SparkSession, names: pl.Series, table: DataFrame, role: str) -> DataFrame:
    """A table from names to their codes."""
    schema = t.StructType(
        [t.StructField(role, table.schema[role].dataType), t.StructField(f"{role}_code", t.IntegerType())]
    )
    codes = pl.DataFrame({role: names, f"{role}_code": np.arange(len(names), dtype=np.int32)})
    return session.createDataFrame(codes.to_arrow().cast(to_arrow_schema(schema)), schema)
