"""The catalog of datasets: what is known about each of them, as listed in catalog.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal

from ..crowd.read_options import Duplicates
from ..errors import CallError, did_you_mean, require_kind

# The groups of datasets, which are also the names of their folders.
Collection = Literal["paper", "extra", "numeric"]


@dataclass(frozen=True)
class Dataset:
    """A published dataset: labels by real workers, and the truth of some items.

    Attributes:
        name: The name, which is also used on the command line.
        collection: "paper" (used in the BWA paper), "extra" (further datasets) or "numeric" (labels are numbers).
        question: What the workers were asked.
        citation: The publication of those who collected it.
        source: Where the files are from.
        licence: The licence, if it is known.
        items: The number of items.
        workers: The number of workers.
        classes: The number of classes; 0 if labels are numbers.
        labels: The number of labels, without exact repeats.
        truths: The number of items with a known truth.
        duplicates: What to do where one worker gave one item several labels.
        duplicates_reason: Why `duplicates` has this value.
        label_sha256: The SHA-256 of label.csv; empty if only its git blob is known.
        truth_sha256: The SHA-256 of truth.csv.
        path: The folder under the public address; None if the user must provide the files.
        label_git_blob: What `git hash-object` prints for label.csv, where its SHA-256 is not known.
    """

    name: str
    collection: Collection
    question: str
    citation: str
    source: str
    licence: str
    items: int
    workers: int
    classes: int
    labels: int
    truths: int
    duplicates: Duplicates
    duplicates_reason: str
    label_sha256: str
    truth_sha256: str
    path: str | None = None
    label_git_blob: str = ""

    @property
    def folder(self) -> str:
        """The folder with the files of this dataset, relative to a folder of datasets."""
        return f"{self.collection}/{self.name}"

    @property
    def files(self) -> dict[str, str]:
        """The names of the files, and the checksum that each must have: a SHA-256 or a git blob."""
        return {"label.csv": self.label_sha256 or self.label_git_blob, "truth.csv": self.truth_sha256}


def _read_catalog() -> dict[str, Dataset]:
    """Read catalog.toml."""
    text = resources.files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: Dataset(name=name, **row) for name, row in tomllib.loads(text).items()}


CATALOG: Final[Mapping[str, Dataset]] = _read_catalog()


def find(name: str) -> Dataset:
    """Return the dataset of this name. Raises `CallError` if there is none.

    >>> find("web").classes
    5
    """
    require_kind("The name of a dataset", name, str, "text")
    if name not in CATALOG:
        hint = did_you_mean(name, list(CATALOG))
        raise CallError(f"There is no dataset {name!r}; `crowdwise datasets` lists them.{hint}")
    return CATALOG[name]
