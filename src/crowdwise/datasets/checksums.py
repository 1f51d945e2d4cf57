"""Checksums of the files of a dataset: checked when they are downloaded, and whenever they are read again."""

import hashlib
import re
from pathlib import Path
from typing import Final

from ..errors import DataError
from .catalog import Dataset

# The file beside downloaded files with their SHA-256, one a line, as `sha256sum --check` reads it.
RECORD: Final = "SHA256SUMS"
_GIT_BLOB_DIGITS: Final = 40


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, which is not read into memory at once."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def git_blob_of(path: Path) -> str:
    """Return the id that git gives to a file, as `git hash-object` prints it."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def checksum_like(path: Path, expected: str) -> tuple[str, str]:
    """Return the checksum of a file, of the same kind as the expected one, and what that kind is called."""
    if len(expected) == _GIT_BLOB_DIGITS:
        return git_blob_of(path), "git blob"
    return sha256_of(path), "SHA-256"


def record(folder: Path, files: list[str]) -> None:
    """Write the SHA-256 of these files of a folder beside them."""
    text = "".join(f"{sha256_of(folder / file)}  {file}\n" for file in files)
    (folder / RECORD).write_text(text, encoding="utf-8")


def verify(dataset: Dataset, folder: Path) -> None:
    """Raise `DataError` if a file in a folder of the cache is not the one that was downloaded.

    Its checksum must be that of the catalog or, where the catalog has none, the recorded one. A file for which neither
    is known was put there by hand, and is not checked.
    """
    recorded = _recorded(folder)
    if dataset.path is None:
        remedy = "replace it by the published file"
    else:
        remedy = f"`crowdwise datasets fetch {dataset.name} --again` downloads it again"
    for file, known in dataset.files.items():
        expected = known or recorded.get(file, "")
        try:
            found, kind = checksum_like(folder / file, expected)
        except OSError as problem:
            raise DataError(f"{folder / file} could not be read: {problem.strerror}; {remedy}.") from problem
        if expected and found != expected:
            raise DataError(
                f"{folder / file} was changed since it was published: its {kind} is not {expected}; {remedy}."
            )


def _recorded(folder: Path) -> dict[str, str]:
    """Return the recorded SHA-256 of each file; without a record, nothing."""
    try:
        text = (folder / RECORD).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {file: sha256 for sha256, file in re.findall(r"^([0-9a-f]{64})  (.+)$", text, re.MULTILINE)}
