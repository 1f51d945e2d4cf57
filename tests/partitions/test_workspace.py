"""Tests of the temporary folder of the disk engine: disk space, removal, locks, other systems than Unix."""

import ctypes
import io
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise import system
from crowdwise.partitions.workspace import Workspace
from tests.support.commands import run
from tests.support.engines import on_disk

pytestmark = pytest.mark.usefixtures("workdir")

# Code that removes what only Unix has, so that a program runs as on Windows.
NO_LOCKS = "import os, sys; sys.modules.update(fcntl=None, resource=None, pwd=None, grp=None, termios=None); "
NO_UNIX = NO_LOCKS + "del os.sysconf, os.sched_getaffinity; "
# Code that makes the module msvcrt of Windows with the locks of Unix; it must run before NO_LOCKS removes those.
LOCKS_OF_WINDOWS = """
import fcntl, sys, types
def locking(opened, mode, count):
    assert count == 1
    fcntl.flock(opened, fcntl.LOCK_EX | (fcntl.LOCK_NB if mode == 2 else 0))
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_LOCK=1, LK_NBLCK=2)
"""


def test_long_ids_do_not_fill_the_disk(tmp_path: Path) -> None:
    """The slices of a polars column share its text; if it were not copied, every part would contain the text of all."""
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", folder], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)  # what failed may keep files of it in memory


def fill(folder: Path) -> None:
    """Fill a disk to the last byte."""
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@pytest.mark.parametrize("stage", ["copying", "reading", "sorting", "sweeping"])
def test_a_disk_that_fills_up_is_one_sentence_at_every_stage(stage: str, small_disk: Path, tmp_path: Path) -> None:
    cw.simulate(1500, 10, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
    source: Any = tmp_path / "votes.csv"
    if stage == "copying":
        fill(small_disk)
        source = io.BytesIO(source.read_bytes())

    def phases(phase: str, _: float) -> None:
        if phase == stage:
            fill(small_disk)

    def work() -> None:
        with on_disk(source, workdir=small_disk, memory="1MB", phases=phases) as labels:
            fill(small_disk)
            cw.MajorityVote().fit(labels)

    with pytest.raises(cw.DataError, match=r"The disk of .*/small is too small: .*0 MB are free"):
        work()
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_full_disk_leaves_outputs_as_they_were(small_disk: Path) -> None:
    (small_disk / "one.csv").write_text("old")
    tables = {small_disk / "one.csv": pl.DataFrame({"item": [1]}), small_disk / "two.csv": pl.DataFrame({"item": [2]})}
    fill(small_disk)
    with pytest.raises(cw.DataError, match=r"one\.csv could not be written: .*No space left"):
        cw.write(tables)
    assert (small_disk / "one.csv").read_text() == "old"
    assert sorted(path.name for path in small_disk.iterdir()) == ["filler", "one.csv"]


def test_a_limit_on_the_size_of_files_is_one_sentence(tmp_path: Path, workdir: Path) -> None:
    cw.simulate(1000, 10, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
    limited = (
        "import resource, sys, crowdwise as cw; resource.setrlimit(resource.RLIMIT_FSIZE, (9999, 9999))",
        "try: cw.read_labels('-', engine='disk')",
        "except cw.DataError as problem: print(problem)",
    )
    with (tmp_path / "votes.csv").open() as votes:
        said = run_code(*limited, stdin=votes)
    assert re.fullmatch(r"A temporary file in .* could not be written: .*File too large\. Name another folder .*", said)
    assert not list(workdir.iterdir())


def test_what_a_killed_run_left_behind_is_said(tmp_path: Path, workdir: Path) -> None:
    cw.simulate(50, 5, 2, seed=1).rows.write_csv(tmp_path / "votes.csv")
    killed = "import os, signal; from crowdwise.partitions.workspace import Workspace; place = Workspace(None); "
    subprocess.run([sys.executable, "-c", killed + "os.kill(os.getpid(), signal.SIGKILL)"], check=False)
    (left,) = workdir.iterdir()
    (workdir / "crowdwise-notes").mkdir()  # a folder of the user
    (workdir / "crowdwise-begun").mkdir()  # made by another process that has not locked its marker file yet
    (workdir / "crowdwise-begun" / ".crowdwise-workspace").touch()
    with on_disk(tmp_path / "votes.csv") as alive:
        done = run("aggregate", tmp_path / "votes.csv", "--engine", "disk", "--workdir", workdir)
        said = done.stderr.replace("\n", "")
        assert f"A run that was killed left {left} behind" in said
        assert said.count("A run that was killed left") == 1
        assert alive.folder not in said
        assert alive.remarks[1:] == [f"A run that was killed left {left} behind; remove it."]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
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


def run_code(*lines: str, stdin: IO[str] | None = None) -> str:
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_memory_engine_needs_nothing_that_only_unix_has(tmp_path: Path) -> None:
    labels, truth = tmp_path / "votes.csv", tmp_path / "truth.csv"
    crowd = cw.simulate(50, 5, 2, seed=1)
    crowd.rows.write_csv(labels)
    run_code(
        NO_UNIX + "import crowdwise as cw",
        f"result = cw.BWA().fit(cw.read_labels({str(labels)!r}))",
        f"cw.write({{{str(truth)!r}: result.to_frame()}})",
    )
    expected = cw.BWA().fit(cw.read_labels(labels)).to_frame()
    assert pl.read_csv(truth)["label"].cast(str).to_list() == expected["label"].cast(str).to_list()


def test_without_locks_labels_are_still_read_to_disk_and_no_folder_is_named(tmp_path: Path, workdir: Path) -> None:
    labels = tmp_path / "votes.csv"
    cw.simulate(50, 5, 2, seed=1).rows.write_csv(labels)
    left = workdir / "crowdwise-left"
    left.mkdir()
    (left / ".crowdwise-workspace").write_text("somebody was here")
    read = f"labels = cw.read_labels({str(labels)!r}, engine='disk')"
    for before in (NO_LOCKS, NO_UNIX):
        said = run_code(
            before + "import crowdwise as cw",
            read,
            "assert cw.BWA().fit(labels).to_frame().height == 50",
            # A folder that could not be locked has no marker file; with one, it would look like a folder left behind.
            "print(labels.remarks[1:], '.crowdwise-workspace' in os.listdir(labels.folder))",
        )
        assert said == "[] False"
        assert list(workdir.iterdir()) == [left]
    assert Workspace(None).abandoned() == [left]


def test_locks_of_windows_do_as_those_of_unix(workdir: Path) -> None:
    # Imported before msvcrt is replaced, because modules of Python also try to import msvcrt.
    imports = "from crowdwise.partitions.workspace import Workspace"
    begin = "\n".join([imports, LOCKS_OF_WINDOWS, NO_LOCKS, "place = Workspace(None)"])
    run_code(begin, "assert '.crowdwise-workspace' in os.listdir(place.path)", "place.close()")
    assert not list(workdir.iterdir())
    run_code(begin, "os._exit(0)")  # ends at once, without removing anything
    (left,) = workdir.iterdir()
    alive = Workspace(None)
    assert run_code(begin, "print(*place.abandoned())") == str(left)
    assert alive.abandoned() == [left]


def test_a_marker_that_cannot_be_removed_while_it_is_open_is_removed_after_that(
    workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On Windows an open file cannot be removed, and neither can its folder."""
    opened: set[str] = {".crowdwise-workspace", "mapped"}
    removed: list[str] = []
    real_close, real_unlink = os.close, os.unlink

    def close(number: int) -> None:
        real_close(number)
        opened.discard(".crowdwise-workspace")

    def unlink(path: Any, **more: Any) -> None:
        if Path(path).name in opened:
            raise PermissionError
        removed.append(Path(path).name)
        real_unlink(path, **more)

    monkeypatch.setattr("os.close", close)
    monkeypatch.setattr("os.unlink", unlink)
    place = Workspace(None)
    (place.path / "rows").write_bytes(b"")
    place.close()
    assert not list(workdir.iterdir())
    assert removed[-2:] == ["rows", ".crowdwise-workspace"]
    opened.add(".crowdwise-workspace")
    place = Workspace(None)
    (place.path / "mapped").write_bytes(b"")
    place.close()
    monkeypatch.undo()
    assert sorted(path.name for path in place.path.iterdir()) == [".crowdwise-workspace", "mapped"]
    assert Workspace(workdir).abandoned() == [place.path]


def test_available_memory_is_asked_of_whatever_the_system_has(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n",
        "/proc/self/cgroup": "4:cpu,memory:/\n1:name=systemd:/\n0::/\n",
    }
    monkeypatch.setattr(system, "text_of", lambda path: files.get(str(path), ""))
    assert system.available_memory() == 5_120_000
    for folder, limit, used in (("", "max", "current"), ("memory/", "limit_in_bytes", "usage_in_bytes")):
        container = {f"/sys/fs/cgroup/{folder}memory.{limit}": "3000\n", f"/sys/fs/cgroup/{folder}memory.{used}": "1\n"}
        files.update(container)
        assert system.available_memory() == 2999
        files.update(dict.fromkeys(container, "max\n"))
        assert system.available_memory() == 5_120_000
    # A service of systemd is no container: its group has a path, and the groups above it have limits too.
    files["/proc/self/cgroup"] = "0::/system.slice/crowd:1.service\n"
    slice_ = "/sys/fs/cgroup/system.slice"
    files.update({f"{slice_}/memory.max": "9000\n", f"{slice_}/memory.current": "2000\n"})
    assert system.available_memory() == 7000
    files.update({f"{slice_}/crowd:1.service/memory.max": "400\n", f"{slice_}/crowd:1.service/memory.current": "1\n"})
    assert system.available_memory() == 399
    files.clear()
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 100}.__getitem__)
    assert system.available_memory() == 409_600
    monkeypatch.delattr("os.sysconf")
    assert system.available_memory() == 1 << 30

    def answer(asked: Any) -> int:
        assert struct.unpack_from("=L", asked.raw) == (64,) == (len(asked),)
        struct.pack_into("=2Q", asked, 8, 7000, 6000)
        return 1

    windows = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=answer))
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    assert system.available_memory() == 6000
    windows.kernel32.GlobalMemoryStatusEx = lambda _: 0
    assert system.available_memory() == 1 << 30


def test_an_empty_folder_with_a_name_like_ours_is_said_and_no_other(workdir: Path) -> None:
    """A run that is killed before it marks its folder leaves it so; folders of users have other names, or files."""
    for name in ("crowdwise-a1b2c3_d", "crowdwise-mine", "crowdwise-evidence"):
        (workdir / name).mkdir()
    (workdir / "crowdwise-evidence" / "file").touch()
    (workdir / "crowdwise-filename").touch()
    assert Workspace(workdir).abandoned() == [workdir / "crowdwise-a1b2c3_d"]
