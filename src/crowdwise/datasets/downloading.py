"""`fetch`: download a dataset into the cache and verify its files."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from textwrap import shorten
from typing import Final, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.request import Request

from ..errors import CallError, DataError
from ..partitions.workspace import Workspace
from ..system import first_line
from .bounded import LimitError, Limits, open_bounded
from .cache import address, cache_folder, complete_folder, how_to_provide
from .catalog import find
from .checksums import RECORD, checksum_like, record, verify
from .files import read

# Called with the name of a file, the bytes received so far, and the size of the file in bytes (0 if not known).
DownloadProgress: TypeAlias = Callable[[str, int, int], None]

_ATTEMPTS: Final = 3
_BLOCK_BYTES: Final = 1 << 16
# The largest file that is downloaded; those of the catalog have at most a tenth of this.
_MOST_BYTES: Final = 100_000_000
# How many times as long as an answer a whole file may take.
_PATIENCE: Final = 20
# How much of what a server says is repeated in a message.
_MOST_CHARACTERS: Final = 120


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
    again: bool = False,
) -> Path:
    """Make sure that a dataset is on this machine, and return its folder.

    The dataset is downloaded only if neither the folder of the user nor the cache has it. Files in the cache are
    checked whenever they are used; those in a folder of the user are as the user wants them.

    Args:
        name: The name of the dataset; one of `CATALOG`.
        folder: A folder that contains paper/, extra/ and numeric/; None for the one that CROWDWISE_DATA names.
        progress: Called with the name of a file, the bytes received so far and its size in bytes (0 if not known).
        timeout: How many seconds to wait for an answer before trying again. The third time, `fetch` gives up, and so it
            does if a file takes twenty times as long in total.
        again: Download it even if it is on this machine already, and replace what is in the cache.

    Raises:
        CallError: There is no dataset of this name, or CROWDWISE_DATASETS_URL is no address.
        DataError: The dataset cannot be downloaded, or its files are not those of the catalog.
    """
    dataset = find(name)
    found = None if again else complete_folder(dataset, folder)
    target = cache_folder() / dataset.folder
    if found is not None:
        if found == target:
            verify(dataset, found)
        return found
    if dataset.path is None:
        raise DataError(
            f"{name} cannot be downloaded: no public address has it in this form. {how_to_provide(dataset, folder)}"
        )
    addresses = {file: address(dataset, file) for file in dataset.files}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with closing(Workspace(target.parent)) as place:
            for left in place.abandoned():  # by downloads that were killed
                shutil.rmtree(left, ignore_errors=True)
            for file, checksum in dataset.files.items():
                _download(addresses[file], f"{name}/{file}", checksum, place.path / file, progress, timeout)
            read(dataset, place.path)
            record(place.path, list(dataset.files))
            target.mkdir(exist_ok=True)
            for file in (RECORD, *dataset.files):
                (place.path / file).replace(target / file)
    except _FetchError as problem:
        message = f"{name} could not be fetched: {problem}. {how_to_provide(dataset, folder)}"
        raise (UnreachableError(message, str(problem)) if problem.unreachable else DataError(message)) from problem
    except (OSError, CallError) as problem:
        raise DataError(f"{name} could not be kept in {target.parent}: {first_line(problem)}.") from problem
    return target


class _FetchError(Exception):
    """A file could not be downloaded, or is not the expected one.

    Args:
        message: What happened.
        unreachable: Whether no server answered.
        passing: Whether another attempt may succeed.
    """

    def __init__(self, message: str, unreachable: bool = False, passing: bool = False) -> None:
        super().__init__(message)
        self.unreachable = unreachable
        self.passing = passing


def _download(
    url: str, label: str, checksum: str, target: Path, progress: DownloadProgress | None, timeout: float
) -> None:
    """Download one file in up to three attempts, each continuing where the last one stopped, and check it.

    Args:
        url: The address of the file.
        label: The name of the file for `progress`.
        checksum: The SHA-256 or git blob that it must have; empty if neither is known.
        target: Where to write it.
        progress: Called with `label`, the bytes received so far and the size of the file (0 if not known).
        timeout: How many seconds to wait for an answer.
    """
    limits = Limits(_PATIENCE * timeout, _MOST_BYTES)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _receive(url, target, timeout, limits, partial(progress, label) if progress else lambda *_: None)
            break
        except _FetchError as problem:
            if not problem.passing or attempt == _ATTEMPTS:
                raise
    found, kind = checksum_like(target, checksum)
    if checksum and found != checksum:
        raise _FetchError(f"{url} is another file than the catalog's: its {kind} is {found}")


def _receive(url: str, target: Path, timeout: float, limits: Limits, progress: Callable[[int, int], None]) -> None:
    """Append the missing bytes to a file; start again from the beginning if the server cannot send parts of files."""
    received = target.stat().st_size if target.exists() else 0
    headers = {"User-Agent": "crowdwise"} | ({"Range": f"bytes={received}-"} if received else {})
    with _explaining(url):
        try:
            opened = open_bounded(Request(url, headers=headers), timeout, limits)
        except TimeoutError as problem:  # connected but no answer: urllib raises no URLError then
            raise URLError(problem) from problem
    with opened as answer:
        if answer.status != 206:
            received = 0
        length = answer.headers.get("Content-Length") or ""
        # What is no number says nothing, as if it had not been sent.
        total = received + int(length) if re.fullmatch("[0-9]{1,18}", length) else 0
        with _explaining(url):
            limits.require(total - received)
        with target.open("ab" if received else "wb") as file:
            while True:
                with _explaining(url):
                    block = answer.read(_BLOCK_BYTES)
                if not block:
                    break
                file.write(block)
                received += len(block)
                progress(received, total)
    with _explaining(url):
        if received < total:
            raise OSError(f"the answer ended after {received:,} of {total:,} bytes")


@contextmanager
def _explaining(url: str) -> Iterator[None]:
    """Turn what goes wrong between a server and this machine into a `_FetchError` that says so."""
    try:
        yield
    except LimitError as problem:
        raise _FetchError(f"{url} {problem}") from problem
    except HTTPError as problem:
        problem.close()
        told = shorten(str(problem.reason), _MOST_CHARACTERS)
        raise _FetchError(f"{url} answered {problem.code} {told}", passing=problem.code >= 500) from problem
    except (HTTPException, OSError) as problem:
        reason = getattr(problem, "reason", None) or problem
        # A mirror may be a folder on this machine (file://), which lacks this file but may have others.
        unreachable = isinstance(problem, URLError) and not isinstance(reason, FileNotFoundError)
        done = f"{'reached' if unreachable else 'read'} in {_ATTEMPTS} attempts"
        told = shorten(str(reason) or type(reason).__name__, _MOST_CHARACTERS)
        raise _FetchError(f"{url} could not be {done}: {told}", unreachable, passing=True) from problem
    except (ValueError, OverflowError) as problem:  # such as a redirection to what is no address
        told = shorten(str(problem), _MOST_CHARACTERS)
        raise _FetchError(f"{url} answered what makes no sense: {told}") from problem
