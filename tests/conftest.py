"""What tests share."""

import os
from pathlib import Path

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
