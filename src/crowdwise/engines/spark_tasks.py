"""What runs on the executors of a Spark cluster: the same kernels, on compact parts, each of them one Arrow row."""

import io
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from ..data.labels import Labels
from ..data.spark import labelled_parts
from ..kernels import Array
from ..parallel import Sum
from ..results.in_parts import part_result
from ..results.result import Ending
from .base import Sweeping

OUTCOME = "part int, outcome binary"

_OUTCOMES = pa.schema([("part", pa.int32()), ("outcome", pa.binary())])


def count_parts(batches: Iterator[pa.RecordBatch], about: Any, step: Any) -> Iterator[pa.RecordBatch]:
    """Do a broadcast `step` on every part of this partition; the outcomes are counts, and how far classes moved."""
    count = pickle.loads(step.value)
    for row, labels in labelled_parts(batches, pickle.loads(about.value)):
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
    counts = method.empty_counts(labels, workers)
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
    for row, labels in labelled_parts(batches, pickle.loads(about.value)):
        items = pl.read_ipc(io.BytesIO(row["names"])).to_series()
        frame = part_result(by, labels, items, final_scores(labels, by.method, by.workers)).to_frame(scores)
        yield from frame.to_arrow().cast(schema).to_batches()


def _outcome(part: int, outcome: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"part": part, "outcome": pickle.dumps(outcome, protocol=5)}], _OUTCOMES)
