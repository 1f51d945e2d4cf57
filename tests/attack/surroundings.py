"""What is in a folder, so that what a run made, changed or removed can be told."""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path


def contents(*folders: Path) -> dict[str, str]:
    """Everything inside the folders, by path: its kind, its permissions, and what is in it."""
    found: dict[str, str] = {}
    for folder in folders:
        for place, names, files in os.walk(folder):
            for name in (*names, *files):
                path = Path(place, name)
                found[os.fspath(path)] = _described(path)
    return found


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The paths that differ, and in which way."""
    made = dict.fromkeys(sorted(after.keys() - before.keys()), "made")
    removed = dict.fromkeys(sorted(before.keys() - after.keys()), "removed")
    changed = {path: "changed" for path in before if path in after and before[path] != after[path]}
    return made | removed | changed


def _described(path: Path) -> str:
    """The kind, the permissions and the content of one file, link or folder, in a text."""
    state = path.lstat()
    inside = ""
    if stat.S_ISLNK(state.st_mode):
        inside = os.fspath(path.readlink())
    elif stat.S_ISREG(state.st_mode):
        with path.open("rb") as file:
            inside = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{stat.filemode(state.st_mode)} {inside}"
