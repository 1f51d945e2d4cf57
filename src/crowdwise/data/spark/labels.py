"""Labels in a Spark cluster: parts stay on the executors."""

from typing import Any, Final

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from ..crowd import describe
from ..reading_report import ReadingReport
from .parts import About


class LabelsOnSpark:
    """Who said what about which item, in parts on the executors of a cluster, as `deal` leaves them there."""

    place: Final = "spark"

    def __init__(self, votes: DataFrame, parts: DataFrame, about: About, report: ReadingReport, sizes: Any) -> None:
        self.session = votes.sparkSession
        self.parts = parts
        self.types = {field.name: field.dataType for field in votes.schema.fields}
        self.names = about.names
        self.report = report
        self.n_parts, self.n_items, self.n_labels = sizes
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = about.set_valued
        self.about = send(self.session, about)

    def close(self) -> None:
        """Let the executors forget the parts."""
        self.parts.unpersist()

    def __repr__(self) -> str:
        return describe(self, f"; {self.n_parts:,} parts")


def send(session: SparkSession, value: Any) -> Any:
    """Broadcast a value, as bytes: Spark's own way cannot send a method that was defined in a notebook."""
    return session.sparkContext.broadcast(cloudpickle.dumps(value))
