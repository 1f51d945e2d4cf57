"""`fetch`: download a dataset into the cache and verify its files."""

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
from .cache import address, cache_folder, complete_folder, how_to_provide
from .catalog import Dataset, find
from .files import read

# Called with the name of a file, the bytes received so far, and the size of the file in bytes (0 if not known).
DownloadProgress: TypeAlias = Callable[[str, int, int], None]

_ATTEMPTS: Final = 3
_BLOCK_BYTES: Final = 1 << 16


class UnreachableError(DataError):
    """No server answered, so that trying to download other datasets from the same address is useless.

    Args:
        message: The whole message.
        reason: The part of the message that says what was tried and what happened.

    Attributes:
        reason: The same part of the message.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def fetch(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    progress: DownloadProgress | None = None,
    timeout: float = 30.0,
) -> Path:
    """Make sure that a dataset is on this machine, and return its folder.

    The dataset is downloaded only if neither the folder of the user nor the cache has it.

    Args:
        name: The name of the dataset; one of `CATALOG`.
        folder: A folder that contains paper/, extra/ and numeric/; None for the one that CROWDWISE_DATA names.
        progress: Called with the name of a file, the bytes received so far and its size in bytes (0 if not known).
        timeout: How many seconds to wait for an answer before trying again. The third time, `fetch` gives up.

    Raises:
        CallError: There is no dataset of this name.
        DataError: The dataset cannot be downloaded, or its files are not those of the catalog.
    """
    dataset = find(name)
    found = complete_folder(dataset, folder)
    if found is not None:
        return found
    if dataset.path is None:
        raise DataError(
            f"{name} cannot be downloaded: no public address has it in this form. {how_to_provide(dataset, folder)}"
        )
    target = cache_folder() / dataset.folder
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The files are downloaded to a hidden temporary folder, which is moved when they are complete and verified.
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as temporary:
            fetched = Path(temporary) / name
            fetched.mkdir()
            for file, sha256 in dataset.files.items():
                _download(dataset, file, sha256, fetched / file, progress, timeout)
            read(dataset, fetched)
            _move_into_cache(fetched, target, dataset)
    except _FetchError as problem:
        message = f"{name} could not be fetched: {problem}. {how_to_provide(dataset, folder)}"
        raise (UnreachableError(message, str(problem)) if problem.unreachable else DataError(message)) from problem
    except OSError as problem:
        raise DataError(f"{name} could not be kept in {target.parent}: {problem}.") from problem
    return target


class _FetchError(Exception):
    """A file could not be downloaded, or is not the expected one.

    Args:
        message: What happened.
        unreachable: Whether no server answered.
    """

    def __init__(self, message: str, unreachable: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable


def _download(
    dataset: Dataset, file: str, sha256: str, target: Path, progress: DownloadProgress | None, timeout: float
) -> None:
    """Download one file in up to three attempts, each continuing where the last one stopped, and check its SHA-256."""
    url = address(dataset, file)
    label = f"{dataset.name}/{file}"
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _receive(
                url, target, timeout, lambda received, total: progress(label, received, total) if progress else None
            )
            break
        except HTTPError as problem:
            problem.close()
            if problem.code < 500 or attempt == _ATTEMPTS:
                raise _FetchError(f"{url} answered {problem.code} {problem.reason}") from problem
        except (HTTPException, OSError) as problem:
            if attempt == _ATTEMPTS:
                reason = getattr(problem, "reason", None) or problem
                # A mirror may be a folder on this machine (file://), which lacks this file but may have others.
                unreachable = isinstance(problem, URLError) and not isinstance(reason, FileNotFoundError)
                done = "reached" if unreachable else "read"
                message = f"{url} could not be {done} in {_ATTEMPTS} attempts: {reason}"
                raise _FetchError(message, unreachable) from problem
    found = hashlib.sha256(target.read_bytes()).hexdigest()
    if sha256 and found != sha256:
        raise _FetchError(f"{url} is another file than the catalog's: its SHA-256 is {found}, it should be {sha256}")


def _receive(url: str, target: Path, timeout: float, progress: Callable[[int, int], None]) -> None:
    """Append the missing bytes to a file; start again from the beginning if the server cannot send parts of files."""
    received = target.stat().st_size if target.exists() else 0
    headers = {"User-Agent": "crowdwise"} | ({"Range": f"bytes={received}-"} if received else {})
    try:
        opened = urlopen(Request(url, headers=headers), timeout=timeout)
    except TimeoutError as problem:  # connected but no answer: urllib raises no URLError then
        raise URLError(problem) from problem
    with opened as answer:
        if answer.status != 206:
            received = 0
        length = answer.headers.get("Content-Length")
        total = received + int(length) if length else 0
        with target.open("ab" if received else "wb") as file:
            while block := answer.read(_BLOCK_BYTES):
                file.write(block)
                received += len(block)
                progress(received, total)
    if received < total:
        raise OSError(f"the answer ended after {received:,} of {total:,} bytes")


def _move_into_cache(fetched: Path, target: Path, dataset: Dataset) -> None:
    """Rename the folder with the downloaded files to its place in the cache.

    If that fails because another process has just put the same files there, those are used.
    """
    try:
        if target.is_dir():  # incomplete files, which must have been put there by hand
            for file in dataset.files:
                (target / file).unlink(missing_ok=True)
            target.rmdir()
        fetched.rename(target)
    except OSError:
        if complete_folder(dataset) is None:
            raise
