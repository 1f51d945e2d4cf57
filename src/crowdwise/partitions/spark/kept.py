"""Files in which executors keep parts between jobs, so that the bytes of a part do not come from Java in every job.

The files are in the folders that Spark itself gives to an executor, beside its blocks, and Spark removes these folders
when the executor or the session ends. A file that is not there is no error: the part is then read from its row.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import polars as pl

from ...crowd.encoding import Grouped
from ...crowd.knowledge import gold_codes
from ...crowd.labels import Labels
from ..disk.part_files import Part, complete
from .about import About


def keep(folder: str, part: int, stored: Grouped | Labels, items: pl.Series) -> None:
    """Write the files of a part; if they cannot be written, such as on a full disk, there are none.

    They are written to a folder of another name first, which is renamed when it is complete. So a task never finds an
    incomplete folder, even if another task writes the same part at the same time.

    Args:
        folder: The name of the folder of the crowd; see `About.folder`.
        part: The number of the part.
        stored: The labels, as they are stored; not completed by what became known later.
        items: The names of the items.
    """
    place = _place(folder, part)
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=place.parent))
        try:
            Part(temporary, 0, len(items), len(stored.workers), stored.continued is not None).write(stored, items)
            shutil.rmtree(place, ignore_errors=True)  # this task found no files there, or not all of them
            temporary.rename(place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def find(part: int, items: int, labels: int, about: About) -> Labels | None:
    """Map the files of a part into memory; None if this executor does not have all of them.

    Args:
        part: The number of the part.
        items: The number of items in it.
        labels: The number of labels in it.
        about: What is known about the whole crowd.
    """
    files = Part(_place(about.folder, part), 0, items, labels, about.set_valued)
    if about.set_valued and not files.path("continued").is_file():
        return None  # where labels were sorted, it was not known yet that other parts have votes for several classes
    try:
        stored = files.load(about.numbered_names, about.dtype)
        gold = None if about.gold is None else gold_codes(files.item_names(integers=False), about.gold)
        return complete(stored, about.recoded, gold, about.known, about.n_labels)
    except OSError:  # they were removed, or cannot be read
        return None


def forget(folder: str) -> None:
    """Remove all files of a crowd from this executor."""
    for place in _local_folders():
        shutil.rmtree(place / folder, ignore_errors=True)


def _place(folder: str, part: int) -> Path:
    """Return the folder of a part; parts are spread over the disks that the executor has for such files."""
    places = _local_folders()
    return places[part % len(places)] / folder / str(part)


def _local_folders() -> list[Path]:
    """Return the executor's own folders, which Spark names to every Python process that it starts."""
    return [Path(name) for name in os.environ["SPARK_LOCAL_DIRS"].split(",")]
