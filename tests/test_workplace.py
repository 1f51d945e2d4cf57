"""Where labels on disk are worked on: its room is asked for, and nothing is left behind there, whatever happens."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.data.disk.workspace import Workplace

from .test_disk import on_disk, run

pytestmark = pytest.mark.usefixtures("workdir")


def test_long_ids_do_not_fill_the_disk(tmp_path: Path) -> None:
    """A part must not hold the text of all others: pieces of a polars column share their text until it is copied."""
    count = 20_000
    names = [f"a very long name of an item that no view of sixteen bytes can hold, number {i}" for i in range(count)]
    path = tmp_path / "votes.parquet"
    pl.DataFrame({"item": names, "worker": ["w"] * count, "label": ["x"] * count}).write_parquet(path)
    labels = on_disk(path, memory="1MB")
    written = sum(file.stat().st_size for file in Path(labels.folder).iterdir())
    assert written < 200 * count
    result = cw.MajorityVote().fit(labels)
    assert sorted(result.to_frame()["item"]) == sorted(names)


def test_the_folder_is_removed_when_labels_are_closed_forgotten_or_refused(tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,worker,label\n1,a,x\n1,b,y\n")
    with on_disk(path, workdir=workdir):
        assert len(list(workdir.iterdir())) == 1
    labels = on_disk(path)
    result = cw.BWA().fit(labels)
    del labels
    assert result.to_frame().height == 1
    assert len(list(workdir.iterdir())) == 1
    del result
    assert not list(workdir.iterdir())
    path.write_text("item,worker,label\n1,a,x\n1,a,y\n")
    with pytest.raises(cw.DataError, match="1 \\(item, worker\\) pair has more than one label"):
        on_disk(path)
    assert not list(workdir.iterdir())


def test_a_disk_without_room_is_refused_before_work_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cw.simulate(1000, 10, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(cw.DataError, match=r"is too small: about 0.3 MB are needed there .* 0.001 MB are free"):
        on_disk(tmp_path / "votes.csv")


def test_a_disk_that_fills_up_is_one_sentence(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        cw.simulate(3000, 10, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
        before = Workplace.require
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Workplace, "require", lambda self, needed: setattr(self, "_needed", needed))
            with pytest.raises(cw.DataError, match=r"is too small: about 0\.9 MB are needed there"):
                on_disk(tmp_path / "votes.csv", workdir=small)
        assert Workplace.require is before
        assert not list(small.iterdir())
    finally:
        subprocess.run(["umount", small], check=True)


def test_what_a_killed_run_left_behind_is_said(tmp_path: Path, workdir: Path) -> None:
    cw.simulate(50, 5, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
    killed = "import os, signal; from crowdwise.data.disk.workspace import Workplace; place = Workplace(None); "
    subprocess.run([sys.executable, "-c", killed + "os.kill(os.getpid(), signal.SIGKILL)"], check=False)
    (left,) = workdir.iterdir()
    with on_disk(tmp_path / "votes.csv") as alive:
        done = run("aggregate", tmp_path / "votes.csv", "--engine", "disk", "--workdir", workdir)
        said = done.stderr.replace("\n", "")
        assert f"A run that was killed left {left} behind" in said
        assert alive.folder not in said


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_nothing_is_left_after_an_interrupt(sent: int, code: int, tmp_path: Path, workdir: Path) -> None:
    labels, truth = tmp_path / "votes.parquet", tmp_path / "truth.parquet"
    cw.simulate(20_000, 100, 5, seed=1).rows.write_parquet(labels)
    endless = ("--set", "tolerance=1e-300", "--set", "max_iterations=1000000", "--engine", "disk", "--memory", "5MB")
    command = [sys.executable, "-m", "crowdwise", "aggregate", str(labels), "-o", str(truth), *endless]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not list(workdir.glob("*/scores-*/*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(sent)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in said
    assert not list(workdir.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["votes.parquet"]
