"""The result of a numeric method on labels in a Spark cluster."""

import pickle
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as t
from pyspark.sql.pandas.types import to_arrow_schema

from ...data.spark import LabelsOnSpark, item_names, labelled_parts, send, write_folders
from ...results.numeric_in_parts import NumericResultInParts
from ...results.numeric_result import part_of_numbers, refuse_columns_of_classes
from ...results.result import Ending
from ..sweeping import AnySweeping
from .spark import lazy_table


class NumericResultOnSpark(NumericResultInParts):
    """The result of a numeric method on labels in a cluster; it also has its tables as Spark DataFrames."""

    def __init__(self, method: AnySweeping, labels: LabelsOnSpark, ending: Ending) -> None:
        super().__init__(method, labels, ending)
        self._labels = labels
        self._fit = send(labels.session, (method, ending, self.numbered_errors))

    def truth(self, scores: bool = False, probabilities: bool = False) -> DataFrame:
        """Return one row per item as a Spark DataFrame; see `NumericResult.to_frame` for the columns."""
        refuse_columns_of_classes(scores or probabilities)
        fields = {"item": self._labels.types["item"], **dict.fromkeys(("value", "low", "high"), t.DoubleType())}
        schema = _schema({**fields, "votes": t.IntegerType()})
        make = partial(_rows, about=self._labels.about, fit=self._fit, schema=to_arrow_schema(schema))
        return self._labels.parts.whole.mapInArrow(make, schema)

    def workers_table(self) -> DataFrame:
        """Return one row per worker as a Spark DataFrame; see `NumericResult.workers_frame` for the columns."""
        frame = self.workers_frame()
        kinds = {name: t.StringType() if name == "sample_of" else t.DoubleType() for name in frame.columns[2:]}
        schema = _schema({"worker": self._labels.types["worker"], "labels": t.LongType(), **kinds})
        return self._labels.session.createDataFrame(frame.to_arrow().cast(to_arrow_schema(schema)), schema)

    def lazy(self, scores: bool = False, probabilities: bool = False) -> pl.LazyFrame:
        """Return one row per item as a lazy polars table."""
        return lazy_table(self.truth(scores, probabilities))

    def _items_to_write(self, scores: bool, probabilities: bool) -> DataFrame:
        return self.truth(scores, probabilities)

    def _workers_to_write(self) -> DataFrame:
        return self.workers_table()

    def _write(self, tables: Mapping[str, Any], _: Mapping[str, Any] | None, _bom: bool) -> None:
        """Let the cluster write the tables, each as a folder of files."""
        write_folders(tables)


def _schema(fields: Mapping[str, t.DataType]) -> t.StructType:
    return t.StructType([t.StructField(name, kind) for name, kind in fields.items()])


def _rows(batches: Iterator[pa.RecordBatch], about: Any, fit: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the result for the items of this partition; it runs on the executors.

    Args:
        batches: The parts of this partition.
        about: A broadcast variable: what all parts have in common.
        fit: A broadcast variable: the method, how it ended, and how the workers err.
        schema: The columns of the rows.
    """
    method, ending, errors = pickle.loads(fit.value)
    for row, labels in labelled_parts(batches, pickle.loads(about.value)):
        scores = method.rescore(labels, ending.workers)
        part = part_of_numbers(method, labels, item_names(row), scores, errors, ending.workers, ending.convergence)
        yield from part.to_frame().to_arrow().cast(schema).to_batches()
