"""`Engine`: what the tests need to run the same test with every engine."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

import crowdwise as cw
from crowdwise.crowd.protocol import Crowd, Place
from crowdwise.partitions.on_disk import LabelsOnDisk


@dataclass(frozen=True)
class Engine:
    """An engine, as the tests use it.

    Attributes:
        name: The name of the engine.
        read: A function that reads a table into labels for this engine; it takes the options of `Labels.from_frame`.
        options: The options of the command line that choose this engine.
        few_iterations: Whether tests should run few iterations, because every iteration takes long.
    """

    name: Place
    read: Callable[..., Crowd]
    options: tuple[str, ...] = ()
    few_iterations: bool = False

    def suited(self, method: Any) -> Any:
        """Return the method, with at most two iterations if this engine takes long for each."""
        limited = "max_iterations" in {one.name for one in fields(method)}
        return replace(method, max_iterations=2) if self.few_iterations and limited else method


def in_memory() -> Engine:
    """Return the memory engine."""
    return Engine("memory", cw.Labels.from_frame, ("--engine", "memory"))


def on_disk_in(folder: Path) -> Engine:
    """Return the disk engine, with so little memory that labels are cut into dozens of parts."""

    def read(rows: pl.DataFrame, **rules: Any) -> Crowd:
        path = folder / "votes.parquet"
        rows.write_parquet(path)
        return on_disk(path, **rules)

    return Engine("disk", read, ("--engine", "disk", "--memory", "20KB"))


def on_spark(session: Any) -> Engine:
    """Return the Spark engine, with labels in a few parts."""
    from crowdwise.crowd.read_options import ReadOptions
    from crowdwise.partitions.on_spark import LabelsOnSpark

    def read(rows: pl.DataFrame, partitions: int = 3, **rules: Any) -> Crowd:
        votes = session.createDataFrame(rows.to_arrow()).coalesce(1)
        return LabelsOnSpark(votes, ReadOptions(**rules), partitions)

    return Engine("spark", read, ("--engine", "spark", "--master", "local[2]"), few_iterations=True)


def start_spark(master: str) -> Any:
    """Start a real Spark session on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # the Python that has crowdwise installed
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for key, value in {
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.extraJavaOptions": f"-Dcluster=crowdwise-{os.getpid()}",  # marks the processes of this cluster
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def on_disk(source: Any, **more: Any) -> LabelsOnDisk:
    """Read labels to disk, with so little memory that they are cut into dozens of parts."""
    labels: LabelsOnDisk = cw.read_labels(source, **{"engine": "disk", "memory": "20KB", **more})
    return labels
