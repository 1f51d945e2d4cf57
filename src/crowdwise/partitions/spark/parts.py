"""The parts of `LabelsOnSpark`: each is one Arrow row that holds the arrays of `Labels` as bytes."""

import io
import pickle
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa

from ...crowd.encoding import Duplicates
from ...crowd.item_sketch import sketch
from ...crowd.knowledge import gold_codes
from ...crowd.labels import Labels
from ...crowd.reading_report import ReadingReport
from ...crowd.samples import Samples
from ...errors import DataError
from ...numerics import Array
from ..disk.arranging import arrange
from ..disk.part_files import complete
from . import kept
from .about import About

# The columns of a part that are small, with their types for Spark: its number, counts, the first conflict if any, and
# why its rows cannot be used if that is so.
_COUNTS: Final = dict.fromkeys(("items", "labels", "repeated", "conflicts", "unresolved", "unlabelled"), "int")
SMALL_COLUMNS: Final = {"part": "long", **_COUNTS, "conflict": "binary", "problem": "string"}
# The other columns: the arrays of `Labels` as bytes, and the names of the items as an Arrow file.
_LARGE_COLUMNS: Final = dict.fromkeys(("starts", "workers", "classes", "continued", "names"), "binary")
# All columns, for Spark and for Arrow.
PART_SCHEMA: Final = ", ".join(f"{name} {kind}" for name, kind in (SMALL_COLUMNS | _LARGE_COLUMNS).items())
_ARROW_TYPES: Final = {"long": pa.int64(), "int": pa.int32(), "binary": pa.binary(), "string": pa.string()}
_ARROW_SCHEMA: Final = pa.schema({name: _ARROW_TYPES[kind] for name, kind in (SMALL_COLUMNS | _LARGE_COLUMNS).items()})

_SKETCHES: Final = pa.schema({"sketch": pa.binary()})


def item_names(row: dict[str, Any]) -> pl.Series:
    """Return the names of the items of a part."""
    return pl.read_ipc(io.BytesIO(row["names"])).to_series()


def sketch_items(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sketch of the items of every part; see crowd/item_sketch.py."""
    for row in _rows(batches):
        yield pa.RecordBatch.from_pylist([{"sketch": sketch(item_names(row)).tobytes()}], _SKETCHES)


def sort_part(
    batches: Iterator[pa.RecordBatch],
    worker_places: Array,
    ranks: Array | None,
    duplicates: Duplicates,
    samples: Samples | None,
    folder: str,
) -> Iterator[pa.RecordBatch]:
    """Sort the rows of one Spark partition into the arrays of `Labels`, and keep them in files.

    Args:
        batches: The rows: names of items, codes of workers (-1 for no label), codes of labels, row numbers, and times
            for "latest".
        worker_places: The number that each code of a worker stands for; see `Numbering`.
        ranks: The number of the class that each code of a label stands for; None if labels are numbers.
        duplicates: What to do where one worker gave one item several different labels.
        samples: What the samples of every worker are, for "samples".
        folder: The name of the folder in which executors keep the parts of this crowd.

    Yields:
        One row with the columns of `PART_SCHEMA`; none if the partition is empty. If the rows cannot be used, it has
        nothing but the reason, because Spark would hide an error in its own.
    """
    given = [pl.from_arrow(batch) for batch in batches if batch.num_rows]
    if not given:
        return
    # Spark has changed the order of the rows while it distributed them.
    table = pl.concat([part for part in given if isinstance(part, pl.DataFrame)]).sort("row")
    try:
        found = arrange(table, ranks, worker_places, duplicates, samples)
    except DataError as problem:
        yield pa.RecordBatch.from_pylist(
            [dict.fromkeys(_COUNTS, 0) | {"part": 0, "problem": str(problem)}], _ARROW_SCHEMA
        )
        return
    grouped, first = found.grouped, found.grouped.conflict
    conflict = None
    if first is not None:
        # Other parts may have conflicts in earlier rows, so the driver gets the first row of the item to compare.
        rows = table.filter((pl.col("worker") >= 0) & (pl.col("item") == found.conflicting))["row"]
        conflict = pickle.dumps((rows[0], found.conflicting, first.worker, first.labels))
    names = io.BytesIO()
    found.items.to_frame().write_ipc(names)
    part = _number(found.items)
    if len(found.items):
        kept.keep(folder, part, grouped, found.items)
    yield pa.RecordBatch.from_pylist(
        [
            {
                "part": part,
                "items": len(found.items),
                "labels": len(grouped.workers),
                "repeated": grouped.repeated,
                "conflicts": grouped.conflicts,
                "unresolved": grouped.unresolved,
                "unlabelled": found.unlabelled,
                "conflict": conflict,
                "problem": None,
                "starts": grouped.item_starts.tobytes(),
                "workers": grouped.workers.tobytes(),
                "classes": grouped.labels.tobytes(),
                "continued": None if grouped.continued is None else grouped.continued.tobytes(),
                "names": names.getvalue(),
            }
        ],
        _ARROW_SCHEMA,
    )


def labelled_parts(batches: Iterator[pa.RecordBatch], about: About) -> Iterator[tuple[dict[str, Any], Labels]]:
    """Yield every part that has items: its Arrow row as a dictionary, and its labels.

    Args:
        batches: Rows with the columns of `PART_SCHEMA`.
        about: What is known about the whole crowd.
    """
    for row, stored in _stored_parts(batches, about):
        yield row, _completed(row, stored, about)


def kept_parts(batches: Iterator[pa.RecordBatch], about: About) -> Iterator[tuple[int, Labels | None]]:
    """Yield the number of every part that has items, and its labels; None if this executor has no files of it.

    Args:
        batches: Rows with the columns `SMALL_COLUMNS`.
        about: What is known about the whole crowd.
    """
    for row in _rows(batches):
        yield row["part"], kept.find(row["part"], row["items"], row["labels"], about)


def keep_parts(batches: Iterator[pa.RecordBatch], about: About) -> Iterator[tuple[int, Labels]]:
    """Yield the number of every part that has items, and its labels; and keep the part in files.

    Args:
        batches: Rows with the columns of `PART_SCHEMA`.
        about: What is known about the whole crowd.
    """
    for row, stored in _stored_parts(batches, about):
        kept.keep(about.folder, row["part"], stored, item_names(row))
        yield row["part"], _completed(row, stored, about)


def _rows(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Yield the rows of parts that have items, as dictionaries."""
    return (row for batch in batches for row in batch.to_pylist() if row["items"])


def _stored_parts(batches: Iterator[pa.RecordBatch], about: About) -> Iterator[tuple[dict[str, Any], Labels]]:
    """Yield every part that has items: its row, and its labels as they are stored, without the names of its items."""
    for row in _rows(batches):

        def array(name: str, dtype: Any, row: dict[str, Any] = row) -> Array:
            return np.frombuffer(row[name], dtype).copy()  # kernels are compiled for arrays that may be written to

        continued = None
        if about.set_valued:
            continued = np.zeros(row["labels"], np.bool_) if row["continued"] is None else array("continued", np.bool_)
        arrays = array("starts", np.int64), array("workers", np.int32), array("classes", about.dtype)
        yield row, Labels(*arrays, about.numbered_names, ReadingReport(0), continued)


def _completed(row: dict[str, Any], stored: Labels, about: About) -> Labels:
    gold = None if about.gold is None else gold_codes(item_names(row), about.gold)
    return complete(stored, about.recoded, gold, about.known, about.n_labels)


def _number(items: pl.Series) -> int:
    """Return the number of a part, given its items.

    It follows from the first item, which is in no other part. The number of the Spark partition would not do: it is
    another one if somebody joins partitions of the result, and a part is then made again.
    """
    return int.from_bytes(blake2b(str(items[0]).encode(), digest_size=7).digest()) if len(items) else 0
