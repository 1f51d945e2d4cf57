"""What tests share."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real crowds. Tests that use it are marked `data`; they skip only where no folder is named."""
    named = os.environ.get("CROWDWISE_DATA")
    if not named:
        pytest.skip("CROWDWISE_DATA does not name a folder with real crowds")
    folder = Path(named)
    assert (folder / "paper").is_dir(), f"CROWDWISE_DATA={named} has no folder paper"
    return folder


@pytest.fixture(scope="session")
def golden(data: Path) -> Path:
    """The numbers to reproduce, which lie beside the real crowds."""
    folder = data.parent / "golden"
    assert folder.is_dir(), f"there is no {folder}"
    return folder


@pytest.fixture
def workdir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where work on disk happens in tests that use this."""
    folder = tmp_path_factory.mktemp("work")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser. Tests skip where there is none, unless CROWDWISE_BROWSER=required says that there must be one."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        if os.environ.get("CROWDWISE_BROWSER") == "required":
            pytest.fail("CROWDWISE_BROWSER=required, and there is no chromium: apt-get install chromium")
        pytest.skip("there is no chromium")
    from playwright.sync_api import sync_playwright

    # No sandbox, because containers often forbid it; no errands of the browser's own.
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    arguments += ["--disable-component-update", "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=arguments)
        yield opened
        opened.close()
