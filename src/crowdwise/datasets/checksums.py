"""Checksums of the files of a dataset: checked when they are downloaded, and whenever they are read again."""

import hashlib
from pathlib import Path
from typing import Final

from ..errors import DataError
from .catalog import Dataset

_GIT_BLOB_DIGITS: Final = 40


def checksum_like(path: Path, expected: str) -> tuple[str, str]:
    """Return the checksum of a file, of the same kind as the expected one, and what that kind is called."""
    content = path.read_bytes()
    if len(expected) == _GIT_BLOB_DIGITS:  # as `git hash-object` prints it
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest(), "git blob"
    return hashlib.sha256(content).hexdigest(), "SHA-256"


def verify(dataset: Dataset, folder: Path) -> None:
    """Raise `DataError` if a file in a folder of the cache does not have the checksum of the catalog."""
    if dataset.path is None:
        remedy = "replace it by the published file"
    else:
        remedy = f"`crowdwise datasets fetch {dataset.name} --again` downloads it again"
    for file, expected in dataset.files.items():
        try:
            found, kind = checksum_like(folder / file, expected)
        except OSError as problem:
            raise DataError(f"{folder / file} could not be read: {problem.strerror}; {remedy}.") from problem
        if found != expected:
            raise DataError(
                f"{folder / file} was changed since it was published: its {kind} is not {expected}; {remedy}."
            )
