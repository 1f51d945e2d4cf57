"""What runs on the executors of a Spark cluster: the same kernels, on compact parts, each of them one Arrow row."""

import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from ..encode import Duplicates
from ..kernels import Array
from ..labels import Labels, Names
from ..repairs import Report
from ..result import Ending
from ..slices import Sum
from .dealing import arrange
from .method import Sweeping
from .outcome import part_result

PART = (
    "part int, items int, labels int, repeated int, conflicts int, unlabelled int, conflict binary, "
    "starts binary, workers binary, classes binary, continued binary, names binary"
)
OUTCOME = "part int, outcome binary"

_ARRAYS = pa.schema(
    [(name, pa.int32()) for name in ("part", "items", "labels", "repeated", "conflicts", "unlabelled")]
    + [(name, pa.binary()) for name in ("conflict", "starts", "workers", "classes", "continued", "names")]
)
_OUTCOMES = pa.schema([("part", pa.int32()), ("outcome", pa.binary())])


class About:
    """What every part needs to know of the whole crowd."""

    def __init__(self, workers: pl.Series, classes: pl.Series, dtype: Any, set_valued: bool = False) -> None:
        self.names = Names(pl.Series("item", [], pl.Int64), workers, classes)
        self.dtype = dtype
        self.set_valued = set_valued


def sort_part(
    batches: Iterator[pa.RecordBatch], n_workers: int, ranks: Array, duplicates: Duplicates
) -> Iterator[pa.RecordBatch]:
    """All rows of one partition as the arrays that `Labels` has."""
    from pyspark import TaskContext

    given = [pl.from_arrow(batch) for batch in batches if batch.num_rows]
    if not given:
        return
    table = pl.concat([part for part in given if isinstance(part, pl.DataFrame)]).sort("row")  # shuffling forgets order
    found = arrange(table, ranks, n_workers, duplicates)
    grouped, first = found.grouped, found.grouped.conflict
    conflict = None
    if first is not None:
        # Rows of other parts may come before: the driver compares where the items first appear.
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
        _ARRAYS,
    )


def count_parts(batches: Iterator[pa.RecordBatch], about: Any, step: Any) -> Iterator[pa.RecordBatch]:
    """Do a broadcast `step` on every part of this partition; the outcomes are counts, and how far classes moved."""
    count = pickle.loads(step.value)
    for row, labels in _parts(batches, pickle.loads(about.value)):
        yield _outcome(row["part"], count(labels))


def merge_outcomes(table: pa.Table) -> pa.Table:
    """Add up the outcomes of several parts, in their order."""
    rows = sorted(table.to_pylist(), key=lambda row: int(row["part"]))
    merged = merge([pickle.loads(row["outcome"]) for row in rows])
    return pa.Table.from_batches([_outcome(rows[0]["part"], merged)])


def merge(outcomes: list[tuple[Any, Array]]) -> tuple[Any, Array]:
    """The sum of all counts, and the largest changes."""
    total, change = Sum(), outcomes[0][1].copy()
    for counts, moved in outcomes:
        total.add(counts)
        np.maximum(change, moved, out=change)
    return total.value, change


def sweep_part(labels: Labels, method: Sweeping, before: Any, workers: Any) -> tuple[Any, Array]:
    """One pass over a part; the scores before it are made anew, because nobody keeps them."""
    scores = method.start(labels)[0] if before is None else method.rescore(labels, before)
    counts = method.empty(labels, workers)
    return counts, method.sweep(labels, scores, workers, counts)


def count_scores(
    labels: Labels, method: Sweeping, workers: Any, count: Callable[[Labels, Array], Any]
) -> tuple[Any, Array]:
    """Count a part given its final scores."""
    return count(labels, final_scores(labels, method, workers)), np.zeros(0)


def count_labels(labels: Labels, count: Callable[[Labels], Any]) -> tuple[Any, Array]:
    """Count a part where no scores are needed."""
    return count(labels), np.zeros(0)


def final_scores(labels: Labels, method: Sweeping, workers: Any) -> Array:
    """The scores of a part as the result has them."""
    return method.finish(method.start(labels)[0] if workers is None else method.rescore(labels, workers))


class FoundBy:
    """A method and how it ended: what a part of the result needs to know."""

    def __init__(self, method: Sweeping, ending: Ending) -> None:
        self.method = self.swept_by = method
        self.workers, self.convergence = ending.workers, ending.convergence


def tables(
    batches: Iterator[pa.RecordBatch], about: Any, found: Any, scores: bool, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows of the result."""
    by = pickle.loads(found.value)
    for row, labels in _parts(batches, pickle.loads(about.value)):
        items = pl.read_ipc(io.BytesIO(row["names"])).to_series()
        frame = part_result(by, labels, items, final_scores(labels, by.method, by.workers)).to_frame(scores)
        yield from frame.to_arrow().cast(schema).to_batches()


def _parts(batches: Iterator[pa.RecordBatch], about: About) -> Iterator[tuple[dict[str, Any], Labels]]:
    for batch in batches:
        for row in batch.to_pylist():
            if row["items"]:
                yield row, _labels(row, about)


def _labels(row: dict[str, Any], about: About) -> Labels:
    def array(name: str, dtype: Any) -> Array:
        return np.frombuffer(row[name], dtype).copy()  # kernels are compiled for arrays that may be written to

    continued = None
    if about.set_valued:
        continued = np.zeros(row["labels"], np.bool_) if row["continued"] is None else array("continued", np.bool_)
    arrays = array("starts", np.int64), array("workers", np.int32), array("classes", about.dtype)
    return Labels(*arrays, about.names, Report(0), continued)


def _outcome(part: int, outcome: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"part": part, "outcome": pickle.dumps(outcome, protocol=5)}], _OUTCOMES)
