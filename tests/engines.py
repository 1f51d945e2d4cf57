"""Every engine as tests see it: something that reads rows to where it works, and what it is called."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import polars as pl

import crowdwise as cw
from crowdwise.data.crowd import Crowd, Place
from crowdwise.data.disk.labels import LabelsOnDisk


@dataclass(frozen=True)
class Engine:
    """An engine.

    Attributes:
        name: As `--engine` wants it.
        read: Reads a table to where the engine works; takes the rules of `Labels.from_frame`.
        options: What the command line needs besides.
        few_iterations: Whether every iteration takes so long that tests should make few.
    """

    name: Place
    read: Callable[..., Crowd]
    options: tuple[str, ...] = ()
    few_iterations: bool = False

    def suited(self, method: Any) -> Any:
        """The same method, with few iterations if those take long."""
        limited = "max_iterations" in {one.name for one in fields(method)}
        return replace(method, max_iterations=2) if self.few_iterations and limited else method


def in_memory() -> Engine:
    """Labels as they are everywhere else in the tests."""
    return Engine("memory", cw.Labels.from_frame, ("--engine", "memory"))


def on_disk_in(folder: Path) -> Engine:
    """Labels in dozens of parts."""

    def read(rows: pl.DataFrame, **rules: Any) -> Crowd:
        path = folder / "votes.parquet"
        rows.write_parquet(path)
        return on_disk(path, **rules)

    return Engine("disk", read, ("--engine", "disk", "--memory", "20KB"))


def on_spark(session: Any) -> Engine:
    """Labels in a few parts in a real Spark."""
    from crowdwise.data.cleaning import Rules
    from crowdwise.data.spark.labels import LabelsOnSpark

    def read(rows: pl.DataFrame, partitions: int = 3, **rules: Any) -> Crowd:
        votes = session.createDataFrame(rows.to_arrow()).coalesce(1)
        return LabelsOnSpark(votes, {"item": None, "worker": None, "label": None}, Rules(**rules), partitions)

    return Engine("spark", read, ("--engine", "spark", "--master", "local[2]"), few_iterations=True)


def start_spark(master: str) -> Any:
    """A session of a real Spark on this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # where crowdwise is
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    for key, value in {
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.extraJavaOptions": f"-Dcluster=crowdwise-{os.getpid()}",  # to tell them from others'
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def on_disk(source: Any, **more: Any) -> LabelsOnDisk:
    """Read into dozens of parts."""
    labels: LabelsOnDisk = cw.read_labels(source, **{"engine": "disk", "memory": "20KB", **more})
    return labels


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "crowdwise", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
