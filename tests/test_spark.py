"""A real Spark: held to the memory engine, also when tasks fail and executors die. `make test-spark` runs these."""

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import crowdwise as cw

from .cases import CASES, VARIANTS
from .test_disk import IN_MEMORY_ONLY, LOOPED, assert_same_result, run

pytest.importorskip("pyspark", reason="the extra spark is not installed")

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from crowdwise.data.spark.labels import LabelsOnSpark
from crowdwise.data.spark.partitioning import deal
from crowdwise.engines import spark

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]
EVERY = CASES | VARIANTS


def start(master: str) -> SparkSession:
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
    session: SparkSession = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def local() -> Iterator[SparkSession]:
    session = start("local[2,3]")  # a task may fail twice
    yield session
    session.stop()


class _Collected:
    """A result in a cluster as the tests for results on disk want it."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._result, name)

    def to_frame(self, scores: bool) -> Any:
        return pl.from_arrow(self._result.truth(scores).toArrow())

    def workers_frame(self) -> Any:
        return pl.from_arrow(self._result.workers_table().toArrow())


def read(session: SparkSession, rows: pl.DataFrame, partitions: int = 3, **more: Any) -> LabelsOnSpark:
    votes = session.createDataFrame(rows.to_arrow()).coalesce(1)
    found = {"item": "item", "worker": "worker", "label": "label"}
    rules: dict[str, Any] = {"duplicates": "error", "missing": (), "strict": False, **more}
    return LabelsOnSpark(*deal(votes, found, partitions=partitions, **rules))


def short(method: Any) -> Any:
    """The same method with few iterations: each is a job, and a job takes a while to start."""
    return replace(method, max_iterations=2) if "max_iterations" in {one.name for one in fields(method)} else method


def test_every_looped_method_finds_the_same(local: SparkSession) -> None:
    rows = cw.simulate(150, 12, 3, seed=2).rows
    labels, memory = read(local, rows), cw.Labels.from_frame(rows)
    for key in LOOPED:
        if key == "ptbcc":
            continue
        method = short(EVERY[key].method)
        one, other = _Collected(method.fit(labels)).to_frame(True).sort("item"), method.fit(memory).to_frame(True)
        other = other.sort("item")
        assert one["label"].equals(other["label"])
        numbers = [name for name in one.columns if name.startswith("score")]
        assert one.select(numbers).to_numpy() == pytest.approx(other.select(numbers).to_numpy(), rel=1e-9, abs=1e-9)


def test_bwa_settles_class_by_class_as_in_memory(local: SparkSession) -> None:
    """Past the point where some classes have settled and are no longer swept; with two classes, and with more."""
    for classes in (2, 4):
        rows = cw.simulate(200, 10, classes, seed=5).rows
        labels = read(local, rows, partitions=20)  # enough of them to be added up on the executors first
        assert_same_result(_Collected(cw.BWA().fit(labels)), cw.BWA().fit(cw.Labels.from_frame(rows)))


@pytest.mark.parametrize("key", ["ptbcc", "glad", "bwa restarts"])
def test_others_are_refused_in_one_sentence(key: str, local: SparkSession) -> None:
    assert key == "ptbcc" or key in IN_MEMORY_ONLY
    labels = read(local, cw.simulate(20, 5, 2, seed=2).rows)
    with pytest.raises((cw.DataError, cw.CallError), match=r"in memory|engine memory or disk"):
        EVERY[key].method.fit(labels)


ROWS = [
    *[("i1", "a", "x"), ("i1", "b", "y"), ("i1", "b", "x"), ("i2", "a", "x"), ("i2", "a", "x"), ("i2", "b", "NA")],
    *[("i3", "c", None), ("i4", "c", ""), ("i4", "b", "x"), ("i5", "a", "y"), ("i5", "a", "x"), ("i5", "b", "y")],
]


@pytest.mark.parametrize("duplicates", ["first", "last", "all", "set", "drop", "error"])
def test_repairs_and_messages_are_those_of_memory(duplicates: Any, local: SparkSession) -> None:
    rows = pl.DataFrame(ROWS, schema=["item", "worker", "label"], orient="row")
    asked: dict[str, Any] = {"duplicates": duplicates, "missing": ["NA"]}
    if duplicates == "error":
        with pytest.raises(cw.DataError) as one:
            cw.Labels.from_frame(rows, **asked)
        with pytest.raises(cw.DataError) as other:
            read(local, rows, **asked)
        assert str(one.value) == str(other.value)
        return
    memory, labels = cw.Labels.from_frame(rows, **asked), read(local, rows, **asked)
    assert labels.report == memory.report
    assert_same_result(_Collected(cw.BWA().fit(labels)), cw.BWA().fit(memory))


@pytest.mark.parametrize(
    ("rows", "strict"),
    [
        ([(1, "a", "x"), (None, "b", "y"), (None, "c", "y")], False),
        ([(1, "a", "x"), (2, "", "y")], False),
        ([(1, "a", None)], False),
        ([(1, "a", "x"), (2, "b", None)], True),
        ([(1, "a", "x"), (1, "a", "x")], True),
    ],
)
def test_bad_rows_get_the_sentence_of_memory(rows: Any, strict: bool, local: SparkSession) -> None:
    schema = {"item": pl.Int64, "worker": pl.String, "label": pl.String}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    with pytest.raises(cw.DataError) as one:
        cw.Labels.from_frame(table, strict=strict)
    with pytest.raises(cw.DataError) as other:
        read(local, table, strict=strict)
    assert str(one.value) == str(other.value)


def test_data_frames_go_in_and_come_out(local: SparkSession) -> None:
    rows = cw.simulate(60, 8, 3, seed=4).rows
    votes = local.createDataFrame(rows.rename({"item": "task", "worker": "annotator", "label": "answer"}).to_arrow())
    truth, workers = spark.fit(cw.MajorityVote(), votes, label="answer")
    assert truth.columns == ["item", "label", "score", "runner_up", "runner_up_score", "votes"]
    assert workers.columns == ["worker", "labels", "quality", "quality_low", "quality_high", "agreement"]
    assert truth.count() == 60


@dataclass(frozen=True)
class Stumbling(cw.BWA):
    """BWA whose second sweep fails the first time."""

    marker: ClassVar[str] = ""

    def sweep(self, labels: Any, scores: Any, workers: Any, counts: Any) -> Any:
        if workers is not None and not Path(self.marker).exists():
            Path(self.marker).touch()
            raise RuntimeError("stumbled")
        return super().sweep(labels, scores, workers, counts)


def test_a_task_that_fails_once_changes_nothing(local: SparkSession, tmp_path: Path) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors do not have the tests
    Stumbling.marker = str(tmp_path / "stumbled")
    rows = cw.simulate(100, 8, 3, seed=6).rows
    labels = read(local, rows)
    result = Stumbling(max_iterations=3).fit(labels)
    assert Path(Stumbling.marker).exists()
    assert_same_result(_Collected(result), cw.BWA(max_iterations=3).fit(cw.Labels.from_frame(rows)))


def executors() -> list[int]:
    """The processes of Spark's executors on this machine, of this test's cluster."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_text()
            except OSError:
                continue
            if "CoarseGrainedExecutorBackend" in command and f"crowdwise-{os.getpid()}" in command:
                found.append(int(entry.name))
    return found


def test_an_executor_that_dies_changes_nothing() -> None:
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    session = start("local-cluster[2,1,1024]")
    try:
        rows = cw.simulate(200, 10, 3, seed=7).rows
        labels = read(session, rows, partitions=4)
        killed: list[int] = []

        def kill_one(iteration: int, _: float) -> None:
            if iteration == 2:
                killed.append(executors()[0])
                os.kill(killed[0], signal.SIGKILL)

        method = cw.BWA(max_iterations=5)
        result = method.fit(labels, progress=kill_one)
        assert killed
        assert_same_result(_Collected(result), method.fit(cw.Labels.from_frame(rows)))
    finally:
        session.stop()


def test_the_command_line_reads_and_writes_in_the_cluster(tmp_path: Path) -> None:
    rows = cw.simulate(60, 8, 3, seed=4).rows.with_columns(pl.col("item").str.slice(1).cast(pl.Int64) + 7)
    rows.write_csv(tmp_path / "votes.csv")
    outputs = ("-o", tmp_path / "truth.parquet", "--workers", tmp_path / "workers.csv")
    done = run("aggregate", tmp_path / "votes.csv", *outputs, "-m", "mv", "--engine", "spark", "--master", "local[2]")
    assert done.returncode == 0, done.stderr
    assert "Read 300 rows: item = 'item', worker = 'worker', label = 'label'." in done.stderr
    assert "truth.parquet, a folder of files" in " ".join(done.stderr.split())
    truth = pl.read_parquet(tmp_path / "truth.parquet" / "*.parquet").sort("item")
    expected = cw.MajorityVote().fit(cw.Labels.from_frame(rows)).to_frame().sort("item")
    assert truth.equals(expected)
    assert pl.read_csv(tmp_path / "workers.csv" / "*.csv").height == 8
    done = run("aggregate", tmp_path / "none.csv", *outputs, "--engine", "spark", "--master", "local[2]")
    assert done.returncode == 1
    assert "error: " in done.stderr
    assert "does not read as CSV" in done.stderr
