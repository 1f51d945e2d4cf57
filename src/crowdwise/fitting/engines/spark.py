"""The Spark engine: runs a method on labels in a Spark cluster; `fit` takes and gives Spark DataFrames.

    truth, workers = spark.fit(cw.BWA(), votes)

The labels stay on the executors. In every iteration the workers' parameters are sent to the executors, and the counts
come back. Needs the extra `spark` on the driver, crowdwise on every executor, and Java 17.
"""

import math
import pickle
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, Final, Unpack

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from ...crowd.labels import Labels
from ...crowd.read_options import ReadKeywords, ReadOptions
from ...errors import CallError, DataError
from ...numerics import Array
from ...partitions.on_spark import LabelsOnSpark, send
from ...partitions.spark_reading import to_polars
from ...results.ending import Ending
from ...results.in_parts import ResultInParts
from ..sweeping import AnySweeping
from . import spark_tasks as tasks
from .base import Engine, counted_by

# The driver adds up the outcomes of at most this many parts. The outcomes of more parts are first added up in groups on
# the executors.
_MAX_OUTCOMES_ON_DRIVER: Final = 16
# The options of reading that a Spark table has a use for.
_OPTIONS: Final = {
    *("item", "worker", "label", "time", "duplicates", "missing", "strict", "strip", "fold_case", "classes", "numeric"),
    *("probability", "weight", "log", "votes"),
}


def fit(
    method: Any,
    votes: DataFrame,
    /,
    *,
    partitions: int | None = None,
    scores: bool = False,
    probabilities: bool = False,
    gold: Any = None,
    history: Any = None,
    progress: Callable[[int, float], None] | None = None,
    **options: Unpack[ReadKeywords],
) -> tuple[DataFrame, DataFrame]:
    """Infer the truth from a Spark DataFrame of labels.

    Args:
        method: The method, for example `cw.BWA()`.
        votes: A table with one label in each row.
        partitions: The number of parts to cut the items into; None to choose it by the size of the data.
        scores: Whether to add a column `score_<class>` for every class.
        probabilities: Whether to add a column `probability_<class>` for every class.
        gold: The true classes of some items: a path, a table, or a mapping from item to class; see `Method.fit`.
        history: What the method counted in earlier labels: a `History`, or the path of its file; see `Method.fit`.
        progress: A function that is called after each iteration with its number and the change of the scores.
        options: How labels are read, as in `read_labels`: item, worker, label, time, duplicates, missing, strict,
            strip, fold_case, classes. "first" and "last" mean the order of the rows within the partitions of `votes`.

    Returns:
        Two Spark DataFrames: one row per item with the columns of `Result.to_frame`, and one row per worker with the
        columns of `Result.workers_frame`.

    Raises:
        CallError: The method cannot run in a cluster.
    """
    method.require(place="spark")
    asked = ReadOptions.of(**{**options, "numeric": method.numeric})
    for name in asked.given(set(options) - _OPTIONS):
        raise CallError(f"{name}= does nothing for a table of Spark.")
    labels = LabelsOnSpark(votes, asked, partitions)
    result = method.fit(labels, gold=gold, history=history, progress=progress)
    return result.truth(scores, probabilities), result.workers_table()


class SparkEngine(Engine):
    """Runs one method on labels in a cluster; every sweep is one Spark job."""

    def __init__(self, method: AnySweeping, labels: LabelsOnSpark) -> None:
        super().__init__(method, labels, labels.known, labels.meta.numbered_names)
        self._labels = labels
        self._last_workers: Any = None  # the workers' parameters in the last sweep
        self.no_labels = labels.meta.empty_part()
        self.initial_workers = method.start(self.no_labels)[1]

    def sweep_parts(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all parts."""
        step = partial(tasks.sweep_part, method=self.method, previous_workers=self._last_workers, workers=workers)
        self._last_workers = workers
        return _job(self._labels, step)

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], _phase: str) -> Any:
        """Call `count` with the labels and the final scores of every part and return the sum of what it returns."""
        step = partial(tasks.count_scores, method=self.method, workers=self._last_workers, count=count)
        return _job(self._labels, step)[0]

    @staticmethod
    def count_labels(crowd: LabelsOnSpark, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Call `count` with the labels of every part and return the sum of what it returns."""
        return _job(crowd, partial(tasks.count_labels, count=count))[0]

    def result(self, ending: Ending) -> "ResultOnSpark":
        """Return the result; its tables are made only when they are asked for."""
        return ResultOnSpark(self, self._labels, ending)


def _job(labels: LabelsOnSpark, step: Callable[[Labels], tuple[Any, Array]]) -> tuple[Any, Array]:
    """Run `step` on every part and merge the outcomes.

    They are merged in the order of the parts, so that the rounding does not depend on which executor is first.
    """
    parts, groups = labels.parts, 1
    sent = send(labels.session, step)
    count = {"meta": labels.sent_meta, "folder": parts.folder, "step": sent}
    frame = parts.small.mapInArrow(partial(tasks.count_cached_parts, **count), tasks.OUTCOME)
    if labels.n_parts > _MAX_OUTCOMES_ON_DRIVER:
        groups = math.isqrt(labels.n_parts)
        frame = frame.groupBy(f.col("part") % groups).applyInArrow(tasks.merge_outcomes, tasks.OUTCOME)
    rows = frame.collect()
    lost = [row["part"] for row in rows if row["outcome"] is None]
    if lost:
        found = parts.whole.filter(f.col("part").isin(lost)).mapInArrow(
            partial(tasks.count_stored_parts, **count), tasks.OUTCOME
        )
        rows = [row for row in rows if row["outcome"] is not None] + found.collect()
        if not {row["part"] for row in rows}.issuperset(lost):
            raise DataError("A part that was lost could not be made again: the rows of its table have changed.")
    sent.destroy()
    return tasks.merge([(row["part"], pickle.loads(row["outcome"])) for row in rows], groups)


class ResultOnSpark(ResultInParts):
    """The result of a method on labels in a cluster; it also has its tables as Spark DataFrames."""

    where = "OnSpark"

    def __init__(self, engine: SparkEngine, labels: LabelsOnSpark, ending: Ending) -> None:
        counted = counted_by(engine.method, labels.meta.numbered_names, labels.known, ending)
        super().__init__(engine.method, labels, ending, counted)
        self._labels = labels
        self._engine = engine

    @cached_property
    def _sent_fit(self) -> Any:
        return send(self._labels.session, self.fit)

    def truth(self, scores: bool = False, probabilities: bool = False) -> DataFrame:
        """Return one row per item as a Spark DataFrame; see `Result.to_frame` for the columns."""
        method, labels = self._engine.method, self._engine.no_labels
        difficulty = np.zeros(0) if method.has_difficulties else None
        no_items = self.fit.part(labels, labels.names.items, np.zeros((0, method.width(labels))), difficulty)
        schema = self._schema(no_items.to_frame(scores, probabilities))
        make = partial(
            tasks.item_rows,
            meta=self._labels.sent_meta,
            fit=self._sent_fit,
            scores=scores,
            probabilities=probabilities,
            schema=to_arrow_schema(schema),
        )
        return self._labels.parts.whole.mapInArrow(make, schema)

    def workers_table(self) -> DataFrame:
        """Return one row per worker as a Spark DataFrame; see `Result.workers_frame` for the columns."""
        workers = self.workers_frame()
        schema = self._schema(workers)
        return self._labels.session.createDataFrame(workers.to_arrow().cast(to_arrow_schema(schema)), schema)

    def _schema(self, table: pl.DataFrame) -> t.StructType:
        """Return the columns of a table with the data types that Spark has for them."""
        types = self._labels.types
        of_names = {**types, "runner_up": types["label"], "follows": types["worker"], "labels": t.LongType()}
        of_others = {pl.Float64: t.DoubleType(), pl.Int32: t.IntegerType(), pl.Boolean: t.BooleanType()}
        return t.StructType(
            [
                t.StructField(name, of_names.get(name) or of_others.get(kind.base_type(), t.StringType()))
                for name, kind in table.schema.items()
            ]
        )

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy polars table.

        Only the first rows are copied from the cluster if a query asks for those only, otherwise all rows.
        """
        return lazy_table(self.truth(scores, probabilities))

    def disputed(self, count: int) -> pl.DataFrame:
        """Return the rows of the most disputed items; see `Result.disputed`."""
        above, below = self.disputed_by
        gap = f.col(above) - f.col(below)
        table = self.truth().filter(f.col(below).isNotNull())
        return to_polars(table.orderBy(gap.desc() if self.numeric else gap).limit(count))

    def _items_to_write(self, scores: bool, probabilities: bool) -> DataFrame:
        return self.truth(scores, probabilities)

    def _workers_to_write(self) -> DataFrame:
        return self.workers_table()

    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        wanted = items.cast(pl.String).unique().to_frame("wanted").to_arrow()
        table = self.truth(scores=True)
        wanted_table = f.broadcast(self._labels.session.createDataFrame(wanted))
        return to_polars(table.join(wanted_table, table["item"].cast("string") == f.col("wanted"), "left_semi"))


def lazy_table(table: DataFrame) -> pl.LazyFrame:
    """Return a Spark table as a lazy polars table; only the first rows are copied if a query asks for those only."""

    def frames(columns: list[str] | None, condition: pl.Expr | None, rows: int | None, _: Any) -> Iterator[Any]:
        frame = to_polars(table if rows is None else table.limit(rows))  # before the condition: see `from_batches`
        frame = frame if condition is None else frame.filter(condition)
        yield frame if columns is None else frame.select(columns)

    return register_io_source(frames, schema=to_polars(table.limit(0)).schema)
