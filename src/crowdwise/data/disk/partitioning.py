"""Rows of any number into parts on disk: all rows of an item in one part, each part small enough for memory.

Read once, a batch at a time. Workers and classes get a code as they appear, for all parts; items only within their
part, so there is never a list of all items.
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
from ..reading_report import ReadingReport
from ..sources import Scan
from .part_files import Part, Parts
from .workspace import Workspace

# Called with the name of a phase and the share of it that is done.
Phases = Callable[[str, float], None]

# Bytes that sorting a part takes for each of its labels, on each thread; and that a row takes until it is written.
_SORTING: Final = 160
_WAITING: Final = 64
_BATCH: Final = 1_000_000
_MOST_PARTS: Final = 4096


@dataclass(frozen=True)
class _Sorted:
    """A part, and what was found in it."""

    part: Part
    repeated: int
    conflicts: int
    conflict: tuple[Any, int, tuple[int, ...]] | None
    unlabelled: int
    integers: bool


def partition(
    scans: Sequence[Scan], found: dict[str, str], rules: Rules, place: Workspace, memory: int, rows: int, phases: Phases
) -> tuple[Parts, ReadingReport]:
    """Read about so many `rows` into parts that take about a third of `memory` while they are worked on."""
    encoding.check_policy(rules.duplicates)
    # A format that has only text, such as CSV, writes integers as text.
    integers_in_text = any(one.is_text for one in scans)
    wanted = 3 * rows * _SORTING * thread_count() / memory
    bits = math.ceil(math.log2(min(max(wanted, 4), _MOST_PARTS)))
    cleaning, workers, classes = Cleaning(found, rules.missing), Dictionary(), Dictionary()
    heaps = _Heaps(place, 1 << bits, memory // (8 * _WAITING))
    for batch in _batches(scans, min(_BATCH, max(memory // (8 * _WAITING), 1000))):
        there = cleaning.labelled(batch)
        if cleaning.sound:  # else it will be refused, and the rest is only counted
            heaps.add(*_dealt(batch, there, workers, classes, bits))
        phases("reading", min(cleaning.rows / max(rows, 1), 1.0))
    cleaning.check(rules.strict)
    heaps.flush()
    worker_names = encoding.typed(workers.names, integers_in_text)
    class_names = encoding.typed(classes.names, integers_in_text)
    ranks = encoding.rank(class_names)
    outcomes: list[_Sorted] = []

    def use(outcome: _Sorted) -> None:
        outcomes.append(outcome)
        phases("sorting", len(outcomes) / (1 << bits))

    with Threads(1 << bits) as threads:
        threads.run(
            lambda number: _sort(heaps, number, ranks, len(worker_names), rules.duplicates, integers_in_text), use
        )
    conflicts = sum(outcome.conflicts for outcome in outcomes)
    integers = integers_in_text and all(outcome.integers for outcome in outcomes if outcome.part.items)
    ordered = class_names.sort()
    if conflicts and rules.duplicates == "error":
        _refuse_first(scans, rules, outcomes, conflicts, integers, worker_names, ordered)
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
    return Parts(place, filled, names, ranks.dtype, integers, memory), report


def _batches(scans: Sequence[Scan], rows: int) -> Iterator[pl.DataFrame]:
    for one in scans:
        yield from one.batches(rows)


def _dealt(
    batch: pl.DataFrame, there: pl.Series | None, workers: Dictionary, classes: Dictionary, bits: int
) -> tuple[pl.DataFrame, Array]:
    """The batch as codes in the order of the parts, and where each part starts; without a label, the code is -1."""
    given = batch if there is None else batch.filter(there)
    codes = {"worker": workers.encode(given["worker"]), "label": classes.encode(given["label"])}
    if there is not None:
        rows = np.flatnonzero(there.to_numpy())
        for role, known in codes.items():
            codes[role] = np.full(batch.height, -1, np.int32)
            codes[role][rows] = known
    item = batch["item"].rechunk()  # gathering from many pieces takes twenty times as long
    order, starts = kernels.deal(encoding.key(item), bits)
    gathered = {role: known[order] for role, known in codes.items()}
    return pl.DataFrame({"item": item.gather(pl.Series(order.astype(np.uint32))), **gathered}), starts


class _Heaps:
    """Rows that wait to be written, by part, and what was written of each."""

    def __init__(self, place: Workspace, parts: int, most: int) -> None:
        self._place = place
        self._waiting: list[list[pl.DataFrame]] = [[] for _ in range(parts)]
        self._most = most
        self._rows = 0
        self._written = 0

    def add(self, table: pl.DataFrame, starts: Array) -> None:
        """Take rows in the order of the parts."""
        for heap, first, last in zip(self._waiting, starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if last > first:
                heap.append(table[first:last])
        self._rows += table.height
        if self._rows > self._most:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        with self._place.writing():
            for number, heap in enumerate(self._waiting):
                if heap:
                    pl.concat(heap).write_ipc(self._place.path / f"{number:04}-{self._written:05}.rows")
                    heap.clear()
        self._written += 1
        self._rows = 0

    def take(self, number: int) -> pl.DataFrame | None:
        """The rows of one part in the order they were read; their files are removed."""
        paths = sorted(self._place.path.glob(f"{number:04}-*.rows"))
        tables = [pl.read_ipc(path) for path in paths]
        for path in paths:
            path.unlink()
        return pl.concat(tables, rechunk=True) if tables else None

    @property
    def place(self) -> Workspace:
        """Where the parts are to be."""
        return self._place


def _sort(
    heaps: _Heaps, number: int, ranks: Array, n_workers: int, duplicates: Duplicates, integers_in_text: bool
) -> _Sorted:
    """Bring one part into the three arrays that `Labels` has, and write them."""
    table = heaps.take(number)
    part = Part(heaps.place.path, number, 0, 0, False)
    if table is None:
        return _Sorted(part, 0, 0, None, 0, True)
    found = arrange(table, ranks, n_workers, duplicates)
    grouped, names = found.grouped, found.items
    part = replace(part, items=len(names), labels=len(grouped.workers), continued=grouped.continued is not None)
    with heaps.place.writing():
        part.write(grouped, names)
    first = grouped.conflict
    return _Sorted(
        part,
        grouped.repeated,
        grouped.conflicts,
        None if first is None else (found.conflicting, first.worker, first.labels),
        found.unlabelled,
        integers_in_text and encoding.typed(names, True).dtype == pl.Int64,
    )


@dataclass(frozen=True)
class Arranged:
    """The labels of a part, sorted, with the names of its items."""

    grouped: Grouped
    items: pl.Series
    unlabelled: int
    conflicting: Any  # the item of the first conflict


def arrange(table: pl.DataFrame, ranks: Array, n_workers: int, duplicates: Duplicates) -> Arranged:
    """Sort all rows of some items, with codes of workers and classes; a label of -1 is none."""
    there = table["label"] >= 0
    distinct = None if there.all() else table["item"].n_unique()
    table = table if distinct is None else table.filter(there)
    item = encoding.encode_column(table["item"], False)
    labels = ranks[table["label"].to_numpy()]
    grouped = encoding.group(item.codes, table["worker"].to_numpy(), labels, len(item.names), n_workers, duplicates)
    names = item.names if len(grouped.items) == len(item.names) else item.names.gather(grouped.items)
    conflicting = None if grouped.conflict is None else item.names[grouped.conflict.item]
    return Arranged(grouped, names, (len(item.names) if distinct is None else distinct) - len(names), conflicting)


def _refuse_first(
    scans: Sequence[Scan],
    rules: Rules,
    outcomes: Sequence[_Sorted],
    count: int,
    integers: bool,
    workers: pl.Series,
    classes: pl.Series,
) -> None:
    """Refuse conflicts, naming the one whose item comes first: every part knows its own, so the rows are read again."""
    firsts: Mapping[Any, Any] = {one.conflict[0]: one.conflict for one in outcomes if one.conflict is not None}
    for batch in _batches(scans, _BATCH):
        there = Cleaning({}, rules.missing).labelled(batch)
        given = batch if there is None else batch.filter(there)
        hits = given["item"].filter(given["item"].is_in(list(firsts)))
        if len(hits):
            item, worker, said = firsts[hits[0]]
            shown = int(item) if integers else item
            encoding.refuse_conflicts(count, shown, workers[worker], classes.gather(list(said)))
