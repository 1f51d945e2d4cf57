"""Tests of Spark alone: DataFrames, tasks that fail, files that are lost, executors that die, interrupted writing.

The tests of all engines are in test_engines.py, those of a cluster of several processes in test_spark_cluster.py.
`make test-spark` runs them all.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.testing import require_same_found
from tests.support.commands import run_apart as run
from tests.support.engines import on_spark, start_spark

pytest.importorskip("pyspark", reason="the extra spark is not installed")

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from crowdwise.fitting.engines import spark
from crowdwise.output import spark_folders as writing

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


def test_data_frames_go_in_and_come_out(spark_session: SparkSession) -> None:
    rows = cw.simulate(60, 8, 3, seed=4).rows
    votes = spark_session.createDataFrame(
        rows.rename({"item": "task", "worker": "annotator", "label": "answer"}).to_arrow()
    )
    truth, workers = spark.fit(cw.MajorityVote(), votes, label="answer")
    assert truth.columns == ["item", "label", "confidence", "score", "runner_up", "runner_up_score", "votes"]
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


@pytest.fixture
def kept_parts(spark_session: SparkSession) -> Callable[[], set[Path]]:
    """Returns the folders in which the executor of this process keeps parts now."""

    def name_places(batches: Any) -> Any:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"places": [os.environ["SPARK_LOCAL_DIRS"]]})

    (row,) = spark_session.range(1).coalesce(1).mapInArrow(name_places, "places string").collect()
    places = [Path(name) for name in row["places"].split(",")]
    return lambda: {path for place in places for path in place.glob("crowdwise-*/*")}


@pytest.mark.parametrize("partitions", [3, 20])  # the counts of 20 parts are first added up in groups on the executors
@pytest.mark.parametrize("duplicates", ["error", "set"])
def test_lost_files_are_made_again_and_change_no_bit(
    duplicates: Any, partitions: int, spark_session: SparkSession, kept_parts: Callable[[], set[Path]]
) -> None:
    rows = cw.simulate(200, 10, 3, seed=8).rows
    if duplicates == "set":
        rows = pl.concat([rows, rows.head(5).with_columns(rows["label"].tail(5))])
    before = kept_parts()
    labels = on_spark(spark_session).read(rows, partitions, duplicates=duplicates)
    parts = kept_parts() - before
    assert len(parts) == partitions
    method = cw.BWA(max_iterations=6, tolerance=1e-12)
    undisturbed = method.fit(labels).to_frame(scores=True)
    (crowd,) = {path.parent for path in parts}

    def lose(iteration: int, _: float) -> None:
        assert kept_parts() - before == parts  # those of the iteration before are there again
        assert all(len(list(path.iterdir())) == (4 if duplicates == "error" else 5) for path in parts)
        if iteration == 1:
            shutil.rmtree(crowd)  # all parts
        if iteration == 2:
            for number, path in enumerate(sorted(parts)):  # one file of every part; names of items are not read here
                files = [file for file in sorted(path.iterdir()) if file.name != "0000.items"]
                files[number % len(files)].unlink()

    disturbed = method.fit(labels, progress=lose).to_frame(scores=True)
    assert disturbed.equals(undisturbed)
    labels.close()
    assert kept_parts() <= before


def test_parts_that_cannot_be_kept_are_worked_on_nevertheless(
    spark_session: SparkSession, kept_parts: Callable[[], set[Path]]
) -> None:
    rows = cw.simulate(50, 10, 3, seed=8).rows
    before = kept_parts()
    labels = on_spark(spark_session).read(rows)
    (crowd,) = {path.parent for path in kept_parts() - before}
    shutil.rmtree(crowd)
    crowd.touch()  # a file in the place of the folder
    method = cw.BWA(max_iterations=3)
    require_same_found(method.fit(labels), method.fit(cw.Labels.from_frame(rows)))
    assert crowd.is_file()
    crowd.unlink()
    labels.close()


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


def test_what_java_says_is_in_the_message(spark_session: SparkSession) -> None:
    assert spark_session.sparkContext.master.startswith("local")
    with pytest.raises(cw.DataError, match=r"does not read as Parquet: .*S3AFileSystem not found"):
        cw.read_labels("s3a://crowd/votes.parquet", engine="spark")  # Spark as it is from PyPI knows no s3a://
