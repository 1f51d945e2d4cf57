"""The version of crowdwise, with the commit where it runs from a checkout of its repository."""

import subprocess
from pathlib import Path

from .. import __version__


def version_and_commit() -> str:
    """Return the version, and the commit if this is a checkout: "0.1.0 (commit 1900be5, changed since)"."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists() or not (root / "src" / "crowdwise").is_dir():
        return __version__  # an installed package
    asked = ["git", "-C", str(root), "describe", "--always", "--dirty=, changed since", "--exclude=*", "--abbrev=7"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):  # no git here, or another user's checkout
        return __version__
    return f"{__version__} (commit {done.stdout.strip()})"
