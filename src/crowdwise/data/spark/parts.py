"""The parts of `LabelsOnSpark`: each is one Arrow row that holds the arrays of `Labels` as bytes."""

import io
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from ...kernels import Array
from ..disk.partitioning import arrange
from ..encoding import Duplicates
from ..labels import Labels
from ..names import Names
from ..numbering import Numbering
from ..reading_report import ReadingReport

# The columns of a part, for Spark: its number, counts, the first conflict if any, the arrays of `Labels` as bytes, and
# the names of its items as an Arrow file.
PART_SCHEMA = (
    "part int, items int, labels int, repeated int, conflicts int, unlabelled int, conflict binary, "
    "starts binary, workers binary, classes binary, continued binary, names binary"
)

# The same columns for Arrow.
_ARROW_SCHEMA = pa.schema(
    [(name, pa.int32()) for name in ("part", "items", "labels", "repeated", "conflicts", "unlabelled")]
    + [(name, pa.binary()) for name in ("conflict", "starts", "workers", "classes", "continued", "names")]
)


class About:
    """What executors need to know about the whole crowd to work on one part.

    Args:
        workers: The names of the workers, in order of first appearance.
        worker_places: The number of every worker; the parts have workers by their numbers.
        classes: The names of the classes.
        dtype: The data type of labels.
        set_valued: Whether some vote names several classes.
    """

    def __init__(
        self, workers: pl.Series, worker_places: Array, classes: pl.Series, dtype: Any, set_valued: bool = False
    ) -> None:
        self.names = Names(pl.Series("item", [], pl.Int64), workers, classes)
        self.numbering = Numbering(np.zeros(0, np.int32), worker_places)
        self.numbered_names = self.names.numbered(self.numbering)
        self.dtype = dtype
        self.set_valued = set_valued


def sort_part(
    batches: Iterator[pa.RecordBatch], worker_places: Array, ranks: Array, duplicates: Duplicates
) -> Iterator[pa.RecordBatch]:
    """Sort the rows of one Spark partition into the arrays of `Labels`.

    Args:
        batches: The rows: names of items, codes of workers, codes of labels (-1 for no label), and row numbers.
        worker_places: The number that each code of a worker stands for; see `Numbering`.
        ranks: The number of the class that each code of a label stands for.
        duplicates: What to do where one worker gave one item several different labels.

    Yields:
        One row with the columns of `PART_SCHEMA`; none if the partition is empty.
    """
    from pyspark import TaskContext

    given = [pl.from_arrow(batch) for batch in batches if batch.num_rows]
    if not given:
        return
    # Spark has changed the order of the rows while it distributed them.
    table = pl.concat([part for part in given if isinstance(part, pl.DataFrame)]).sort("row")
    found = arrange(table, ranks, worker_places, duplicates)
    grouped, first = found.grouped, found.grouped.conflict
    conflict = None
    if first is not None:
        # Other parts may have conflicts in earlier rows, so the driver gets the first row of the item to compare.
        rows = table.filter((pl.col("label") >= 0) & (pl.col("item") == found.conflicting))["row"]
        conflict = pickle.dumps((rows[0], found.conflicting, first.worker, first.labels))
    context = TaskContext.get()
    names = io.BytesIO()
    found.items.to_frame().write_ipc(names)
    yield pa.RecordBatch.from_pylist(
        [
            {
                "part": context.partitionId() if context is not None else 0,
                "items": len(found.items),
                "labels": len(grouped.workers),
                "repeated": grouped.repeated,
                "conflicts": grouped.conflicts,
                "unlabelled": found.unlabelled,
                "conflict": conflict,
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
    for batch in batches:
        for row in batch.to_pylist():
            if row["items"]:
                yield row, _labels(row, about)


def _labels(row: dict[str, Any], about: About) -> Labels:
    """Return the labels of a part, without the names of its items."""

    def array(name: str, dtype: Any) -> Array:
        return np.frombuffer(row[name], dtype).copy()  # kernels are compiled for arrays that may be written to

    continued = None
    if about.set_valued:
        continued = np.zeros(row["labels"], np.bool_) if row["continued"] is None else array("continued", np.bool_)
    arrays = array("starts", np.int64), array("workers", np.int32), array("classes", about.dtype)
    return Labels(*arrays, about.numbered_names, ReadingReport(0), continued)
