"""The functions that run on the executors of a Spark cluster, on parts of the labels.

A part is one Arrow row that holds the labels of many items in a compact form. A step is a function of the labels of a
part. Its outcome is a pair: counts, which are added up over the parts, and the largest change of a score of each class.
Steps, and `meta`, what all parts know of the crowd, are broadcast variables.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ...crowd.labels import Labels
from ...numerics import Array
from ...partitions.spark_parts import cached_parts, item_names, stored_parts
from ...results.in_parts import Fit
from ..sweeping import AnySweeping, Finished
from .base import SweepTotal, finish_items, sweep_items

# The columns of a table of outcomes, for Spark and for Arrow: the number of the part, and the outcome as a pickle. The
# outcome is null if the executor had no files of the part.
OUTCOME = "part long, outcome binary"
_OUTCOMES = pa.schema([("part", pa.int64()), ("outcome", pa.binary())])


def count_cached_parts(
    batches: Iterator[pa.RecordBatch], meta: Any, folder: str, step: Any
) -> Iterator[pa.RecordBatch]:
    """Run a step on every part of this partition whose files are on this executor, and yield the outcomes.

    `batches` are the small columns of the parts.
    """
    run = pickle.loads(step.value)
    for part, labels in cached_parts(batches, pickle.loads(meta.value), folder):
        yield _outcome(part, None if labels is None else run(labels))


def count_stored_parts(
    batches: Iterator[pa.RecordBatch], meta: Any, folder: str, step: Any
) -> Iterator[pa.RecordBatch]:
    """Run a step on every part of this partition, yield the outcomes, and cache the parts in files.

    `batches` are all columns of the parts.
    """
    run = pickle.loads(step.value)
    for row, labels in stored_parts(batches, pickle.loads(meta.value), folder):
        yield _outcome(row["part"], run(labels))


def merge_outcomes(table: pa.Table) -> pa.Table:
    """Merge the outcomes of a group of parts into a table of one row; if one is missing, all are left to the driver."""
    rows = table.to_pylist()
    if any(row["outcome"] is None for row in rows):
        return table
    merged = merge([(row["part"], pickle.loads(row["outcome"])) for row in rows], 1)
    return pa.Table.from_batches([_outcome(min(row["part"] for row in rows), merged)])


def merge(outcomes: list[tuple[int, tuple[Any, Array]]], groups: int) -> tuple[Any, Array]:
    """Return the sum of all counts, and for every class the largest of all changes.

    The outcomes of a group are added up first, in the order of their parts. A group is added up in the same way on an
    executor, so that the rounding does not depend on where it is done. `outcomes` has the number and the outcome of
    every part; or of every group, with the smallest of its numbers.
    """
    totals: dict[int, SweepTotal] = {}
    for part, outcome in sorted(outcomes, key=lambda pair: pair[0]):
        totals.setdefault(part % groups, SweepTotal()).add(outcome)
    total = SweepTotal()
    for group in totals.values():
        total.add(group.value)
    return total.value


def sweep_part(labels: Labels, method: AnySweeping, previous_workers: Any, workers: Any) -> tuple[Any, Array]:
    """Call the method's `sweep` on a part.

    The cluster stores no scores, so the scores of the sweep before are computed again from its parameters,
    `previous_workers`.
    """
    scores = method.start(labels)[0] if previous_workers is None else method.rescore(labels, previous_workers)
    return sweep_items(method, labels, scores, workers)


def count_scores(
    labels: Labels, method: AnySweeping, workers: Any, count: Callable[[Labels, Array], Any]
) -> tuple[Any, Array]:
    """Count a part with a function of its labels and its final scores; there are no changes."""
    return count(labels, finished(labels, method, workers).scores), np.zeros(0)


def count_labels(labels: Labels, count: Callable[[Labels], Any]) -> tuple[Any, Array]:
    """Count a part with a function of its labels alone; there are no changes."""
    return count(labels), np.zeros(0)


def finished(labels: Labels, method: AnySweeping, workers: Any) -> Finished:
    """Compute what the result says about the items of a part."""
    scores = method.start(labels)[0] if workers is None else method.rescore(labels, workers)
    return finish_items(method, labels, scores, workers)


def item_rows(
    batches: Iterator[pa.RecordBatch],
    meta: Any,
    fit: Any,
    scores: bool,
    probabilities: bool,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the result for the items of this partition; `fit` is a broadcast `Fit`."""
    found: Fit = pickle.loads(fit.value)
    for row, labels in stored_parts(batches, pickle.loads(meta.value)):
        part = found.part(labels, item_names(row), *finished(labels, found.sweeping_method, found.workers))
        yield from part.to_frame(scores, probabilities).to_arrow().cast(schema).to_batches()


def _outcome(part: int, outcome: Any) -> pa.RecordBatch:
    pickled = None if outcome is None else pickle.dumps(outcome, protocol=5)
    return pa.RecordBatch.from_pylist([{"part": part, "outcome": pickled}], _OUTCOMES)
