"""Rows split into parts on disk: each part holds all rows of its items, and fits in memory.

The rows are read once, in batches. Workers and classes are numbered for all parts together. Items are numbered only
within their part, so that no list of all items is ever needed.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

from ..crowd import encoding
from ..crowd.classes import ClassReader, label_reader
from ..crowd.cleaning import Cleaning, finish
from ..crowd.encoding import Dictionary
from ..crowd.hashing import split_by_hash
from ..crowd.ids import is_present
from ..crowd.names import Names
from ..crowd.number_reader import NumberReader
from ..crowd.read_options import ReadOptions
from ..crowd.reading_report import ReadingReport
from ..crowd.samples import Samples, most_answers
from ..crowd.soft_votes import SOFT_ROLES
from ..crowd.sorting import Conflict, SortCounts, SortedRows
from ..numerics import Array
from ..parallel import Threads, thread_count
from ..sources.rows import Rows
from .crowd_meta import CrowdMeta, numbering_and_sorting
from .pairs_on_disk import ANSWERS, PairSorter, SetReader
from .part_files import PartFiles
from .pending_rows import PendingRows
from .workspace import Workspace

# Called with the name of a phase and the share of it that is done.
Phases = Callable[[str, float], None]

# Memory in bytes per row: while its part is sorted, and while it waits to be written to disk.
_SORTING_BYTES: Final = 160
_PENDING_BYTES: Final = 64
# The most rows to read at once.
_BATCH_ROWS: Final = 1_000_000
# More parts would be too many small files.
_MOST_PARTS: Final = 4096


class _SortedPart(NamedTuple):
    """A part after sorting; `integers` says whether the names of all its items are integers written as text."""

    files: PartFiles
    counts: SortCounts = SortCounts()
    conflict: Conflict | None = None
    integers: bool = True


def partition(
    inputs: Sequence[Rows],
    found: dict[str, str],
    options: ReadOptions,
    workspace: Workspace,
    memory: int,
    rows: int,
    phases: Phases,
) -> tuple[CrowdMeta, ReadingReport, list[PartFiles]]:
    """Read files into parts on disk.

    Args:
        inputs: The files.
        found: The name of the column for each role, for messages.
        options: How labels are read.
        workspace: The folder for the parts.
        memory: How many bytes of memory may be used. All threads together use about a third of it to sort parts.
        rows: About how many rows the files have.
        phases: Called with the name of a phase of the work and the share of it that is done.

    Returns:
        What all parts know of the crowd, what was read and repaired, and the files of the parts that have items.

    Raises:
        DataError: The rows cannot be used, or the disk is full.
    """
    # Formats without types, such as CSV, store integers as text.
    integers_in_text = any(one.is_text for one in inputs)
    wanted = 3 * rows * _SORTING_BYTES * thread_count() / memory
    bits = math.ceil(math.log2(min(max(wanted, 4), _MOST_PARTS)))
    sets = SetReader(options, found["label"]) if options.multi == "each" else None
    cleaning, workers, labels = Cleaning(found, options), Dictionary(), sets or label_reader(options, found["label"])
    pending = PendingRows(workspace, 1 << bits, memory // (8 * _PENDING_BYTES))
    for batch in _batches(inputs, min(_BATCH_ROWS, max(memory // (8 * _PENDING_BYTES), 1000))):
        has_label = cleaning.labelled(batch)
        if sets is not None:
            sets.count(batch)
        if cleaning.ids_complete:  # if not, the table will be refused, and the other rows only need to be counted
            pending.add(*_split_batch(batch, has_label, workers, labels, bits))
        phases("reading", min(cleaning.rows / max(rows, 1), 1.0))
    cleaning.check()
    pending.flush()
    worker_names = encoding.typed(workers.names, integers_in_text)
    classes, ranks = labels.finish(integers_in_text)
    samples = _samples(pending, 1 << bits, worker_names) if options.policy == "samples" else None
    named, class_of_label = classes, ranks
    if sets is not None:
        classes, ranks = ANSWERS, np.arange(len(ANSWERS), dtype=np.uint8)
    names = Names.read(worker_names, classes, samples, options.fold_case and sets is None)
    numbering, sort = numbering_and_sorting(names, ranks, samples, options)
    pairs = None
    if sets is not None and class_of_label is not None:
        pairs = PairSorter(named, class_of_label, len(worker_names), sort)
    parts: list[_SortedPart] = []
    with Threads(1 << bits) as threads:
        for part in threads.map(lambda number: _sort_on_disk(pending, number, pairs or sort, integers_in_text)):
            parts.append(part)
            phases("sorting", len(parts) / (1 << bits))
    counts = sum((part.counts for part in parts), SortCounts())
    filled = [part for part in parts if part.files.items]
    integers = integers_in_text and all(part.integers for part in filled)
    conflict = _first_conflict(inputs, options, parts) if counts.unresolved else None
    report = finish(cleaning, counts, conflict, names)
    if sets is not None and pairs is not None:
        report = pairs.reported(report, sets.rows)
    return (
        CrowdMeta.of(names, numbering, ranks, counts, options),
        report,
        [replace(part.files, integers=integers) for part in filled],
    )


def _batches(inputs: Sequence[Rows], rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of all files, in batches of about `rows` rows."""
    for one in inputs:
        yield from one.batches(rows)


def _split_batch(
    batch: pl.DataFrame,
    has_label: pl.Series | None,
    workers: Dictionary,
    labels: ClassReader | NumberReader | SetReader,
    bits: int,
) -> tuple[pl.DataFrame, Array]:
    """Encode the workers and labels of a batch, and sort its rows by the part that they belong to.

    Args:
        batch: The rows.
        has_label: Which of the rows have a label; None if all have one.
        workers: The codes of workers so far.
        labels: Gives the codes of classes, or reads the numbers.
        bits: The number of parts is 2 ** bits.

    Returns:
        The rows in the order of the parts, and where each part starts. In rows without a label, worker and label
        are -1. If the batch has columns of times, probabilities or weights, the rows have them too.
    """
    labelled = batch if has_label is None else batch.filter(has_label)
    codes = {"worker": workers.encode(labelled["worker"]), "label": labels.read(labelled)}
    if has_label is not None:
        labelled_rows = np.flatnonzero(has_label.to_numpy())
        for role, known in codes.items():
            codes[role] = np.full(batch.height, -1, known.dtype)
            codes[role][labelled_rows] = known
    # Selecting rows from a column in many pieces takes twenty times as long.
    given = {role: batch[role].rechunk() for role in ("item", "time", *SOFT_ROLES) if role in batch.columns}
    order, starts = split_by_hash(encoding.key(given["item"]), bits)
    gathered = {role: known[order] for role, known in codes.items()}
    rows = pl.Series(order.astype(np.uint32))
    columns: dict[str, Any] = {role: column.gather(rows) for role, column in given.items()}
    return pl.DataFrame(columns | gathered), starts


def _samples(pending: PendingRows, parts: int, workers: pl.Series) -> Samples:
    """Return what the samples of every worker are, for which the rows of all parts are read once more."""

    def count(number: int) -> Array:
        table = pending.get(number)
        if table is None:
            return np.zeros(len(workers), np.int64)
        answers = table.filter(pl.col("worker") >= 0)
        return most_answers(answers["item"], answers["worker"], len(workers))

    most = np.zeros(len(workers), np.int64)
    with Threads(parts) as threads:
        for found in threads.map(count):
            np.maximum(most, found, out=most)
    return Samples.of(workers, most)


def _sort_on_disk(
    pending: PendingRows, number: int, sort: Callable[[pl.DataFrame], SortedRows], integers_in_text: bool
) -> _SortedPart:
    """Read the rows of one part, sort them, and write the arrays of `Labels` to disk."""
    table = pending.pop(number)
    files = PartFiles(pending.workspace.path, number)
    if table is None:
        return _SortedPart(files)
    arrays, items, counts, conflict = sort(table)
    files = replace(files, items=counts.items)
    if counts.items:
        with pending.workspace.writing():
            files.write(arrays, items)
    return _SortedPart(files, counts, conflict, integers_in_text and encoding.typed(items, True).dtype == pl.Int64)


def _first_conflict(inputs: Sequence[Rows], options: ReadOptions, parts: Sequence[_SortedPart]) -> Conflict | None:
    """Return the conflict whose item comes first in the files.

    Every part knows only its own first conflict, so the files are read again to find out which item comes first.
    """
    conflicts = {part.conflict.item: part.conflict for part in parts if part.conflict is not None}
    for batch in _batches(inputs, _BATCH_ROWS):
        items = batch["item"].filter(is_present(batch["label"], options.missing))
        matches = items.filter(items.is_in(list(conflicts)))
        if len(matches):
            return conflicts[matches[0]]
    return None
