"""crowd-kit's datasets by name, from the same public addresses and into the same folder."""

import os
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile

import pandas as pd

from crowdwise.errors import CallError, DataError, did_you_mean
from crowdwise.system import first_line

__all__ = ["get_datasets_list", "load_dataset"]

_TOLOKA: Final = "https://tlk.s3.yandex.net/dataset/crowd-kit"
_NETEASE: Final = (
    "https://huggingface.co/datasets/liuhyuu/NetEaseCrowd/resolve/58cab8743581a2647dcc86590a5a2aaf5429fa8c/NetEaseCrowd"
)
_TIMEOUT: Final = 60.0


class _Source(NamedTuple):
    """Where a dataset is, and how its two files are read.

    Attributes:
        description: What it is.
        address: Its address without the ending: with .zip it is the dataset, with .md5 the MD5 of that.
        renamed: The columns of crowd_labels.csv that get other names; if `only`, all others are left out.
        truth: The columns of gt.csv with what the truth is about, and the truth.
        only: Whether to read the renamed columns alone.
    """

    description: str
    address: str
    renamed: Mapping[str, str] = {"performer": "worker"}
    truth: tuple[str, str] = ("task", "label")
    only: bool = False


def _speech(part: str) -> _Source:
    about = f"Transcriptions of speech by crowd workers, for the part {part} of LibriSpeech."
    renamed = {"output": "text", "performer": "worker"}
    return _Source(about, f"{_TOLOKA}/crowdspeech-{part}", renamed, ("task", "output"))


_SOURCES: Final[Mapping[str, _Source]] = {
    "relevance-2": _Source("Half a million labels: is a document relevant to a query?", f"{_TOLOKA}/relevance-2"),
    "relevance-5": _Source("A million labels: how relevant, from 1 to 5, is a document?", f"{_TOLOKA}/relevance-5"),
    "netease_crowd": _Source(
        "Six million labels of a million tasks by 2,400 workers of NetEase.",
        _NETEASE,
        {"taskId": "task", "workerId": "worker", "answer": "label"},
        ("taskId", "truth"),
        only=True,
    ),
    **{f"crowdspeech-{part}": _speech(part) for part in ("dev-clean", "test-clean", "dev-other", "test-other")},
    "imdb-wiki-sbs": _Source(
        "84,543 comparisons of two faces: who is older?", f"{_TOLOKA}/imdb-wiki-sbs", truth=("label", "score")
    ),
    "nist-trec-relevance": _Source("98,453 labels: is a web page relevant to a query?", f"{_TOLOKA}/relevance"),
}
_SEGMENTATIONS: Final = ("mscoco", "mscoco_small")


def get_datasets_list() -> list[tuple[str, str]]:
    """Return the name and the description of every dataset."""
    return [(name, source.description) for name, source in _SOURCES.items()]


def load_dataset(dataset: str, data_dir: str | os.PathLike[str] | None = None) -> tuple[Any, Any]:
    """Return the answers and the truth of a dataset, and download it first if it is not in the folder.

    Args:
        dataset: Its name.
        data_dir: The folder with datasets; None for the one that CROWDKIT_DATA names, or crowdkit_data at home.

    Returns:
        A DataFrame with the columns task, worker and label, and a Series true_label by task.

    Raises:
        CallError: There is no dataset of this name.
        DataError: It cannot be downloaded.
    """
    if dataset in _SEGMENTATIONS:
        raise CallError(f"{dataset} has segmentations, not labels, and crowdwise reads none: use crowd-kit itself.")
    if dataset not in _SOURCES:
        raise CallError(
            f"There is no dataset {dataset!r}; get_datasets_list() names them.{did_you_mean(dataset, _SOURCES)}"
        )
    source = _SOURCES[dataset]
    folder = Path(data_dir or os.environ.get("CROWDKIT_DATA") or Path.home() / "crowdkit_data").expanduser() / dataset
    if not folder.is_dir():
        _download(source.address, folder)
    columns = list(source.renamed) if source.only else None
    labels = pd.read_csv(folder / "crowd_labels.csv", usecols=columns).rename(columns=dict(source.renamed))
    if dataset == "imdb-wiki-sbs":  # its labels are sides, and are to be what is on that side
        left, right = labels["label"] == "left", labels["label"] == "right"
        labels["label"] = labels["label"].mask(left, labels["left"]).mask(right, labels["right"])
    about, truth = source.truth
    known = pd.read_csv(folder / "gt.csv").rename(columns={"taskId": "task"})
    return labels, known.set_index("task" if about == "taskId" else about)[truth].rename("true_label")


def _download(address: str, folder: Path) -> None:
    """Download a dataset, check its MD5, and unpack it; the folder is there when it is whole, and not before."""
    import pooch  # imported here because it is slow to import

    pooch.get_logger().setLevel("WARNING")
    get = partial(pooch.retrieve, downloader=pooch.HTTPDownloader(timeout=_TIMEOUT))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            md5 = Path(get(f"{address}.md5", None, path=place)).read_text().split()[0]
            files = get(f"{address}.zip", f"md5:{md5}", path=place, processor=pooch.Unzip())
            (labels,) = (Path(file) for file in files if Path(file).name == "crowd_labels.csv")
            labels.parent.rename(folder)
    except (OSError, ValueError, IndexError, BadZipFile) as problem:
        raise DataError(
            f"{address}.zip could not be downloaded: {first_line(problem)}. Try again, or unpack it "
            f"into {folder} by hand."
        ) from problem
