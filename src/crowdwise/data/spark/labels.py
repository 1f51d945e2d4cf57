"""Labels in a Spark cluster: parts stay on the executors."""

from typing import Any, Final

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from ...errors import CallError, DataError, in_memory_only, require_suitable
from ..labels import several_classes_a_vote
from ..reading_report import Report
from .parts import About


class LabelsOnSpark:
    """Who said what about which item, in parts on the executors of a cluster, as `deal` leaves them there."""

    # Which engine runs methods over them.
    where: Final = "spark"

    def __init__(self, votes: DataFrame, parts: DataFrame, about: About, report: Report, sizes: Any) -> None:
        self.session = votes.sparkSession
        self.parts = parts
        self.types = {field.name: field.dataType for field in votes.schema.fields}
        self.names = about.names
        self.report = report
        self.n_parts, self.n_items, self.n_labels = sizes
        self.n_workers, self.n_classes = len(self.names.workers), len(self.names.classes)
        self.set_valued = about.set_valued
        self.about = send(self.session, about)

    def require_single_votes(self, method: str) -> None:
        """Refuse votes that name several classes, on behalf of a method for which they have no meaning."""
        if self.set_valued:
            raise DataError(several_classes_a_vote(method))

    def require_suitable(self, method: Any) -> None:
        """Refuse a method that cannot run in a cluster."""
        require_suitable(method, "spark")

    def close(self) -> None:
        """Let the executors forget the parts."""
        self.parts.unpersist()

    def __getattr__(self, name: str) -> Any:
        if name in ("item_starts", "workers", "labels", "continued", "slices"):
            raise CallError(in_memory_only("This method needs all labels in memory, and they are in a cluster"))
        raise AttributeError(name)

    def __repr__(self) -> str:
        return (
            f"LabelsOnSpark({self.n_labels:,} labels of {self.n_items:,} items by {self.n_workers:,} workers "
            f"in {self.n_classes:,} classes; {self.n_parts:,} parts)"
        )


def send(session: SparkSession, value: Any) -> Any:
    """Broadcast a value, as bytes: Spark's own way cannot send a method that was defined in a notebook."""
    return session.sparkContext.broadcast(cloudpickle.dumps(value))
