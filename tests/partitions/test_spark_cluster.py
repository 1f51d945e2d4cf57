"""Tests of the command line in a Spark cluster: a master and two workers, which are processes of this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.fitting.method import Method

pyspark: Any = pytest.importorskip("pyspark", reason="the extra spark is not installed")

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

# How long to wait for a process to start, in seconds; the machine may be busy.
_PATIENCE = 120
# They do not settle in so few iterations.
_METHODS = cw.BWA(tolerance=1e-12, max_iterations=8), cw.Adjudicator(tolerance=1e-12, max_iterations=6)


@dataclass
class Worker:
    """A worker of the cluster, with the folder that its executors have for their files."""

    process: subprocess.Popen[bytes]
    local_folder: Path
    seen: set[str] = field(default_factory=set)

    def parts(self) -> set[str]:
        """The names of the parts that its executors have kept until now."""
        # A part that is being written has another name than a number.
        self.seen |= {folder.name for folder in self.kept_folders() if folder.name.isdigit()}
        return self.seen

    def kept_folders(self) -> list[Path]:
        """The folders of parts that are there now; executors make and remove folders while this looks."""
        folders = [(Path(folder), files) for folder, _, files in os.walk(self.local_folder)]  # skips what is gone
        return [folder for folder, files in folders if "0000.items" in files]


@dataclass
class Cluster:
    """A cluster: the address of its master, and its workers."""

    master: str
    workers: list[Worker]

    def aggregate(self, votes: Path, method: Method, target: Path) -> subprocess.Popen[str]:
        """Start the command line on this cluster, with a method that has no other parameters than its iterations."""
        command = [sys.executable, "-m", "crowdwise", "aggregate", str(votes), "-o", str(target), "--quiet"]
        command += ["-m", str(method.key), "--engine", "spark", "--master", self.master]
        command += [f"--set={name}={getattr(method, name)}" for name in ("tolerance", "max_iterations")]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@contextmanager
def spark_process(folder: Path, kind: str, ready: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a cluster, which has said that it is ready; it and all that it started end with the block."""
    folder.mkdir()
    environment = {
        **os.environ,
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
    }
    command = [f"{environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
    options = ["--host", "127.0.0.1", "--webui-port", "0", *map(str, arguments)]
    log = folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*command, *options], env=environment, stdout=stream, stderr=stream, start_new_session=True
        )
    try:
        until = time.monotonic() + _PATIENCE
        while ready not in log.read_text(errors="replace"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process of the cluster and all that it started, at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster with two workers, each with one core."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(spark_process(tmp_path / "master", "master.Master", "ALIVE", "--port", port))
        workers = []
        for name in ("one", "other"):
            folder = tmp_path / name
            more = ("--cores", 1, "--memory", "1g", "--work-dir", folder / "work", master)
            process = spark_process(folder, "worker.Worker", "Successfully registered with master", *more)
            workers.append(Worker(stack.enter_context(process), folder / "local"))
        yield Cluster(master, workers)


def require_answers_of_memory(folder: Path, rows: pl.DataFrame, method: Method) -> None:
    """Check that the folder that Spark wrote has the answers that the method finds in memory."""
    found = pl.read_parquet(f"{folder}/*.parquet").sort("item")
    expected = method.fit(cw.Labels.from_frame(rows)).to_frame().sort("item")
    assert found.columns == expected.columns
    for name, kind in expected.schema.items():
        if kind.is_float():
            assert found[name].to_numpy() == pytest.approx(expected[name].to_numpy(), rel=1e-9, nan_ok=True)
        else:
            assert found[name].to_list() == expected[name].to_list()


def test_two_workers_find_what_memory_finds(cluster: Cluster, tmp_path: Path) -> None:
    rows = cw.simulate(300, 12, 3, seed=9).rows
    rows.write_parquet(tmp_path / "votes.parquet")
    for method in _METHODS:
        with cluster.aggregate(tmp_path / "votes.parquet", method, tmp_path / f"{method.key}.parquet") as process:
            said = process.communicate()[0]
        assert process.returncode == 0, said
        require_answers_of_memory(tmp_path / f"{method.key}.parquet", rows, method)
    assert all(worker.local_folder.is_dir() for worker in cluster.workers)
    until = time.monotonic() + _PATIENCE
    while any(worker.kept_folders() for worker in cluster.workers):  # Spark removes what executors kept, soon
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize("method", _METHODS)
def test_a_worker_that_is_killed_changes_nothing(method: Method, cluster: Cluster, tmp_path: Path) -> None:
    rows = cw.simulate(300, 12, 3, seed=10).rows
    rows.write_parquet(tmp_path / "votes.parquet")
    killed, other = cluster.workers
    lost: set[str] = set()
    with cluster.aggregate(tmp_path / "votes.parquet", method, tmp_path / "truth.parquet") as process:
        while process.poll() is None:
            if len(killed.parts() | other.parts()) == 2 and not lost:  # the two parts are made: iterations begin
                killed, other = sorted(cluster.workers, key=lambda worker: -len(worker.parts()))
                lost = killed.parts() - other.parts()
                kill(killed.process)
            time.sleep(0.02)
        said = process.communicate()[0]
    assert process.returncode == 0, said
    require_answers_of_memory(tmp_path / "truth.parquet", rows, method)
    assert lost
    assert lost <= other.parts()  # they were made again
