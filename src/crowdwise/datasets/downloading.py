"""Datasets from their public address into the cache: whole and verified, or not at all."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Final, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from ..errors import DataError
from .cache import address, cache_folder, where_to_put, whole_in
from .catalog import Dataset, find
from .files import read

# Called with the name of the file, the bytes that have come, and the bytes there are, 0 if that is not known.
Progress: TypeAlias = Callable[[str, int, int], None]

_ATTEMPTS: Final = 3
_BLOCK: Final = 1 << 16


class UnreachableError(DataError):
    """No server answered at all, so that trying other datasets at the same address is of no use.

    Attributes:
        reason: What was tried and what happened, without what to do for this dataset.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def fetch(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Make sure that a dataset is on this machine, and say in which folder.

    What is there already, in the folder given, in the one that CROWDWISE_DATA names or in the cache, is not fetched
    again.

    Args:
        name: One of `CATALOG`.
        folder: A folder with paper/, extra/ and numeric/ to look in first.
        progress: Called with the file, the bytes that came and the bytes there are.
        timeout: Seconds without an answer after which to try again, and after the third time to give up.
    """
    dataset = find(name)
    found = whole_in(dataset, folder)
    if found is not None:
        return found
    if dataset.path is None:
        raise DataError(
            f"{name} cannot be downloaded: no public address has it in this form. {where_to_put(dataset, folder)}"
        )
    target = cache_folder() / dataset.folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Both files come to a folder that looks like nothing, which is renamed when they are whole.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as temporary:
            fetched = Path(temporary) / name
            fetched.mkdir()
            for file, sha256 in dataset.files.items():
                _download(dataset, file, sha256, fetched / file, progress, timeout)
            read(dataset, fetched)
            _put(fetched, target, dataset)
    except _FetchError as problem:
        message = f"{name} could not be fetched: {problem}. {where_to_put(dataset, folder)}"
        raise (UnreachableError(message, str(problem)) if problem.unreachable else DataError(message)) from problem
    except OSError as problem:
        raise DataError(f"{name} could not be kept in {target.parent}: {problem}.") from problem
    return target


class _FetchError(Exception):
    """The file did not come, or is not the one that was meant; `unreachable` if no server answered."""

    def __init__(self, message: str, unreachable: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable


def _download(
    dataset: Dataset, file: str, sha256: str, target: Path, progress: Progress | None, timeout: float
) -> None:
    """One file, in up to three attempts that each continue where the one before ended."""
    url = address(dataset, file)
    label = f"{dataset.name}/{file}"
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _receive(url, target, timeout, lambda came, total: progress(label, came, total) if progress else None)
            break
        except HTTPError as problem:
            problem.close()
            if problem.code < 500 or attempt == _ATTEMPTS:
                raise _FetchError(f"{url} answered {problem.code} {problem.reason}") from problem
        except (HTTPException, OSError) as problem:
            if attempt == _ATTEMPTS:
                reason = getattr(problem, "reason", None) or problem
                # A mirror can be a folder, file://, which lacks this file and may have the others.
                unreachable = isinstance(problem, URLError) and not isinstance(reason, FileNotFoundError)
                done = "reached" if unreachable else "read"
                message = f"{url} could not be {done} in {_ATTEMPTS} attempts: {reason}"
                raise _FetchError(message, unreachable) from problem
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if sha256 and found != sha256:
        raise _FetchError(f"{url} is another file than the catalog's: its SHA-256 is {found}, it should be {sha256}")


def _receive(url: str, target: Path, timeout: float, progress: Callable[[int, int], None]) -> None:
    """Append to a file what it lacks; from the start if the server does not send parts."""
    here = target.stat().st_size if target.exists() else 0
    headers = {"User-Agent": "crowdwise"} | ({"Range": f"bytes={here}-"} if here else {})
    try:
        opened = urlopen(Request(url, headers=headers), timeout=timeout)
    except TimeoutError as problem:  # connected, but no answer began: urllib does not make a URLError of that
        raise URLError(problem) from problem
    with opened as answer:
        if answer.status != 206:
            here = 0
        length = answer.headers.get("Content-Length")
        total = here + int(length) if length else 0
        with target.open("ab" if here else "wb") as file:
            while block := answer.read(_BLOCK):
                file.write(block)
                here += len(block)
                progress(here, total)
    if here < total:
        raise OSError(f"the answer ended after {here:,} of {total:,} bytes")


def _put(fetched: Path, target: Path, dataset: Dataset) -> None:
    """Rename the folder into its place; if another process was faster with the same files, theirs will do."""
    try:
        if target.is_dir():  # something incomplete that a person left there
            for file in dataset.files:
                (target / file).unlink(missing_ok=True)
            target.rmdir()
        fetched.rename(target)
    except OSError:
        if whole_in(dataset) is None:
            raise
