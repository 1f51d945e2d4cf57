"""The catalog: what is known of every dataset. Its rows are in catalog.toml."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal

from ..data.encoding import Duplicates
from ..errors import CallError

Collection = Literal["paper", "extra", "numeric"]


@dataclass(frozen=True)
class Dataset:
    """A real crowd.

    Attributes:
        name: As on the command line.
        collection: "paper" (those of the BWA paper), "extra" (further crowds) or "numeric" (labels are numbers).
        question: What the workers were asked.
        citation: Who collected it.
        source: Where it is from.
        licence: As far as known.
        items: How many items there are; the other counts likewise.
        workers: How many workers.
        classes: How many classes; 0 where labels are numbers.
        labels: How many labels, without exact repeats.
        truths: How many items have a known truth.
        duplicates: What is done where one worker gave one item several labels.
        duplicates_reason: Why that.
        label_sha256: Of label.csv; empty where it is not known.
        truth_sha256: Of truth.csv.
        path: Its folder under the public address; None where its files must be provided.
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

    @property
    def folder(self) -> str:
        """Where its files are, under any folder of datasets."""
        return f"{self.collection}/{self.name}"

    @property
    def files(self) -> dict[str, str]:
        """Its files, and the SHA-256 that each must have."""
        return {"label.csv": self.label_sha256, "truth.csv": self.truth_sha256}


def _read() -> dict[str, Dataset]:
    text = resources.files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8")
    return {name: Dataset(name=name, **row) for name, row in tomllib.loads(text).items()}


CATALOG: Final[Mapping[str, Dataset]] = _read()


def find(name: str) -> Dataset:
    """The dataset of that name.

    >>> find("web").classes
    5
    """
    if name not in CATALOG:
        folded = {known.lower(): known for known in CATALOG}
        close = difflib.get_close_matches(name.lower(), folded, 1)
        hint = f" Did you mean {folded[close[0]]!r}?" if close else ""
        raise CallError(f"There is no dataset {name!r}; `crowdwise datasets` lists them.{hint}")
    return CATALOG[name]
