"""Tests of Spark alone: DataFrames, tasks that fail, executors that die, interrupted writing.

The tests of all engines are in test_engines.py. `make test-spark` runs both files.
"""

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.testing import require_same_found

from .engines import on_spark, run, start_spark

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from crowdwise.data.spark import writing
from crowdwise.engines import spark

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


def test_data_frames_go_in_and_come_out(spark_session: SparkSession) -> None:
    rows = cw.simulate(60, 8, 3, seed=4).rows
    votes = spark_session.createDataFrame(
        rows.rename({"item": "task", "worker": "annotator", "label": "answer"}).to_arrow()
    )
    truth, workers = spark.fit(cw.MajorityVote(), votes, label="answer")
    assert truth.columns == ["item", "label", "score", "runner_up", "runner_up_score", "votes"]
    assert workers.columns == ["worker", "labels", "quality", "quality_low", "quality_high", "agreement"]
    assert truth.count() == 60


@dataclass(frozen=True)
class Stumbling(cw.BWA):
    """BWA with an error in its second sweep, when that runs for the first time."""

    marker: ClassVar[str] = ""

    def sweep(self, labels: Any, scores: Any, workers: Any, counts: Any) -> Any:
        if workers is not None and not Path(self.marker).exists():
            Path(self.marker).touch()
            raise RuntimeError("stumbled")
        return super().sweep(labels, scores, workers, counts)


def test_a_task_that_fails_once_changes_nothing(spark_session: SparkSession, tmp_path: Path) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # because the executors cannot import the tests
    Stumbling.marker = str(tmp_path / "stumbled")
    rows = cw.simulate(100, 8, 3, seed=6).rows
    labels = on_spark(spark_session).read(rows)
    result = Stumbling(max_iterations=3).fit(labels)
    assert Path(Stumbling.marker).exists()
    plain = cw.BWA(max_iterations=3)
    require_same_found(result.credited_to(plain), plain.fit(cw.Labels.from_frame(rows)))


class StoppedError(Exception):
    """An error that stands for anything that stops a program."""


def test_an_interrupted_write_leaves_the_target_as_it_was(
    spark_session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = spark_session.createDataFrame(pl.DataFrame({"item": [1, 2]}).to_arrow())
    first, second = str(tmp_path / "truth.parquet"), str(tmp_path / "workers.csv")
    writing.write_folders({first: table, second: table})
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    write = writing._write

    def interrupted(table: Any, path: str, part: str) -> None:
        write(table, path, part)
        if path == second:
            raise StoppedError

    monkeypatch.setattr(writing, "_write", interrupted)
    with pytest.raises(StoppedError):
        writing.write_folders({first: table, second: table})
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "truth.parquet" / "_SUCCESS").is_file()


def test_a_folder_that_spark_did_not_write_is_never_replaced(tmp_path: Path) -> None:
    cw.simulate(10, 5, 2, seed=4).rows.write_csv(tmp_path / "votes.csv")
    (tmp_path / "mine.parquet").mkdir()
    (tmp_path / "mine.parquet" / "notes.txt").write_text("mine")
    inputs = (tmp_path / "votes.csv", "--engine", "spark", "--master", "local[2]")
    for target in (tmp_path / "mine.parquet", tmp_path):
        done = run("aggregate", *inputs, "-o", target)
        assert done.returncode == 2
        assert "error: " in done.stderr
    assert (tmp_path / "mine.parquet" / "notes.txt").read_text() == "mine"


def executors() -> list[int]:
    """The processes of Spark's executors on this machine, of this test's cluster."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_text(errors="replace")
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in command and f"crowdwise-{os.getpid()}" in command:
                found.append(int(entry.name))
    return found


def test_an_executor_that_dies_changes_nothing() -> None:
    """The last test here, because it ends the session of the others."""
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    session = start_spark("local-cluster[2,1,1024]")
    try:
        rows = cw.simulate(200, 10, 3, seed=7).rows
        labels = on_spark(session).read(rows, partitions=4)
        killed: list[int] = []

        def kill_one(iteration: int, _: float) -> None:
            if iteration == 2:
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)

        method = cw.BWA(max_iterations=5)
        result = method.fit(labels, progress=kill_one)
        assert killed
        require_same_found(result, method.fit(cw.Labels.from_frame(rows)))
    finally:
        session.stop()


def test_text_is_looked_at_as_by_the_other_engines(spark_session: SparkSession, tmp_path: Path) -> None:
    assert spark_session.sparkContext.master.startswith("local")
    path = tmp_path / "votes.csv"
    path.write_text('item;worker;label\n"1;""x";a;"two\nlines"\n2;b;" 5"" nail"\n')
    labels = cw.read_labels(path, engine="spark")
    assert labels.names.classes.to_list() == cw.read_labels(path).names.classes.to_list() == [' 5" nail', "two\nlines"]
    short, mixed = tmp_path / "short.csv", tmp_path / "mixed.jsonl"
    short.write_text("item,worker,label\n1,a,x\n2,b\n")
    mixed.write_text('{"item":1,"worker":"a","label":"x"}\n{"item":"1","worker":"b","label":"x"}\n')
    for bad, message in ((short, "line 3 has 2 fields"), (mixed, "mixed types")):
        with pytest.raises(cw.DataError, match=message):
            cw.read_labels(bad, engine="spark")
