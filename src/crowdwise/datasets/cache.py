"""Where the files of a dataset can be: a folder of the user's, the cache, a public address."""

import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

from .catalog import Dataset

# The commit is part of the address, so that what is there cannot change.
_ADDRESS: Final = (
    "https://raw.githubusercontent.com/yuan-li/truth-inference-at-scale/ff6d32971fb3ca17e2f0c784a126d8b26495dbce/data"
)


def given_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder that the user names, in the call or as CROWDWISE_DATA."""
    named = os.fspath(folder) if folder is not None else os.environ.get("CROWDWISE_DATA")
    return Path(named) if named else None


def cache_folder() -> Path:
    """Where downloads are kept: the platform's folder for caches."""
    from platformdirs import user_cache_path

    return user_cache_path("crowdwise", appauthor=False) / "datasets"


def address(dataset: Dataset, file: str) -> str:
    """The public address of a file; CROWDWISE_DATASETS_URL names a mirror."""
    base = os.environ.get("CROWDWISE_DATASETS_URL") or _ADDRESS
    return f"{base.rstrip('/')}/{quote(f'{dataset.path}/{file}')}"


def missing_files(dataset: Dataset, root: Path) -> list[str]:
    """Which of a dataset's files a folder of datasets lacks."""
    return [file for file in dataset.files if not (root / dataset.folder / file).is_file()]


def whole_in(dataset: Dataset, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The first folder that has all files of a dataset, the user's before the cache; None if neither has."""
    for root in (given_folder(folder), cache_folder()):
        if root is not None and not missing_files(dataset, root):
            return root / dataset.folder
    return None


def where_to_put(dataset: Dataset, folder: str | os.PathLike[str] | None = None) -> str:
    """What was looked for and where, and how to provide it: the end of every error about a missing dataset."""
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
