"""Where the files of a dataset are: in the user's folder, in the cache, or at a public address."""

import os
from pathlib import Path
from textwrap import shorten
from typing import Final
from urllib.parse import quote, urlsplit

from ..errors import CallError
from .catalog import Dataset

# The address contains a commit, so that the files there cannot change.
_DEFAULT_ADDRESS: Final = (
    "https://raw.githubusercontent.com/yuan-li/truth-inference-at-scale/ff6d32971fb3ca17e2f0c784a126d8b26495dbce/data"
)


def given_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder of datasets that the user names, in the call or as CROWDWISE_DATA; None without one."""
    named = os.fspath(folder) if folder is not None else os.environ.get("CROWDWISE_DATA")
    return Path(named) if named else None


def cache_folder() -> Path:
    """Return the folder where downloaded datasets are kept, in the system's folder for caches.

    Raises:
        CallError: The user has no home to keep them in.
    """
    from platformdirs import user_cache_path

    try:
        return user_cache_path("crowdwise", appauthor=False) / "datasets"
    except RuntimeError as problem:
        raise CallError("This user has no home to keep datasets in; set XDG_CACHE_HOME or CROWDWISE_DATA.") from problem


def address(dataset: Dataset, file: str) -> str:
    """Return the public address of a file. The user can set CROWDWISE_DATASETS_URL to use a mirror.

    Raises:
        CallError: The mirror has no address of the kind that files can be downloaded from.
    """
    base = os.environ.get("CROWDWISE_DATASETS_URL") or _DEFAULT_ADDRESS
    if not _is_address(base):
        raise CallError(
            f"CROWDWISE_DATASETS_URL is {shorten(base, 100)!r}, which is no address to download from: write it as "
            "https://host/folder, or as file:///folder for a folder on this machine."
        )
    return f"{base.rstrip('/')}/{quote(f'{dataset.path}/{file}')}"


def _is_address(text: str) -> bool:
    """Return whether this is the address of a web server, or of a folder on this machine."""
    if not text.isascii() or not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port  # both raise ValueError if they make no sense
        host.encode("idna")
    except ValueError:
        return False
    if parts.scheme == "file":
        return not host and bool(parts.path)
    return parts.scheme in ("http", "https") and bool(host) and port != 0 and parts.username is None


def missing_files(dataset: Dataset, root: Path) -> list[str]:
    """Return the files of a dataset that a folder of datasets does not have."""

    def is_there(file: str) -> bool:
        try:
            return (root / dataset.folder / file).is_file()
        except OSError:  # such as a folder that may not be entered
            return False

    return [file for file in dataset.files if not is_there(file)]


def complete_folder(dataset: Dataset, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder with all files of a dataset; None if there is none on this machine.

    Args:
        dataset: The dataset.
        folder: A folder of datasets; None for the one that CROWDWISE_DATA names. It is preferred to the cache.
    """
    for root in (given_folder(folder), cache_folder()):
        if root is not None and not missing_files(dataset, root):
            return root / dataset.folder
    return None


def how_to_provide(dataset: Dataset, folder: str | os.PathLike[str] | None = None) -> str:
    """Return the end of the error about a missing dataset: where it was looked for, and how to provide it."""
    given = given_folder(folder)
    if given is None:
        looked = "CROWDWISE_DATA names no folder"
    else:
        looked = f"{given / dataset.folder} has no {' and no '.join(missing_files(dataset, given))}"
    source = f" It is from: {dataset.source}." if dataset.path is None else ""
    return (
        f"Before that, {looked}, and the cache {cache_folder() / dataset.folder} lacks it. To provide it, name a "
        f"folder with {dataset.folder}/{f' and {dataset.folder}/'.join(dataset.files)} by CROWDWISE_DATA.{source}"
    )
