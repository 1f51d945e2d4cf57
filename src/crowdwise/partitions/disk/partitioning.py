"""Split rows into parts on disk: each part holds all rows of its items, and fits in memory.

The rows are read once, in batches. Workers and classes are numbered for all parts together. Items are numbered only
within their part, so that no list of all items is ever needed.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from ...crowd import encoding
from ...crowd.classes import classes_of
from ...crowd.cleaning import Cleaning, Rules
from ...crowd.encoding import Dictionary
from ...crowd.hashing import split_by_hash
from ...crowd.labels import NOTHING_LEFT
from ...crowd.names import Names
from ...crowd.numbering import numbers
from ...crowd.numbers import NO_CLASSES, NumberReader
from ...crowd.reading_report import ReadingReport
from ...crowd.samples import Samples, most_answers
from ...errors import DataError
from ...numerics import Array
from ...parallel import Threads, thread_count
from ...sources.scans import Scan
from ..workspace import Workspace
from .arranging import Arranged, arrange
from .part_files import Part, Parts
from .pending_rows import PendingRows

# Called with the name of a phase and the share of it that is done.
Phases = Callable[[str, float], None]

# Memory in bytes per row: while its part is sorted, and while it waits to be written to disk.
_SORTING_BYTES: Final = 160
_PENDING_BYTES: Final = 64
# The most rows to read at once.
_BATCH_ROWS: Final = 1_000_000
# More parts would be too many small files.
_MOST_PARTS: Final = 4096


@dataclass(frozen=True)
class _SortedPart:
    """A part after sorting, and what was found in it.

    Attributes:
        part: The part, whose files are written.
        repeated: The number of rows that repeat an earlier one exactly.
        conflicts: The number of (item, worker) pairs with several different labels.
        unresolved: The number of these pairs that the policy does not resolve.
        conflict: The first of those: the name of the item, the code of the worker, and the codes of the labels.
        unlabelled: The number of items that have no label left.
        integers: Whether the names of all items are integers written as text.
    """

    part: Part
    repeated: int
    conflicts: int
    unresolved: int
    conflict: tuple[Any, int, tuple[int, ...]] | None
    unlabelled: int
    integers: bool


def partition(
    scans: Sequence[Scan], found: dict[str, str], rules: Rules, place: Workspace, memory: int, rows: int, phases: Phases
) -> tuple[Parts, ReadingReport]:
    """Read files into parts on disk.

    Args:
        scans: The files.
        found: The name of the column for each role, for messages.
        rules: What to do with rows that cannot be used as they are.
        place: The folder for the parts.
        memory: How many bytes of memory may be used. All threads together use about a third of it to sort parts.
        rows: About how many rows the files have.
        phases: Called with the name of a phase of the work and the share of it that is done.

    Returns:
        The parts, and what was read and repaired.

    Raises:
        DataError: The rows cannot be used, or the disk is full.
    """
    encoding.check_policy(rules.duplicates)
    # Formats without types, such as CSV, store integers as text.
    integers_in_text = any(one.is_text for one in scans)
    wanted = 3 * rows * _SORTING_BYTES * thread_count() / memory
    bits = math.ceil(math.log2(min(max(wanted, 4), _MOST_PARTS)))
    cleaning, workers = Cleaning(found, rules.missing, rules.numeric), Dictionary()
    labels = _Numbers(found["label"]) if rules.numeric else _Classes(rules, found["label"])
    pending = PendingRows(place, 1 << bits, memory // (8 * _PENDING_BYTES))
    for batch in _batches(scans, min(_BATCH_ROWS, max(memory // (8 * _PENDING_BYTES), 1000))):
        has_label = cleaning.labelled(batch)
        if cleaning.ids_complete:  # if not, the table will be refused, and the other rows only need to be counted
            pending.add(*_split_batch(batch, has_label, workers, labels, bits))
        phases("reading", min(cleaning.rows / max(rows, 1), 1.0))
    cleaning.check(rules.strict)
    pending.flush()
    worker_names = encoding.typed(workers.names, integers_in_text)
    ordered, ranks = labels.finish(integers_in_text)
    samples = _samples(pending, 1 << bits, worker_names) if rules.duplicates == "samples" else None
    all_workers = worker_names if samples is None else samples.names
    worker_places = numbers(all_workers)
    arranging = partial(arrange, ranks=ranks, worker_places=worker_places, duplicates=rules.duplicates, samples=samples)
    outcomes: list[_SortedPart] = []
    with Threads(1 << bits) as threads:
        for outcome in threads.map(lambda number: _sort(pending, number, arranging, integers_in_text)):
            outcomes.append(outcome)
            phases("sorting", len(outcomes) / (1 << bits))
    conflicts = sum(outcome.conflicts for outcome in outcomes)
    integers = integers_in_text and all(outcome.integers for outcome in outcomes if outcome.part.items)
    if any(outcome.unresolved for outcome in outcomes):
        _refuse_conflicts(scans, rules, outcomes, integers, worker_names, ordered)
    repeated = sum(outcome.repeated for outcome in outcomes)
    if rules.strict:
        encoding.refuse_repeats(repeated)
    filled = [outcome.part for outcome in outcomes if outcome.part.items]
    if not filled:
        raise DataError(NOTHING_LEFT)
    unlabelled = sum(outcome.unlabelled for outcome in outcomes)
    report = ReadingReport(cleaning.rows, cleaning.unlabelled, repeated, conflicts, rules.duplicates, unlabelled, found)
    names = Names(pl.Series("item", [], pl.Int64), all_workers.alias("worker"), ordered.alias("label"))
    names = replace(names, sample_of=None if samples is None else samples.sample_of, folded=rules.fold_case)
    if rules.duplicates == "set" and conflicts:
        filled = [replace(part, continued=True) for part in filled]
    dtype = np.dtype(np.float64) if ranks is None else ranks.dtype
    return Parts(place, filled, names, worker_places, dtype, integers, memory), report


class _Classes:
    """Gives codes to the labels of batches, which name classes."""

    def __init__(self, rules: Rules, column: str) -> None:
        self._rules, self._column = rules, column
        self._dictionary = Dictionary()
        self._labels = 0
        self._counts = np.zeros(0, np.int64)

    def read(self, labelled: pl.DataFrame) -> Array:
        """Return the codes of the labels of one batch."""
        codes = self._dictionary.encode(labelled["label"])
        self._labels += len(codes)
        if self._rules.fold_case:
            counts = np.bincount(codes, minlength=len(self._dictionary.names))
            counts[: len(self._counts)] += self._counts
            self._counts = counts
        return codes

    def finish(self, integers_in_text: bool) -> tuple[pl.Series, Array | None]:
        """Return the names of the classes in their order, and the number of the class of every code."""
        names = self._dictionary.names
        return classes_of(names, self._rules, self._column, self._labels, self._counts, integers_in_text)


class _Numbers(NumberReader):
    """Reads the labels of batches as numbers."""

    def finish(self, _integers_in_text: bool) -> tuple[pl.Series, Array | None]:
        """Refuse labels that are no numbers, and return that there are no classes, and no codes."""
        self.check()
        return NO_CLASSES, None


def _batches(scans: Sequence[Scan], rows: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of all files, in batches of about `rows` rows."""
    for one in scans:
        yield from one.batches(rows)


def _split_batch(
    batch: pl.DataFrame, has_label: pl.Series | None, workers: Dictionary, labels: "_Classes | _Numbers", bits: int
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
        are -1. If the batch has a column of times, the rows have it too.
    """
    labelled = batch if has_label is None else batch.filter(has_label)
    codes = {"worker": workers.encode(labelled["worker"]), "label": labels.read(labelled)}
    if has_label is not None:
        labelled_rows = np.flatnonzero(has_label.to_numpy())
        for role, known in codes.items():
            codes[role] = np.full(batch.height, -1, known.dtype)
            codes[role][labelled_rows] = known
    # Selecting rows from a column in many pieces takes twenty times as long.
    given = {role: batch[role].rechunk() for role in ("item", "time") if role in batch.columns}
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


def _sort(
    pending: PendingRows, number: int, arranging: Callable[[pl.DataFrame], Arranged], integers_in_text: bool
) -> _SortedPart:
    """Read the rows of one part, sort them into the arrays of `Labels`, and write these to disk."""
    table = pending.pop(number)
    part = Part(pending.place.path, number, 0, 0, False)
    if table is None:
        return _SortedPart(part, 0, 0, 0, None, 0, True)
    found = arranging(table)
    grouped, names = found.grouped, found.items
    part = replace(part, items=len(names), labels=len(grouped.workers), continued=grouped.continued is not None)
    with pending.place.writing():
        part.write(grouped, names)
    first = grouped.conflict
    return _SortedPart(
        part,
        grouped.repeated,
        grouped.conflicts,
        grouped.unresolved,
        None if first is None else (found.conflicting, first.worker, first.labels),
        found.unlabelled,
        integers_in_text and encoding.typed(names, True).dtype == pl.Int64,
    )


def _refuse_conflicts(
    scans: Sequence[Scan],
    rules: Rules,
    outcomes: Sequence[_SortedPart],
    integers: bool,
    workers: pl.Series,
    classes: pl.Series,
) -> None:
    """Raise `DataError` about conflicting labels, with the conflict whose item comes first in the files.

    Every part knows only its own first conflict, so the files are read again to find out which item comes first.
    """
    first_conflicts: Mapping[Any, Any] = {one.conflict[0]: one.conflict for one in outcomes if one.conflict is not None}
    for batch in _batches(scans, _BATCH_ROWS):
        has_label = Cleaning({}, rules.missing).labelled(batch)
        items = (batch if has_label is None else batch.filter(has_label))["item"]
        matches = items.filter(items.is_in(list(first_conflicts)))
        if len(matches):
            item, worker, said = first_conflicts[matches[0]]
            shown = int(item) if integers else item
            count = sum(one.unresolved for one in outcomes)
            names = encoding.said_in(said, classes)
            encoding.refuse_conflicts(count, shown, workers[worker], names, rules.duplicates)
