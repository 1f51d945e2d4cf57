"""`LabelsOnSpark`: labels in a Spark cluster, in parts that stay on the executors."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from .. import columns
from ..cleaning import Rules
from ..crowd import describe
from . import files
from .partitioning import partition


class LabelsOnSpark:
    """The labels that workers gave to items, in parts on the executors of a Spark cluster.

    Args:
        votes: A Spark table with one label per row.
        given: The column for each role (item, worker and label); None to recognise it.
        rules: What to do with rows that cannot be used as they are.
        partitions: The number of parts to split the items into; None to choose it by the number of rows.
        where: The name of the table in error messages.

    Attributes:
        parts: The Spark table of the parts, one row for each part.
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
        about: What executors need to know about the whole crowd, as a Spark broadcast variable; see `parts.About`.
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
        picked, self.parts, about, self.report, sizes = partition(votes, found, rules, partitions)
        self.session = votes.sparkSession
        self.types = {field.name: field.dataType for field in picked.schema.fields}
        self.names, self.numbering = about.names, about.numbering
        self.n_parts, self.n_items, self.n_labels = sizes
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = about.set_valued
        self.about = send(self.session, about)
        self._own_session = False

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

    def close(self) -> None:
        """Remove the parts from the executors. If `read` started the session, also end it."""
        self.parts.unpersist()
        if self._own_session:
            self.session.stop()

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts")


def send(session: SparkSession, value: Any) -> Any:
    """Send a value to all executors, and return the Spark broadcast variable.

    It is pickled with cloudpickle first, because Spark itself cannot send a method that was defined in a notebook.
    """
    return session.sparkContext.broadcast(cloudpickle.dumps(value))
