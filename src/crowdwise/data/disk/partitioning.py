"""Split rows into parts on disk: each part holds all rows of its items, and fits in memory.

The rows are read once, in batches. Workers and classes are numbered for all parts together. Items are numbered only
within their part, so that no list of all items is ever needed.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from ... import kernels
from ...errors import DataError
from ...kernels import Array
from ...parallel import Threads, thread_count
from .. import encoding
from ..cleaning import Cleaning, Rules
from ..encoding import Dictionary, Duplicates, Grouped
from ..labels import NOTHING_LEFT
from ..names import Names
from ..numbering import Numbering, inverse, numbers
from ..numbers import NO_CLASSES, NumberReader
from ..reading_report import ReadingReport
from ..sources import Scan
from .part_files import Part, Parts
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


@dataclass(frozen=True)
class _SortedPart:
    """A part after sorting, and what was found in it.

    Attributes:
        part: The part, whose files are written.
        repeated: The number of rows that repeat an earlier one exactly.
        conflicts: The number of (item, worker) pairs with several different labels.
        conflict: The first of these pairs: the name of the item, the code of the worker, and the codes of the labels.
        unlabelled: The number of items that have no label left.
        integers: Whether the names of all items are integers written as text.
    """

    part: Part
    repeated: int
    conflicts: int
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
    labels = _Numbers(found["label"]) if rules.numeric else _Classes()
    pending = _PendingRows(place, 1 << bits, memory // (8 * _PENDING_BYTES))
    for batch in _batches(scans, min(_BATCH_ROWS, max(memory // (8 * _PENDING_BYTES), 1000))):
        has_label = cleaning.labelled(batch)
        if cleaning.ids_complete:  # if not, the table will be refused, and the other rows only need to be counted
            pending.add(*_split_batch(batch, has_label, workers, labels, bits))
        phases("reading", min(cleaning.rows / max(rows, 1), 1.0))
    cleaning.check(rules.strict)
    pending.flush()
    worker_names = encoding.typed(workers.names, integers_in_text)
    ordered, ranks = labels.finish(integers_in_text)
    worker_places = numbers(worker_names)
    outcomes: list[_SortedPart] = []

    def use(outcome: _SortedPart) -> None:
        outcomes.append(outcome)
        phases("sorting", len(outcomes) / (1 << bits))

    with Threads(1 << bits) as threads:
        threads.run(
            lambda number: _sort(pending, number, ranks, worker_places, rules.duplicates, integers_in_text), use
        )
    conflicts = sum(outcome.conflicts for outcome in outcomes)
    integers = integers_in_text and all(outcome.integers for outcome in outcomes if outcome.part.items)
    if conflicts and rules.duplicates == "error":
        _refuse_conflicts(scans, rules, outcomes, conflicts, integers, worker_names, ordered)
    repeated = sum(outcome.repeated for outcome in outcomes)
    if rules.strict:
        encoding.refuse_repeats(repeated)
    filled = [outcome.part for outcome in outcomes if outcome.part.items]
    if not filled:
        raise DataError(NOTHING_LEFT)
    unlabelled = sum(outcome.unlabelled for outcome in outcomes)
    report = ReadingReport(cleaning.rows, cleaning.unlabelled, repeated, conflicts, rules.duplicates, unlabelled, found)
    names = Names(pl.Series("item", [], pl.Int64), worker_names.alias("worker"), ordered.alias("label"))
    if rules.duplicates == "set" and conflicts:
        filled = [replace(part, continued=True) for part in filled]
    dtype = np.dtype(np.float64) if ranks is None else ranks.dtype
    return Parts(place, filled, names, worker_places, dtype, integers, memory), report


class _Classes:
    """Gives codes to the labels of batches, which name classes."""

    def __init__(self) -> None:
        self._dictionary = Dictionary()

    def read(self, labelled: pl.DataFrame) -> Array:
        """Return the codes of the labels of one batch."""
        return self._dictionary.encode(labelled["label"])

    def finish(self, integers_in_text: bool) -> tuple[pl.Series, Array | None]:
        """Return the names of the classes in their order, and the number of the class of every code."""
        names = encoding.typed(self._dictionary.names, integers_in_text)
        return names.sort(), encoding.rank(names)


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
        are -1.
    """
    labelled = batch if has_label is None else batch.filter(has_label)
    codes = {"worker": workers.encode(labelled["worker"]), "label": labels.read(labelled)}
    if has_label is not None:
        rows = np.flatnonzero(has_label.to_numpy())
        for role, known in codes.items():
            codes[role] = np.full(batch.height, -1, known.dtype)
            codes[role][rows] = known
    item = batch["item"].rechunk()  # selecting rows from a column in many pieces takes twenty times as long
    order, starts = kernels.split_by_hash(encoding.key(item), bits)
    gathered = {role: known[order] for role, known in codes.items()}
    return pl.DataFrame({"item": item.gather(pl.Series(order.astype(np.uint32))), **gathered}), starts


class _PendingRows:
    """Rows that are split by part: collected in memory, and written to disk when there are too many.

    Args:
        place: The folder to write to.
        parts: The number of parts.
        most_rows: The number of rows to keep in memory.
    """

    def __init__(self, place: Workspace, parts: int, most_rows: int) -> None:
        self._place = place
        self._tables: list[list[pl.DataFrame]] = [[] for _ in range(parts)]
        self._most_rows = most_rows
        self._rows = 0
        self._flushes = 0

    def add(self, table: pl.DataFrame, starts: Array) -> None:
        """Add rows that are sorted by part; part p has the rows from `starts[p]` up to `starts[p + 1]`."""
        for tables, first, last in zip(self._tables, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if last > first:
                tables.append(table[first:last])
        self._rows += table.height
        if self._rows > self._most_rows:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory to disk, in one file per part."""
        with self._place.writing():
            for number, tables in enumerate(self._tables):
                if tables:
                    pl.concat(tables).write_ipc(self._place.path / f"{number:04}-{self._flushes:05}.rows")
                    tables.clear()
        self._flushes += 1
        self._rows = 0

    def pop(self, number: int) -> pl.DataFrame | None:
        """Return the rows of one part in the order they were read, and remove their files; None if there are none."""
        paths = sorted(self._place.path.glob(f"{number:04}-*.rows"))
        tables = [pl.read_ipc(path) for path in paths]
        for path in paths:
            path.unlink()
        return pl.concat(tables, rechunk=True) if tables else None

    @property
    def place(self) -> Workspace:
        """The folder with the parts."""
        return self._place


def _sort(
    pending: _PendingRows,
    number: int,
    ranks: Array | None,
    worker_places: Array,
    duplicates: Duplicates,
    integers_in_text: bool,
) -> _SortedPart:
    """Read the rows of one part, sort them into the arrays of `Labels`, and write these to disk."""
    table = pending.pop(number)
    part = Part(pending.place.path, number, 0, 0, False)
    if table is None:
        return _SortedPart(part, 0, 0, None, 0, True)
    found = arrange(table, ranks, worker_places, duplicates)
    grouped, names = found.grouped, found.items
    part = replace(part, items=len(names), labels=len(grouped.workers), continued=grouped.continued is not None)
    with pending.place.writing():
        part.write(grouped, names)
    first = grouped.conflict
    return _SortedPart(
        part,
        grouped.repeated,
        grouped.conflicts,
        None if first is None else (found.conflicting, first.worker, first.labels),
        found.unlabelled,
        integers_in_text and encoding.typed(names, True).dtype == pl.Int64,
    )


@dataclass(frozen=True)
class Arranged:
    """The sorted labels of some items.

    Attributes:
        grouped: The labels. Items and workers are numbered by their names; the conflict has workers as in the rows.
        items: The names of the items that have a label left, in the order of their numbers.
        unlabelled: The number of items that have none.
        conflicting: The name of the item of the first conflict; None if there is no conflict.
    """

    grouped: Grouped
    items: pl.Series
    unlabelled: int
    conflicting: Any


def arrange(table: pl.DataFrame, ranks: Array | None, worker_places: Array, duplicates: Duplicates) -> Arranged:
    """Sort all rows of some items, and resolve several labels of one worker for one item.

    Args:
        table: The rows: names of items, codes of workers, which are -1 where there is no label, and codes of labels.
        ranks: The number of the class that each code of a label stands for; None if labels are numbers.
        worker_places: The number that each code of a worker stands for; see `Numbering`.
        duplicates: What to do where one worker gave one item several different labels.
    """
    has_label = table["worker"] >= 0
    distinct = None if has_label.all() else table["item"].n_unique()
    table = table if distinct is None else table.filter(has_label)
    item = encoding.encode_column(table["item"], False)
    labels = table["label"].to_numpy() if ranks is None else ranks[table["label"].to_numpy()]
    workers = table["worker"].to_numpy()
    grouped = encoding.group(item.codes, workers, labels, len(item.names), len(worker_places), duplicates)
    names = item.names if len(grouped.items) == len(item.names) else item.names.gather(grouped.items)
    conflicting = None if grouped.conflict is None else item.names[grouped.conflict.item]
    unlabelled = (len(item.names) if distinct is None else distinct) - len(names)
    item_places = numbers(names)
    starts, workers, labels, continued = Numbering(item_places, worker_places).apply(
        grouped.item_starts, grouped.workers, grouped.labels, grouped.continued
    )
    numbered = replace(grouped, item_starts=starts, workers=workers, labels=labels, continued=continued)
    return Arranged(numbered, names.gather(inverse(item_places)), unlabelled, conflicting)


def _refuse_conflicts(
    scans: Sequence[Scan],
    rules: Rules,
    outcomes: Sequence[_SortedPart],
    count: int,
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
            encoding.refuse_conflicts(count, shown, workers[worker], encoding.said_in(said, classes))
