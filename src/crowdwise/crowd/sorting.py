"""Rows sorted by item and worker, with one label of each worker for each item."""

from dataclasses import astuple, dataclass, fields, replace
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import polars as pl

from ..numerics import Array
from ..numerics.twins import exact_twin
from .encoding import Encoded, continuing, encode_column, require_codes
from .numbering import Numbering, hash_ranks, inverse
from .read_options import Duplicates
from .samples import Samples
from .soft_votes import SOFT_ROLES, SoftRows, is_plain, merge_rows
from .times import moments, tied_labels

# Which rows are kept where one worker gave one item different labels. "error" and "set" are handled afterwards; for
# "latest", rows are sorted by time, and for "samples", the answers of a worker to an item are those of several workers.
Kept = Literal["all", "first", "last", "none"]
_KEPT: Final[dict[Duplicates, Kept]] = {
    "error": "all",
    "first": "first",
    "last": "last",
    "latest": "last",
    "all": "all",
    "samples": "all",
    "set": "all",
    "drop": "none",
}


class LabelArrays(NamedTuple):
    """The arrays of `Labels`, sorted by item and worker.

    Attributes:
        item_starts: Where the labels of each item start; one entry more than there are items.
        workers: The worker of every label.
        labels: The class of every label, or the number.
        continued: Which rows continue the vote of the row before; None if every row is a vote of its own.
        soft: (labels, classes + 1), the probabilities and the weight of every vote; None if all are plain.
    """

    item_starts: Array
    workers: Array
    labels: Array
    continued: Array | None
    soft: Array | None = None


@dataclass(frozen=True)
class SortCounts:
    """What was counted while rows were sorted; the counts of parts are added up.

    Attributes:
        items: The number of items that have a label left.
        labels: The number of labels left.
        repeated: The number of rows that repeat an earlier one exactly.
        conflicts: The number of (item, worker) pairs with several different labels; for "samples", with several.
        unresolved: The number of these pairs that the policy does not resolve, so that the labels are refused.
        unlabelled: The number of items that have no label left.
        soft: The number of votes with a probability or a weight that is not one.
    """

    items: int = 0
    labels: int = 0
    repeated: int = 0
    conflicts: int = 0
    unresolved: int = 0
    unlabelled: int = 0
    soft: int = 0

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all counts."""
        return tuple(one.name for one in fields(cls))

    def __add__(self, other: "SortCounts") -> "SortCounts":
        return SortCounts(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


class Conflict(NamedTuple):
    """One worker who gave one item several different labels, which the policy does not resolve.

    Attributes:
        item: The name of the item.
        worker: The code of the worker.
        labels: The codes of the different labels, or the numbers.
        total: What their probabilities add up to; None if they have none.
    """

    item: Any
    worker: int
    labels: tuple[Any, ...]
    total: float | None = None


class SortedRows(NamedTuple):
    """Labels sorted by item and worker, after repeated labels were dropped or resolved.

    Attributes:
        arrays: The labels.
        items: The names of the items that still have a label.
        counts: What was dropped or resolved.
        conflict: The first conflict that the policy does not resolve; None if there is none.
    """

    arrays: LabelArrays
    items: pl.Series
    counts: SortCounts
    conflict: Conflict | None


def sort_rows(
    item: Encoded,
    worker: Array,
    label: Array,
    n_workers: int,
    duplicates: Duplicates,
    *,
    all_items: int | None,
    times: Array | None,
    samples: Samples | None,
    soft: SoftRows | None = None,
    n_classes: int = 0,
) -> SortedRows:
    """Sort rows that all have a label by item and worker, and resolve several labels of one worker for one item.

    Args:
        item: The item of every row.
        worker: The code of the worker of every row.
        label: The class of every row, or the number.
        n_workers: The number of workers.
        duplicates: What to do where one worker gave one item several different labels.
        all_items: The number of items; None if every item has a label.
        times: When the label of every row was given, for "latest".
        samples: The samples of every worker, for "samples"; they take the place of the workers.
        soft: The probability and the weight of every row; None if rows are plain votes.
        n_classes: The number of classes, if `soft` is given.
    """
    if soft is not None:  # which sample an answer is must not depend on the order of the rows
        order = soft.order
        item, worker, label, soft = (
            replace(item, codes=item.codes[order]),
            worker[order],
            label[order],
            soft.rows(order),
        )
    items, n_items = item.codes, len(item.names)
    require_codes(len(items), "labels to sort at once")
    unresolved, conflict, sampled = 0, None, 0
    if times is not None and soft is None:
        order = np.lexsort((times, worker, items))
        items, worker, label = items[order], worker[order], label[order]
        unresolved, row, said = tied_labels(items, worker, label, times[order])
        if unresolved:
            conflict = Conflict(item.names[int(items[row])], int(worker[row]), tuple(said.tolist()))
    if samples is not None:
        worker, sampled = samples.split(items, item.names, worker, label)
        n_workers = len(samples.names)
    if soft is not None:
        return _sort_soft(item, worker, label, soft, n_classes, duplicates, all_items, sampled)
    starts, workers, labels = group_by_item(items, worker, label, n_items, n_workers)
    keep, repeated, conflicts, first_item, first_row = resolve_repeats(starts, workers, labels, _KEPT[duplicates])
    if conflicts and duplicates == "error":
        same = workers[first_row : starts[first_item + 1]] == workers[first_row]
        different = tuple(dict.fromkeys(labels[first_row : first_row + same.sum()].tolist()))
        conflict = Conflict(item.names[first_item], int(workers[first_row]), different)
        unresolved = conflicts
    names = item.names
    if repeated or conflicts:
        kept = np.concatenate([[0], np.cumsum(keep)])[starts]
        has_labels = np.diff(kept) > 0
        starts = np.concatenate([[0], kept[1:][has_labels]])
        workers, labels = workers[keep], labels[keep]
        names = names if has_labels.all() else names.filter(pl.Series(has_labels))
    if conflicts and duplicates == "all" and labels.dtype == np.float64:
        # Several numbers of one worker for one item are sorted, so that sums do not depend on the order of the rows.
        labels = labels[np.lexsort((labels, workers, np.repeat(np.arange(len(names)), np.diff(starts))))]
    continued = continuing(starts, workers) if duplicates == "set" and conflicts else None
    unlabelled = (n_items if all_items is None else all_items) - len(names)
    counts = SortCounts(len(names), len(workers), repeated, conflicts or sampled, unresolved, unlabelled)
    return SortedRows(LabelArrays(starts, workers, labels, continued), names, counts, conflict)


def _sort_soft(
    item: Encoded,
    worker: Array,
    label: Array,
    rows: SoftRows,
    n_classes: int,
    duplicates: Duplicates,
    all_items: int | None,
    sampled: int,
) -> SortedRows:
    """The same for votes with a probability or a weight."""
    votes = merge_rows(item.codes, worker, label, rows, n_classes, apart=duplicates == "all")
    held = np.bincount(votes.items, minlength=len(item.names))
    starts = np.concatenate([[0], np.cumsum(held[held > 0])])
    names = item.names.filter(pl.Series(held > 0))
    unlabelled = (len(item.names) if all_items is None else all_items) - len(names)
    conflict, pairs = None, 0
    if votes.unsound is not None:
        pairs, first, of_worker, said, total = votes.unsound
        conflict = None if duplicates == "drop" else Conflict(item.names[first], of_worker, said, total)
    n_soft = int((~is_plain(votes.soft)).sum())
    counts = SortCounts(
        len(names), len(votes.items), votes.repeated, pairs or sampled, pairs if conflict else 0, unlabelled, n_soft
    )
    arrays = LabelArrays(starts, votes.workers, votes.labels, None, votes.soft)
    return SortedRows(arrays, names, counts, conflict)


def sort_part(
    table: pl.DataFrame,
    ranks: Array | None,
    worker_numbers: Array,
    duplicates: Duplicates,
    samples: Samples | None = None,
    n_classes: int = 0,
) -> SortedRows:
    """Sort all rows of some items, which then have the numbers of `Numbering`; the conflict keeps the codes.

    Args:
        table: The rows: names of items, codes of workers, which are -1 where there is no label, codes of labels, and
            times for "latest".
        ranks: The number of the class that each code of a label stands for; None if labels are numbers.
        worker_numbers: The number that each code of a worker, or of a sample, stands for; see `Numbering`.
        duplicates: What to do where one worker gave one item several different labels.
        samples: What the samples of every worker are, for "samples".
        n_classes: The number of classes.
    """
    has_label = table["worker"] >= 0
    all_items = None if has_label.all() else table["item"].n_unique()
    table = table if all_items is None else table.filter(has_label)
    labels = table["label"].to_numpy() if ranks is None else ranks[table["label"].to_numpy()]
    found = sort_rows(
        encode_column(table["item"], False),
        table["worker"].to_numpy(),
        labels,
        len(worker_numbers),
        duplicates,
        all_items=all_items,
        times=moments(table["time"]) if duplicates == "latest" else None,
        samples=samples,
        soft=SoftRows.of(table) if {*SOFT_ROLES} & {*table.columns} else None,
        n_classes=n_classes,
    )
    item_numbers = hash_ranks(found.items)
    arrays = LabelArrays(*Numbering(item_numbers, worker_numbers).apply(*found.arrays))
    return found._replace(arrays=arrays, items=found.items.gather(inverse(item_numbers)))


@exact_twin("crowdwise.crowd.encoding_kernel")
def group_by_item(
    items: Array, workers: Array, labels: Array, n_items: int, n_workers: int
) -> tuple[Array, Array, Array]:
    """Sort rows by item and, within an item, by worker; rows of one worker on one item keep their order.

    Returns:
        Where the rows of each item start (items + 1), and the workers and labels of the sorted rows.
    """
    order = np.lexsort((workers, items))
    starts = np.concatenate([[0], np.cumsum(np.bincount(items, minlength=n_items))])
    return starts, workers[order], labels[order]


def resolve_repeats(item_starts: Array, workers: Array, labels: Array, kept: Kept) -> tuple[Array, int, int, int, int]:
    """Decide which rows to keep where one worker labelled one item more than once.

    A row with the same label as an earlier one is never kept. A worker who gave an item different labels is called a
    conflict; `kept` says which of these rows to keep.

    Returns:
        Which rows to keep (rows); how many rows repeat an earlier one; how many conflicts there are; and the item and
        the first row of the first conflict, or -1 and -1 if there is none.
    """
    keep = np.ones(len(workers), np.bool_)
    same = continuing(item_starts, workers)  # whether a row has the item and worker of the row before
    if not same.any():
        return keep, 0, 0, -1, -1
    rows = np.flatnonzero(same | np.append(same[1:], False))
    pair = np.cumsum(~same[rows]) - 1
    firsts = np.flatnonzero(~same[rows])
    # After a stable sort by pair and label, a row that equals the one before it repeats an earlier row.
    order = np.lexsort((labels[rows], pair))
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (np.diff(pair[order]) != 0) | (labels[rows][order][1:] != labels[rows][order][:-1])
    keep[rows[order]] = is_new
    in_conflict = np.bincount(pair[order][is_new]) > 1
    repeated, conflicts = int((~is_new).sum()), int(in_conflict.sum())
    if not conflicts:
        return keep, repeated, 0, -1, -1
    first_rows = rows[firsts[in_conflict]]
    if kept != "all":
        keep[rows[in_conflict[pair]]] = False
    if kept == "first":
        keep[first_rows] = True
    elif kept == "last":
        keep[rows[np.append(firsts[1:], len(rows))[in_conflict] - 1]] = True
    first_item = int(np.searchsorted(item_starts, first_rows[0], side="right")) - 1
    return keep, repeated, conflicts, first_item, int(first_rows[0])
