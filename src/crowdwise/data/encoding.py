"""From three columns of a table to three arrays of codes: ids are read once, here, and never again."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

import numpy as np
import polars as pl

from .. import kernels
from ..errors import CallError, DataError
from ..kernels import Array
from .reading_report import several

Duplicates = Literal["error", "first", "last", "all", "set", "drop"]

POLICIES: Final[dict[str, int]] = {
    "error": kernels.KEEP_ALL,
    "first": kernels.KEEP_FIRST,
    "last": kernels.KEEP_LAST,
    "all": kernels.KEEP_ALL,
    "set": kernels.KEEP_ALL,
    "drop": kernels.KEEP_NONE,
}

_SAMPLE: Final = 4096

# Integers as a program would write them: a leading zero or a plus makes it an id that must stay text.
INTEGER: Final = r"^(0|-?[1-9][0-9]{0,18})$"


@dataclass(frozen=True)
class Encoded:
    """Codes of one column in order of first appearance, and what the codes mean in the column's own dtype."""

    codes: Array
    names: pl.Series


@dataclass(frozen=True)
class Conflict:
    """One worker with several labels on one item, as codes."""

    item: int
    worker: int
    labels: tuple[int, ...]


@dataclass(frozen=True)
class Grouped:
    """Labels sorted by item and worker, with repeats resolved, and what resolving them did."""

    item_starts: Array
    workers: Array
    labels: Array
    continued: Array | None  # with set-valued votes, rows that continue the vote of the row before
    items: Array  # codes of the items that still have a label
    repeated: int
    conflicts: int
    conflict: Conflict | None  # the first one


def check_policy(duplicates: str) -> None:
    """Refuse a policy that does not exist."""
    if duplicates not in POLICIES:
        raise CallError(f"duplicates={duplicates!r} is not one of {', '.join(map(repr, POLICIES))}.")


def encode_columns(columns: list[pl.Series], integers_in_text: bool) -> list[Encoded]:
    """Encode every column, two at a time: hashing and the kernel both release the interpreter lock."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda column: encode_column(column, integers_in_text), columns))


def encode_column(column: pl.Series, integers_in_text: bool) -> Encoded:
    """Encode a whole column."""
    # Where a sample hardly repeats, a large table from the start spares it most of its growing.
    sample = column.head(_SAMPLE)
    expected = len(column) // 4 if sample.n_unique() > len(sample) // 2 else len(sample)
    dictionary = Dictionary(expected)
    codes = dictionary.encode(column)
    return Encoded(codes, typed(dictionary.names, integers_in_text))


class Dictionary:
    """Codes of one column in order of first appearance, read as a whole or piece by piece."""

    def __init__(self, expected: int = _SAMPLE) -> None:
        self._slots = kernels.make_slots(expected)
        self._names: list[pl.Series] = []
        self._count = 0

    def encode(self, column: pl.Series) -> Array:
        """The codes of this piece."""
        codes, first_rows, self._slots = kernels.encode(*keys(column), self._slots, self._count)
        if len(first_rows) or not self._names:
            # Gathering much from many pieces takes far longer than making one of them first.
            whole = column.rechunk() if len(first_rows) > _SAMPLE else column
            self._names.append(whole.gather(first_rows))
            self._count += len(first_rows)
        return np.asarray(codes)

    @property
    def names(self) -> pl.Series:
        """What the codes mean."""
        self._names = [pl.concat(self._names)]
        return self._names[0]


def typed(names: pl.Series, integers_in_text: bool) -> pl.Series:
    """Names, as integers where text that stands for them has nothing else."""
    if integers_in_text and names.dtype == pl.String and names.str.contains(INTEGER).all():
        with suppress(pl.exceptions.InvalidOperationError):  # 19 digits, but past 64 bits: it stays text
            return names.cast(pl.Int64)
    return names


def key(column: pl.Series) -> Array:
    """The first of a value's two keys."""
    return column.hash(seed=1).to_numpy() if column.dtype == pl.String else keys(column)[0]


def keys(column: pl.Series) -> tuple[Array, Array]:
    """Two 64-bit numbers per row that are equal exactly where the values are.

    Text is hashed twice with different seeds; the 96 bits that are compared make a collision less likely
    than a broken machine. Everything else is a number already, and is its own key.
    """
    dtype = column.dtype
    if dtype == pl.String:
        return column.hash(seed=1).to_numpy(), column.hash(seed=2).to_numpy()
    if dtype.is_float():
        numbers = (column.cast(pl.Float64).to_numpy() + 0.0).view(np.uint64)  # + 0.0: minus zero is zero
        return numbers, np.zeros_like(numbers)
    if dtype.is_decimal() or dtype in (pl.Int128, pl.UInt128):
        return keys(column.cast(pl.String))
    # Bytes and durations are left out: most formats cannot write them.
    if dtype.is_integer() or dtype in (pl.Boolean, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time):
        column = column.to_physical()
        column = column.reinterpret(signed=True) if column.dtype == pl.UInt64 else column.cast(pl.Int64)
    else:
        raise DataError(
            f"Column {column.name!r} holds {dtype}; ids and labels are text, numbers, booleans or dates. "
            "Turn each value into one of those first."
        )
    numbers = column.to_numpy().view(np.uint64)
    return numbers, np.zeros_like(numbers)


def order_classes(encoded: Encoded) -> Encoded:
    """Number the classes in the order of their values instead, so that a tie does not depend on row order."""
    ranks = rank(encoded.names)
    return Encoded(ranks[encoded.codes], encoded.names.sort())


def rank(names: pl.Series) -> Array:
    """The place of every name in the order of their values, as the smallest unsigned integer that fits."""
    ranks = np.empty(len(names), np.min_scalar_type(max(len(names) - 1, 0)))
    ranks[names.arg_sort().to_numpy()] = np.arange(len(names))
    return ranks


def group(item: Array, worker: Array, label: Array, n_items: int, n_workers: int, duplicates: Duplicates) -> Grouped:
    """Sort codes by item and settle what one worker said more than once about one item."""
    starts, workers, labels = kernels.group_by_item(item, worker, label, n_items, n_workers)
    keep, repeated, conflicts, first_item, first_row = kernels.resolve_repeats(
        starts, workers, labels, POLICIES[duplicates]
    )
    conflict = None
    if conflicts:
        same = workers[first_row : starts[first_item + 1]] == workers[first_row]
        said = labels[first_row : first_row + same.sum()].tolist()
        conflict = Conflict(int(first_item), int(workers[first_row]), tuple(dict.fromkeys(said)))
    items = np.arange(n_items, dtype=np.int64)
    if repeated or conflicts:
        kept = np.concatenate([[0], np.cumsum(keep)])[starts]
        filled = np.diff(kept) > 0
        starts = np.concatenate([[0], kept[1:][filled]])
        items, workers, labels = items[filled], workers[keep], labels[keep]
    continued = None
    if duplicates == "set" and conflicts:
        continued = np.zeros(len(workers), bool)
        continued[1:] = workers[1:] == workers[:-1]
        continued[starts[:-1]] = False
    return Grouped(starts, workers, labels, continued, items, repeated, conflicts, conflict)


def refuse_conflicts(count: int, item: Any, worker: Any, said: Iterable[Any]) -> NoReturn:
    """Say how many pairs conflict, which is the first, and what to do."""
    raise DataError(
        f"{several(count, '(item, worker) pair has', '(item, worker) pairs have')} more than one "
        f"label; first: item {item!r}, worker {worker!r} said {' and '.join(repr(value) for value in said)}. "
        'Pass duplicates="first", "last", "all", "set" or "drop" (--duplicates on the command line).'
    )


def refuse_repeats(count: int) -> None:
    """Say how many rows repeat, if any: for those who forbid dropping them."""
    if count:
        raise DataError(
            f"{several(count, 'row repeats', 'rows repeat')} an earlier one exactly, and strict=True "
            "(--strict) forbids dropping them. Drop them first, or leave strict out."
        )
