"""Labels in a Spark cluster: parts stay on the executors, workers' parameters go out, counts come back.

    truth, workers = spark.fit(cw.BWA(), votes)

Needs the extra `spark` on the driver, crowdwise on every executor, and Java 17.
"""

import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike, fspath
from typing import Any, Final

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from ..data.cleaning import Rules
from ..data.encoding import Duplicates
from ..data.labels import Labels
from ..data.reading_report import ReadingReport
from ..data.spark import LabelsOnSpark, send, write_folders
from ..kernels import Array
from ..results.in_parts import ResultInParts
from ..results.result import Ending
from . import spark_tasks as tasks
from .base import Sweeping

# Outcomes that the driver adds up by itself; more than that are added up on executors first.
_FEW: Final = 16


def fit(
    method: Any,
    votes: DataFrame,
    *,
    item: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    duplicates: Duplicates = "error",
    missing: Sequence[Any] = (),
    strict: bool = False,
    partitions: int | None = None,
    scores: bool = False,
    progress: Callable[[int, float], None] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Infer the truth of Spark DataFrames.

    Args:
        method: What to fit: one that sweeps over the items.
        votes: One label a row.
        item: The column of items; None to recognise it. For this and the next see `Labels.from_frame`.
        worker: The column of workers.
        label: The column of labels.
        duplicates: What to do where one worker gave one item several different labels; "first" and "last" go by the
            order of the rows within the partitions of `votes`.
        missing: Values that mean "no label" besides null, NaN and empty text.
        strict: Refuse the data instead of repairing them.
        partitions: Into how many parts to cut the items.
        scores: Whether to add a column `score_<class>` for every class.
        progress: Called with the iteration and the change after each iteration.

    Returns:
        One row per item and one per worker, with the columns that `Result.to_frame` and `workers_frame` have.
    """
    method.require_place("spark")
    given = {"item": item, "worker": worker, "label": label}
    labels = LabelsOnSpark(votes, given, Rules(duplicates, missing, strict), partitions)
    result = method.fit(labels, progress=progress)
    return result.truth(scores), result.workers_table()


class OnSpark:
    """One method over labels in a cluster: a sweep is a job."""

    def __init__(self, method: Sweeping, labels: LabelsOnSpark) -> None:
        self._method = method
        self._labels = labels
        self._before: Any = None
        self.n_classes = labels.n_classes
        empty = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.uint8)
        nobody = Labels(*empty, labels.names, ReadingReport(0), np.zeros(0, np.bool_) if labels.set_valued else None)
        self.first: Any = method.start(nobody)[1]

    def __enter__(self) -> "OnSpark":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """One pass over all parts."""
        outcome = self._job(partial(tasks.sweep_part, method=self._method, before=self._before, workers=workers))
        self._before = workers
        return outcome

    def add(self, count: Callable[[Labels, Array], tuple[Any, ...]], _phase: str) -> Any:
        """The sum of `count` over all parts, given their labels and final scores."""
        return self._job(partial(tasks.count_scores, method=self._method, workers=self._before, count=count))[0]

    def add_labels(self, count: Callable[[Labels], tuple[Any, ...]], _phase: str) -> Any:
        """The same for what needs no scores."""
        return self._job(partial(tasks.count_labels, count=count))[0]

    def result(self, ending: Ending) -> "ResultOnSpark":
        """The result, as far as it is not asked for yet."""
        return ResultOnSpark(self._method, self._labels, self, ending)

    def _job(self, step: Callable[[Labels], tuple[Any, Array]]) -> tuple[Any, Array]:
        """Do `step` on every part and add up the outcomes in the order of the parts, whoever made them when."""
        sent = send(self._labels.session, step)
        frame = self._labels.parts.mapInArrow(
            partial(tasks.count_parts, about=self._labels.about, step=sent), tasks.OUTCOME
        )
        if self._labels.n_parts > _FEW:
            groups = math.isqrt(self._labels.n_parts)
            frame = frame.groupBy(f.col("part") % groups).applyInArrow(tasks.merge_outcomes, tasks.OUTCOME)
        rows = sorted(frame.collect(), key=lambda row: int(row["part"]))
        sent.destroy()
        return tasks.merge([pickle.loads(row["outcome"]) for row in rows])


class ResultOnSpark(ResultInParts):
    """The inferred truth of labels in a cluster; its tables are also there as Spark DataFrames."""

    def __init__(self, method: Sweeping, labels: LabelsOnSpark, engine: OnSpark, ending: Ending) -> None:
        super().__init__(method, labels, engine, ending)
        self._labels = labels
        self._found = send(labels.session, tasks.FoundBy(method, ending))

    def truth(self, scores: bool = False) -> DataFrame:
        """One row per item, in the cluster; see `Result.to_frame`."""
        types = self._labels.types
        fields = {"item": types["item"], "label": types["label"], "score": t.DoubleType(), "runner_up": types["label"]}
        fields |= {"runner_up_score": t.DoubleType(), "votes": t.IntegerType()}
        if scores:
            fields |= {f"score_{name}": t.DoubleType() for name in self.names.classes.cast(pl.String)}
        schema = t.StructType([t.StructField(name, kind) for name, kind in fields.items()])
        make = partial(
            tasks.tables, about=self._labels.about, found=self._found, scores=scores, schema=to_arrow_schema(schema)
        )
        return self._labels.parts.mapInArrow(make, schema)

    def workers_table(self) -> DataFrame:
        """One row per worker, in the cluster; see `Result.workers_frame`."""
        kinds = dict.fromkeys(("quality", "quality_low", "quality_high", "agreement"), t.DoubleType())
        fields = {"worker": self._labels.types["worker"], "labels": t.LongType(), **kinds}
        schema = t.StructType([t.StructField(name, kind) for name, kind in fields.items()])
        table = self.workers_frame().to_arrow().cast(to_arrow_schema(schema))
        return self._labels.session.createDataFrame(table, schema)

    def lazy(self, scores: bool = False) -> pl.LazyFrame:
        """One row per item; what is asked of it is brought here from the cluster, and the first rows alone if so."""
        table = self.truth(scores)

        def frames(columns: list[str] | None, condition: pl.Expr | None, rows: int | None, _: Any) -> Iterator[Any]:
            frame = _here(table if rows is None or condition is not None else table.limit(rows))
            frame = frame if condition is None else frame.filter(condition)
            frame = frame if columns is None else frame.select(columns)
            yield frame if rows is None else frame.head(rows)

        return register_io_source(frames, schema=_here(table.limit(0)).schema)

    def disputed(self, count: int) -> pl.DataFrame:
        """The rows of the items whose best two classes are closest; the cluster finds them."""
        known = self.truth().filter(f.col("runner_up").isNotNull())
        return _here(known.orderBy(f.col("score") - f.col("runner_up_score")).limit(count))

    def write(
        self,
        truth: str | PathLike[str] | None = None,
        workers: str | PathLike[str] | None = None,
        *,
        scores: bool = False,
    ) -> None:
        """Write folders of files by the cluster, each in the format its extension says: all of them, or none."""
        tables = {}
        if truth is not None:
            tables[fspath(truth)] = self.truth(scores)
        if workers is not None:
            tables[fspath(workers)] = self.workers_table()
        write_folders(tables)

    def _rows_of(self, items: pl.Series) -> pl.DataFrame:
        wanted = items.cast(pl.String).unique().to_frame("wanted").to_arrow()
        table = self.truth(scores=True)
        wanted_there = f.broadcast(self._labels.session.createDataFrame(wanted))
        return _here(table.join(wanted_there, table["item"].cast("string") == f.col("wanted"), "left_semi"))


def _here(table: DataFrame) -> pl.DataFrame:
    """A Spark table in the memory of this process."""
    frame = pl.from_arrow(table.toArrow())
    assert isinstance(frame, pl.DataFrame)
    return frame
