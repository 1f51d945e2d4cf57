"""`LabelsOnSpark`: labels in a Spark cluster, in parts that stay on the executors. Needs the extra `spark`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self

import numpy as np
import polars as pl
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

from ..crowd.item_sketch import union
from ..crowd.knowledge import PriorKnowledge
from ..crowd.protocol import describe
from ..crowd.read_options import ReadOptions
from ..numerics import Array
from ..sources import columns
from ..sources.columns import refuse_spans
from ..sources.soft_columns import class_columns, described, soft_columns
from .crowd_meta import CrowdMeta, LabelsInParts
from .spark_partitioning import partition
from .spark_parts import item_names, sketch_items
from .spark_reading import connect, first_rows_of, open_files, parse_integers


def _as_rows(votes: DataFrame, options: ReadOptions, where: str) -> tuple[DataFrame, dict[str, str], tuple[str, ...]]:
    """Return a row per label with the roles for names, which columns these are, and what to say of them."""
    rounded = options.votes == "hard" and not options.numeric
    classes: Mapping[str, str] = {}
    if rounded or columns.may_be_soft(votes.columns, options):
        classes = class_columns(votes.columns, options, columns.has_any(votes.columns, "label"))
    if classes:
        ids = columns.recognise(votes.columns, {role: options.roles[role] for role in ("item", "worker")}, where)
        weights = soft_columns(votes.columns, ids, options, partial(first_rows_of, votes), where, ("weight",))
        ids |= weights.found
        named = {**ids, **classes}
        table = votes.select(*(f.col(f"`{name}`").alias(f"c{at}") for at, name in enumerate(named.values())))
        of_ids, of_classes = table.columns[: len(ids)], table.columns[len(ids) :]
        words, remark = described(classes, rounded)
        if rounded:
            values = {name: f.col(at).cast("double") for name, at in sorted(zip(classes, of_classes, strict=True))}
            best = f.greatest(*values.values())
            label = f.coalesce(*(f.when(value == best, f.lit(name)) for name, value in values.items()))
            picked = table.select(*(f.col(f"c{at}").alias(role) for at, role in enumerate(ids)), label.alias("label"))
            return picked, {**ids, "label": words["label"]}, (remark,)
        long = table.unpivot(of_ids, of_classes, "label", "probability")
        known = f.trim(f.col("probability").cast("string")) != ""
        name = f.create_map(*(f.lit(one) for pair in zip(of_classes, classes, strict=True) for one in pair))
        label = f.when(known, name[f.col("label")]).alias("label")
        picked = long.select(*(f.col(f"c{at}").alias(role) for at, role in enumerate(ids)), label, "probability")
        return picked, ids | words, (remark, *weights.remarks)
    found = columns.recognise(votes.columns, options.roles, where)
    if options.label is None:
        refuse_spans(votes.columns, partial(first_rows_of, votes), where)
    soft = soft_columns(votes.columns, found, options, partial(first_rows_of, votes), where)
    found |= soft.found
    return votes.select(*(f.col(f"`{name}`").alias(role) for role, name in found.items())), found, soft.remarks


class LabelsOnSpark(LabelsInParts):
    """The labels that workers gave to items, in parts on the executors of a Spark cluster.

    Args:
        votes: A Spark table with one label per row.
        options: How labels are read.
        partitions: The number of parts to split the items into; None to choose it by the number of rows.
        where: The name of the table in error messages.
        integers_in_text: Whether a column of text that holds only integers becomes integers; see `Labels.from_columns`.

    Attributes:
        parts: The parts, as Spark stores them.
        session: The Spark session.
        types: The Spark data type of each column: item, worker and label.
        n_parts: The number of parts that have items.
        sent_meta: What all parts know of the crowd, as a Spark broadcast variable.
    """

    place: Final = "spark"

    def __init__(
        self,
        votes: DataFrame,
        options: ReadOptions,
        partitions: int | None = None,
        where: str = "The table",
        integers_in_text: bool = False,
    ) -> None:
        picked, found, remarks = _as_rows(votes, options, where)
        picked = parse_integers(picked) if integers_in_text else picked
        meta, report, self.parts, self.n_parts, self.types = partition(picked, found, options, partitions)
        super().__init__(meta, replace(report, understood=(*report.understood, *remarks)))
        self.session = votes.sparkSession
        for role, names in (("worker", self.names.workers), ("label", self.names.classes)):
            if names.dtype == pl.String:  # names of samples are text, whatever workers are
                self.types[role] = StringType()
        self._own_session = False
        self._send_meta()

    @classmethod
    def read(cls, paths: Sequence[str], options: ReadOptions) -> "LabelsOnSpark":
        """Read files with the active Spark session, or start one, which then ends when the labels are closed.

        Args:
            paths: Files, folders, patterns or addresses (s3a://, hdfs://) that the cluster can reach.
            options: How labels are read.
        """
        there_already = SparkSession.getActiveSession() is not None
        session = connect(options.master)
        try:
            table, is_text = open_files(session, paths, options)
            labels = cls(table, options, where=paths[0], integers_in_text=is_text)
        except BaseException:
            if not there_already:
                session.stop()
            raise
        labels._own_session = not there_already
        return labels

    def _with(self, meta: CrowdMeta) -> Self:
        """Return labels that share the parts with these."""
        other = super()._with(meta)
        other._send_meta()
        return other

    def _send_meta(self) -> None:
        # Executors need to know the weight of gold alone; what was counted earlier is added on the driver.
        known = PriorKnowledge(self.meta.known.gold_weight, sharpness=self.meta.known.sharpness)
        meta = replace(self.meta, known=known)
        self.sent_meta = send(self.session, meta)

    def first_item(self) -> Any:
        """Return the name of the first item of some part."""
        return item_names(self.parts.whole.select("names").limit(1).collect()[0].asDict())[0]

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items; executors make those of the parts."""
        rows = self.parts.whole.select("items", "names").mapInArrow(sketch_items, "sketch binary").collect()
        return union(np.frombuffer(row["sketch"], np.uint64) for row in rows)

    @property
    def remarks(self) -> list[str]:
        """Empty: users who ask for a cluster know where their labels are."""
        return []

    def close(self) -> None:
        """Remove the parts from the executors. If `read` started the session, end it, and Spark removes them."""
        if self._own_session:
            self.session.stop()
        else:
            self.parts.remove()

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts")


def send(session: SparkSession, value: Any) -> Any:
    """Send a value to all executors, and return the Spark broadcast variable.

    It is pickled with cloudpickle first, because Spark itself cannot send a method that was defined in a notebook.
    """
    return session.sparkContext.broadcast(cloudpickle.dumps(value))
