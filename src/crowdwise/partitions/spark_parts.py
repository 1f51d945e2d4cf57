"""The parts of `LabelsOnSpark`: each is one Arrow row, and a copy of it in files of the executor.

The row holds the arrays of `Labels` as bytes. The files are a cache, so that these bytes do not come from Java in every
job. They are in the folders that Spark itself gives to an executor, beside its blocks, and Spark removes these folders
when the executor or the session ends. If a file is not there, the part is read from its row.
"""

import io
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from ..crowd.item_sketch import sketch
from ..crowd.knowledge import gold_classes
from ..crowd.labels import Labels
from ..crowd.sorting import LabelArrays, SortCounts, SortedRows
from ..errors import DataError
from .crowd_meta import CrowdMeta
from .part_files import PartFiles

# The columns of a part that are small, with their types for Spark: its number, counts, the first conflict if any, and
# why its rows cannot be used if that is so.
_COUNTS: Final = dict.fromkeys(SortCounts.names(), "int")
_SMALL_COLUMNS: Final = {"part": "long", **_COUNTS, "conflict": "binary", "problem": "string"}
# The other columns: the arrays of `Labels` as bytes, and the names of the items as an Arrow file.
_COLUMNS: Final = _SMALL_COLUMNS | dict.fromkeys(
    (*(f"{name}_bytes" for name in LabelArrays._fields), "names"), "binary"
)
_ARROW_TYPES: Final = {"long": pa.int64(), "int": pa.int32(), "binary": pa.binary(), "string": pa.string()}
_ARROW_SCHEMA: Final = pa.schema({name: _ARROW_TYPES[kind] for name, kind in _COLUMNS.items()})
_SKETCHES: Final = pa.schema({"sketch": pa.binary()})


class StoredParts:
    """The parts of a crowd, one row for each part, stored by Spark.

    Spark stores all columns on the disks of the executors, where they are needed again only if an executor has lost its
    files of a part. A table of the small columns alone is stored in memory: jobs run over its rows, so that Spark runs
    them on the executors that have the files. If an executor ends, Spark makes its rows again, and the files with them.

    Args:
        rows: The rows of labels, of which Spark has all rows of an item in one partition; see `_sort_partition`.
        sort: Sorts the rows of a part.
        folder: The name of the folder in which executors cache the parts of this crowd.

    Attributes:
        folder: The name of the folder.
        whole: The table with all columns.
        small: The table with the small columns.
    """

    def __init__(self, rows: DataFrame, sort: Callable[[pl.DataFrame], SortedRows], folder: str) -> None:
        self.folder = folder
        schema = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        parts = rows.mapInArrow(partial(_sort_partition, sort=sort, folder=folder), schema)
        self.whole = parts.persist(StorageLevel.DISK_ONLY)
        self.small = self.whole.select(*_SMALL_COLUMNS).persist(StorageLevel.MEMORY_AND_DISK)

    def remove(self) -> None:
        """Remove the parts from the executors, and their files."""
        self.small.select("part").mapInArrow(partial(_remove_cache, folder=self.folder), "part long").collect()
        self.small.unpersist()
        self.whole.unpersist()


def item_names(row: dict[str, Any]) -> pl.Series:
    """Return the names of the items of a part."""
    return pl.read_ipc(io.BytesIO(row["names"])).to_series()


def sketch_items(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sketch of the items of every part; see crowd/item_sketch.py."""
    for row in _rows(batches):
        yield pa.RecordBatch.from_pylist([{"sketch": sketch(item_names(row)).tobytes()}], _SKETCHES)


def cached_parts(
    batches: Iterator[pa.RecordBatch], meta: CrowdMeta, folder: str
) -> Iterator[tuple[int, Labels | None]]:
    """Yield the number of every part that has items, and its labels; None if this executor lacks a file of it.

    Args:
        batches: Rows of the small columns.
        meta: What all parts know of the crowd.
        folder: The name of the folder of the crowd.
    """
    for row in _rows(batches):
        files = PartFiles(_cache_of(folder, row["part"]), 0)
        try:
            stored = files.load(meta.dtype)
            gold = None if meta.gold is None else gold_classes(files.item_names(), meta.gold)
        except OSError:  # they were removed, or cannot be read
            yield row["part"], None
            continue
        # Where labels were sorted, it was not known yet that other parts have votes for several classes.
        lacks_file = meta.set_valued and stored.continued is None
        yield row["part"], None if lacks_file else meta.part(stored, gold)


def stored_parts(
    batches: Iterator[pa.RecordBatch], meta: CrowdMeta, folder: str | None = None
) -> Iterator[tuple[dict[str, Any], Labels]]:
    """Yield every part that has items: its row as a dictionary, and its labels.

    Args:
        batches: Rows of all columns.
        meta: What all parts know of the crowd.
        folder: The name of the folder of the crowd, to cache the parts in files; None to cache none.
    """
    for row in _rows(batches):

        def array(name: str, dtype: Any, row: dict[str, Any] = row) -> Any:
            stored = row[f"{name}_bytes"]
            return None if stored is None else np.frombuffer(stored, dtype).copy()  # kernels need writable arrays

        types = zip(LabelArrays._fields, (np.int64, np.int32, meta.dtype, np.bool_, np.float64), strict=True)
        stored = LabelArrays(*(array(name, dtype) for name, dtype in types))
        labels = meta.part(stored, None if meta.gold is None else gold_classes(item_names(row), meta.gold))
        if folder is not None:
            _cache(folder, row["part"], stored._replace(continued=labels.continued), item_names(row))
        yield row, labels


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Yield the rows of parts that have items, as dictionaries."""
    return (row for batch in batches for row in batch.to_pylist() if row["items"])


def _sort_partition(
    batches: Iterator[pa.RecordBatch], sort: Callable[[pl.DataFrame], SortedRows], folder: str
) -> Iterator[pa.RecordBatch]:
    """Sort the rows of one Spark partition into a part, and cache it in files.

    `batches` are the rows as `sort` takes them, and row numbers, because Spark changes the order of rows.

    Yields:
        One row with all columns; none if the partition is empty. If the rows cannot be used, it has nothing but the
        reason, because Spark would hide an error in its own.
    """
    given = [pl.from_arrow(batch) for batch in batches if batch.num_rows]
    if not given:
        return
    table = pl.concat([part for part in given if isinstance(part, pl.DataFrame)]).sort("row")
    try:
        arrays, items, counts, conflict = sort(table)
    except DataError as problem:
        row = {"part": 0, **asdict(SortCounts()), "problem": str(problem)}
        yield pa.RecordBatch.from_pylist([row], _ARROW_SCHEMA)
        return
    row = {"part": _number(items), **asdict(counts)}
    if conflict is not None:
        # Other parts may have conflicts in earlier rows, so the driver gets the first row of the item to compare.
        rows = table.filter((pl.col("worker") >= 0) & (pl.col("item") == conflict.item))["row"]
        row["conflict"] = pickle.dumps((rows[0], conflict))
    names = io.BytesIO()
    items.to_frame().write_ipc(names)
    row["names"] = names.getvalue()
    row |= {f"{name}_bytes": array.tobytes() for name, array in arrays._asdict().items() if array is not None}
    if counts.items:
        _cache(folder, row["part"], arrays, items)
    yield pa.RecordBatch.from_pylist([row], _ARROW_SCHEMA)


def _number(items: pl.Series) -> int:
    """Return the number of a part, given its items.

    It follows from the first item, which is in no other part. The number of the Spark partition would not do: it is
    another one if somebody joins partitions of the result, and a part is then made again.
    """
    return int.from_bytes(blake2b(str(items[0]).encode(), digest_size=7).digest()) if len(items) else 0


def _cache(folder: str, part: int, arrays: LabelArrays, items: pl.Series) -> None:
    """Write the files of a part; if they cannot be written, such as on a full disk, there are none.

    They are written to a folder of another name first, which is renamed when it is complete. So a task never finds an
    incomplete folder, even if another task writes the same part at the same time.
    """
    target = _cache_of(folder, part)
    with suppress(OSError):
        target.parent.mkdir(exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent))
        try:
            PartFiles(temporary, 0).write(arrays, items)
            shutil.rmtree(target, ignore_errors=True)  # this task found no files there, or not all of them
            temporary.rename(target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _remove_cache(batches: Iterator[pa.RecordBatch], folder: str) -> Iterator[pa.RecordBatch]:
    """Remove the files of a crowd from the executor that this runs on."""
    for batch in batches:
        for local in _local_folders():
            shutil.rmtree(local / folder, ignore_errors=True)
        yield batch


def _cache_of(folder: str, part: int) -> Path:
    """Return the folder of a part; parts are spread over the disks that the executor has for such files."""
    local = _local_folders()
    return local[part % len(local)] / folder / str(part)


def _local_folders() -> list[Path]:
    """Return the executor's own folders, which Spark names to every Python process that it starts."""
    return [Path(name) for name in os.environ["SPARK_LOCAL_DIRS"].split(",")]
