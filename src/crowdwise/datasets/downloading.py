"""`fetch`: download a dataset into the cache and verify its files."""

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeAlias

from ..errors import CallError, DataError
from ..partitions.workspace import Workspace
from ..system import first_line
from .catalog import find
from .checksums import checksum_like, verify
from .locations import address, cache_folder, complete_folder, how_to_provide
from .transfer import DownloadError, download

# Called with the name of a file, the bytes received so far, and the size of the file in bytes (0 if not known).
DownloadProgress: TypeAlias = Callable[[str, int, int], None]


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
            does if a file takes twenty times as long.
        again: Download it even if it is on this machine already, and replace what is in the cache.

    Raises:
        CallError: There is no dataset of this name, or CROWDWISE_DATASETS_URL is no address.
        DataError: The dataset cannot be downloaded, or its files are not those of the catalog.
    """
    dataset = find(name)
    existing = None if again else complete_folder(dataset, folder)
    target = cache_folder() / dataset.folder
    if existing is not None:
        if existing == target:
            verify(dataset, existing)
        return existing
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
                shown = partial(progress, f"{name}/{file}") if progress else lambda *_: None
                download(addresses[file], place.path / file, timeout, shown)
                found, kind = checksum_like(place.path / file, checksum)
                if found != checksum:
                    raise DownloadError(f"{addresses[file]} is another file than the catalog's: its {kind} is {found}")
            target.mkdir(exist_ok=True)
            for file in dataset.files:
                (place.path / file).replace(target / file)
    except DownloadError as problem:
        message = f"{name} could not be fetched: {problem}. {how_to_provide(dataset, folder)}"
        raise (UnreachableError(message, str(problem)) if problem.unreachable else DataError(message)) from problem
    except (OSError, CallError) as problem:
        raise DataError(f"{name} could not be kept in {target.parent}: {first_line(problem)}.") from problem
    return target
