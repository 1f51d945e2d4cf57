"""Labels in a Spark cluster: parts stay on the executors."""

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
    """Who said what about which item, in parts on the executors of a cluster.

    Args:
        votes: One label a row.
        given: Role (item, worker, label) to column; None to recognise it.
        rules: What to do with rows that cannot be used as they are.
        partitions: Into how many parts to cut the items; as many as suit the rows if None.
        where: What the table is called in an error.
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
        self.names = about.names
        self.n_parts, self.n_items, self.n_labels = sizes
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = about.set_valued
        self.about = send(self.session, about)
        self._own_session = False

    @classmethod
    def read(
        cls, paths: Sequence[str], given: Mapping[str, str | None], rules: Rules, master: str | None
    ) -> "LabelsOnSpark":
        """Read files in a session of its own, which ends when the labels are closed."""
        session = files.connect(master)
        try:
            labels = cls(files.read(session, paths, given), given, rules, where=paths[0])
        except BaseException:
            session.stop()
            raise
        labels._own_session = True
        return labels

    @property
    def remarks(self) -> list[str]:
        """Nothing: whoever asks for a cluster knows where it is."""
        return []

    def close(self) -> None:
        """Let the executors forget the parts, and end the session if it is its own."""
        self.parts.unpersist()
        if self._own_session:
            self.session.stop()

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts")


def send(session: SparkSession, value: Any) -> Any:
    """Broadcast a value, as bytes: Spark's own way cannot send a method that was defined in a notebook."""
    return session.sparkContext.broadcast(cloudpickle.dumps(value))
