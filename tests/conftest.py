"""The fixtures that several test files use."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from crowdwise.numerics.twins import kernels_only
from tests.support import commands
from tests.support.commands import Command
from tests.support.engines import Engine, in_memory, on_disk_in, on_spark, start_spark

# The same examples in every run, however long a busy machine takes for them.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

# Tests send SIGHUP to what they start, which would ignore it if these tests ran under `nohup`.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests/test_spark*.py last: some of them stop the Spark session that all others share."""
    items.sort(key=lambda item: item.path.name.startswith("test_spark"))


@pytest.fixture(scope="session", autouse=True)
def kernels_if_checked() -> Iterator[None]:
    """Run kernels on crowds of any size where their indices are checked: that is what `make test-bounds` is for."""
    if os.environ.get("NUMBA_BOUNDSCHECK") == "1":
        with kernels_only():
            yield
    else:
        yield


_IN_SPARK = pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.filterwarnings("ignore")])


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real datasets. Tests that use it are marked `data`; they are skipped if no folder is named."""
    named = os.environ.get("CROWDWISE_DATA")
    if not named:
        pytest.skip("CROWDWISE_DATA does not name a folder with real crowds")
    folder = Path(named)
    assert (folder / "paper").is_dir(), f"CROWDWISE_DATA={named} has no folder paper"
    return folder


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """The folder of published numbers that the tests compare with; it is beside the real datasets."""
    folder = data.parent / "golden"
    assert folder.is_dir(), f"there is no {folder}"
    return folder


@pytest.fixture
def run() -> Command:
    """Runs a command in this process."""
    return commands.run


@pytest.fixture
def workdir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of the disk engine in this test."""
    folder = tmp_path_factory.mktemp("work")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser. Tests are skipped if there is none; with CROWDWISE_BROWSER=required they fail instead."""
    from playwright.sync_api import Error, sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    # macOS and Windows have no browser on the path, but playwright knows where Chrome is installed there.
    where: Any = {"executable_path": found} if found else {"channel": "chrome"}
    # No sandbox, because containers often forbid it. The other options stop network traffic of the browser itself.
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    arguments += ["--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(args=arguments, **where)
        except Error as problem:
            if found or os.environ.get("CROWDWISE_BROWSER") == "required":
                pytest.fail(
                    f"CROWDWISE_BROWSER=required, and there is no chromium: apt-get install chromium ({problem})"
                )
            pytest.skip("there is no chromium")
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A real Spark session on this machine, which runs a failed task up to three times."""
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    session = start_spark("local[2,3]")
    yield session
    session.stop()


@pytest.fixture(params=["memory", "disk", _IN_SPARK])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """Every engine, one after the other; Spark only in a run with `-m spark`."""
    if request.param == "memory":
        return in_memory()
    if request.param == "disk":
        return on_disk_in(tmp_path_factory.mktemp("rows"))
    return on_spark(request.getfixturevalue("spark_session"))
