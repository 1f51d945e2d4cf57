"""The functions that run on the executors of a Spark cluster, on parts of the labels.

A part is one Arrow row that holds the labels of many items in a compact form. A step is a function of the labels of a
part. Its outcome is a pair: counts, which are added up over the parts, and the largest change of a score of each class.
"""

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
from ..results.in_parts import part_result
from ..results.result import Ending
from .base import Sweeping, SweepTotal

# The columns of a table of outcomes, for Spark and for Arrow: the number of the part, and the outcome as a pickle.
OUTCOME = "part int, outcome binary"
_OUTCOMES = pa.schema([("part", pa.int32()), ("outcome", pa.binary())])


def count_parts(batches: Iterator[pa.RecordBatch], about: Any, step: Any) -> Iterator[pa.RecordBatch]:
    """Run a step on every part of this partition and yield the outcomes.

    Args:
        batches: The parts of this partition.
        about: A broadcast variable: what all parts have in common, such as the names of workers and classes.
        step: A broadcast variable: the step.
    """
    run = pickle.loads(step.value)
    for row, labels in labelled_parts(batches, pickle.loads(about.value)):
        yield _outcome(row["part"], run(labels))


def merge_outcomes(table: pa.Table) -> pa.Table:
    """Merge the outcomes of several parts, in the order of the parts, into a table of one row."""
    rows = sorted(table.to_pylist(), key=lambda row: int(row["part"]))
    merged = merge([pickle.loads(row["outcome"]) for row in rows])
    return pa.Table.from_batches([_outcome(rows[0]["part"], merged)])


def merge(outcomes: list[tuple[Any, Array]]) -> tuple[Any, Array]:
    """Return the sum of all counts, and for every class the largest of all changes."""
    total = SweepTotal()
    for outcome in outcomes:
        total.add(outcome)
    return total.value


def sweep_part(labels: Labels, method: Sweeping, previous_workers: Any, workers: Any) -> tuple[Any, Array]:
    """Call the method's `sweep` on a part.

    The cluster stores no scores, so the scores of the sweep before are computed again from its parameters,
    `previous_workers`.
    """
    scores = method.start(labels)[0] if previous_workers is None else method.rescore(labels, previous_workers)
    counts = method.empty_counts(labels, workers)
    return counts, method.sweep(labels, scores, workers, counts)


def count_scores(
    labels: Labels, method: Sweeping, workers: Any, count: Callable[[Labels, Array], Any]
) -> tuple[Any, Array]:
    """Count a part with a function of its labels and its final scores; there are no changes."""
    return count(labels, final_scores(labels, method, workers)), np.zeros(0)


def count_labels(labels: Labels, count: Callable[[Labels], Any]) -> tuple[Any, Array]:
    """Count a part with a function of its labels alone; there are no changes."""
    return count(labels), np.zeros(0)


def final_scores(labels: Labels, method: Sweeping, workers: Any) -> Array:
    """Compute the scores that the items of a part have in the result."""
    return method.finish(method.start(labels)[0] if workers is None else method.rescore(labels, workers))


class FitSummary:
    """What `part_result` needs to know about a fit: the method, the workers' parameters and the convergence."""

    def __init__(self, method: Sweeping, ending: Ending) -> None:
        self.method = self.sweeping_method = method
        self.fitted_workers, self.convergence = ending.workers, ending.convergence


def item_rows(
    batches: Iterator[pa.RecordBatch], about: Any, fit_summary: Any, scores: bool, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the result for the items of this partition.

    Args:
        batches: The parts of this partition.
        about: A broadcast variable: what all parts have in common, such as the names of workers and classes.
        fit_summary: A broadcast variable: a `FitSummary`.
        scores: Whether to add a column for the score of every class.
        schema: The columns of the rows.
    """
    fit = pickle.loads(fit_summary.value)
    for row, labels in labelled_parts(batches, pickle.loads(about.value)):
        items = pl.read_ipc(io.BytesIO(row["names"])).to_series()
        frame = part_result(fit, labels, items, final_scores(labels, fit.method, fit.fitted_workers)).to_frame(scores)
        yield from frame.to_arrow().cast(schema).to_batches()


def _outcome(part: int, outcome: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"part": part, "outcome": pickle.dumps(outcome, protocol=5)}], _OUTCOMES)
