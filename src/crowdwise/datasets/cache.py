"""Where the files of a dataset are: in the user's folder, in the cache, or at a public address."""

import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

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
    """Return the folder where downloaded datasets are kept, in the system's folder for caches."""
    from platformdirs import user_cache_path

    return user_cache_path("crowdwise", appauthor=False) / "datasets"


def address(dataset: Dataset, file: str) -> str:
    """Return the public address of a file. The user can set CROWDWISE_DATASETS_URL to use a mirror."""
    base = os.environ.get("CROWDWISE_DATASETS_URL") or _DEFAULT_ADDRESS
    return f"{base.rstrip('/')}/{quote(f'{dataset.path}/{file}')}"


def missing_files(dataset: Dataset, root: Path) -> list[str]:
    """Return the files of a dataset that a folder of datasets does not have."""
    return [file for file in dataset.files if not (root / dataset.folder / file).is_file()]


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
        looked = "no folder is named by CROWDWISE_DATA"
    else:
        looked = f"{given / dataset.folder} has no {' and no '.join(missing_files(dataset, given))}"
    return (
        f"Looked before that: {looked}; the cache {cache_folder() / dataset.folder} does not have it. To provide it, "
        f"name a folder with {dataset.folder}/{f' and {dataset.folder}/'.join(dataset.files)} by CROWDWISE_DATA. "
        f"It is from: {dataset.source}."
    )
