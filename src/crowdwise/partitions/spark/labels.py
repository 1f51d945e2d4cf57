"""`LabelsOnSpark`: labels in a Spark cluster, in parts that stay on the executors."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType

from ...caution import Caution
from ...crowd.cleaning import Rules
from ...crowd.item_sketch import union
from ...crowd.knowledge import Known
from ...crowd.label_cautions import cautions_of
from ...crowd.protocol import describe
from ...numerics import Array
from ...sources import columns
from ...sources.other_tables import refuse_spans
from . import files
from .about import About
from .partitioning import first_rows_of, partition
from .parts import item_names, sketch_items


class LabelsOnSpark:
    """The labels that workers gave to items, in parts on the executors of a Spark cluster.

    Args:
        votes: A Spark table with one label per row.
        given: The column for each role (item, worker and label); None to recognise it.
        rules: What to do with rows that cannot be used as they are.
        partitions: The number of parts to split the items into; None to choose it by the number of rows.
        where: The name of the table in error messages.

    Attributes:
        parts: The parts, as Spark stores them.
        report: What was read, and which rows were dropped or changed.
        session: The Spark session.
        types: The Spark data type of each column: item, worker and label.
        names: The names of workers and classes. The names of items are stored in their part.
        numbering: The numbers that workers have while a method works.
        n_parts: The number of parts that have items.
        n_items: The number of items that have a label.
        n_labels: The number of labels.
        n_workers: The number of workers.
        n_classes: The number of classes.
        set_valued: Whether some vote names several classes.
        numeric: Whether labels are numbers instead of classes.
        known: What else is known beforehand, besides the classes of items.
        about: What executors need to know about the whole crowd, as a Spark broadcast variable; see `about.About`.
    """

    place: Final = "spark"

    def __init__(
        self,
        votes: DataFrame,
        given: Mapping[str, str | None],
        rules: Rules,
        partitions: int | None = None,
        where: str = "The table",
    ) -> None:
        found = columns.recognise(votes.columns, given, where)
        if given["label"] is None:
            refuse_spans(votes.columns, partial(first_rows_of, votes), where)
        picked, self.parts, about, self.report, sizes = partition(votes, found, rules, partitions)
        self.session = votes.sparkSession
        self.types = {field.name: field.dataType for field in picked.schema.fields}
        for role, names in (("worker", about.names.workers), ("label", about.names.classes)):
            if names.dtype == pl.String:  # names of samples are text, whatever workers are
                self.types[role] = StringType()
        self.n_parts, self.n_items, self.n_labels = sizes
        about.n_labels = self.n_labels
        self._tell(about)
        self._own_session = False

    def _tell(self, about: About) -> None:
        """Send what is known about the whole crowd to the executors."""
        self._about = about
        self.names, self.numbering = about.names, about.numbering
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued, self.known = about.set_valued, about.known
        self.numeric = about.dtype == np.float64
        self.about = send(self.session, about)

    def with_classes(self, classes: pl.Series) -> "LabelsOnSpark":
        """Return the same labels with these classes, which are all that the labels name and perhaps more."""
        return self._with(self._about.with_classes(classes))

    def with_known(self, gold: pl.DataFrame | None, known: Known) -> "LabelsOnSpark":
        """Return the same labels with what is known beforehand; see `Crowd.with_known`."""
        # Executors need to know the weight alone; what was counted earlier is added here.
        other = self._with(self._about.with_known(gold, Known(known.gold_weight)))
        other.known = known
        return other

    def first_item(self) -> Any:
        """Return the name of the first item of some part."""
        return item_names(self.parts.whole.select("names").limit(1).collect()[0].asDict())[0]

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items; executors make those of the parts."""
        rows = self.parts.whole.select("items", "names").mapInArrow(sketch_items, "sketch binary").collect()
        return union(np.frombuffer(row["sketch"], np.uint64) for row in rows)

    @property
    def has_gold(self) -> bool:
        """Whether the classes of some items are known."""
        return self._about.gold is not None

    def _with(self, about: About) -> "LabelsOnSpark":
        """Return the same labels, of which something else is known; they share their parts with this."""
        other = copy(self)
        other._tell(about)
        return other

    @classmethod
    def read(
        cls, paths: Sequence[str], given: Mapping[str, str | None], rules: Rules, master: str | None
    ) -> "LabelsOnSpark":
        """Read files with the active Spark session, or start one, which then ends when the labels are closed.

        Args:
            paths: Files, folders, patterns or addresses that the cluster can reach.
            given: The column for each role (item, worker and label); None to recognise it.
            rules: What to do with rows that cannot be used as they are.
            master: The master of the cluster; None for this machine.
        """
        there_already = SparkSession.getActiveSession() is not None
        session = files.connect(master)
        try:
            labels = cls(files.read(session, paths, given), given, rules, where=paths[0])
        except BaseException:
            if not there_already:
                session.stop()
            raise
        labels._own_session = not there_already
        return labels

    @property
    def remarks(self) -> list[str]:
        """Empty: users who ask for a cluster know where their labels are."""
        return []

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about these labels; names that look alike are looked for in memory only."""
        return cautions_of(self)

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
