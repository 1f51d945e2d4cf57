"""Integer codes for items, workers and labels."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from ..errors import DataError
from ..numerics import Array
from ..numerics.twins import is_few

# Rows to look at when guessing how many different values a column has.
_SAMPLE_ROWS: Final = 4096
# Above this many values, it is faster to copy a column into one piece before selecting them.
_MANY_VALUES: Final = 4096

# Codes are signed integers of 32 bits, in memory, on disk and in a cluster; so are the counts of votes of an item.
MOST_CODES: Final = 2**31 - 1

# Integers as programs write them. Text with a leading zero or a plus sign is an id that must stay text.
INTEGER: Final = r"^(0|-?[1-9][0-9]{0,18})$"


@dataclass(frozen=True)
class Encoded:
    """One column as codes, numbered in the order of first appearance.

    Attributes:
        codes: The code of every row.
        names: The value that each code stands for, in the data type of the column.
    """

    codes: Array
    names: pl.Series


def encode_column(column: pl.Series, integers_in_text: bool) -> Encoded:
    """Encode a whole column; with `integers_in_text`, text that holds only integers gets integers as names."""
    # If few values of a sample repeat, the hash table starts large: growing it step by step takes longer.
    sample = column.head(_SAMPLE_ROWS)
    expected = len(column) // 4 if sample.n_unique() > len(sample) // 2 else len(sample)
    dictionary = Dictionary(expected)
    codes = dictionary.encode(column)
    return Encoded(codes, typed(dictionary.names, integers_in_text))


def require_codes(count: int, what: str) -> None:
    """Raise `DataError` if there is more of something than there are codes."""
    if count > MOST_CODES:
        raise DataError(
            f"There are more than {MOST_CODES:,} {what}, too many for one crowd: split the items into several crowds, "
            'or try engine="disk" (--engine disk), which numbers items part by part.'
        )


class Dictionary:
    """Gives codes to the values of a column, in the order of first appearance. The column is given whole or in batches.

    `expected` is about how many different values there will be; the hash table grows if there are more.
    """

    def __init__(self, expected: int = _SAMPLE_ROWS) -> None:
        self._expected = expected
        self._numbers: dict[tuple[int, int], int] = {}  # of few values; of many, the hash table of the kernel
        self._slots: Array | None = None
        self._names: list[pl.Series] = []
        self._rows = self._count = 0

    def encode(self, column: pl.Series) -> Array:
        """Return the codes of one batch; values that were not seen before get new codes."""
        self._rows += len(column)
        encode = self._encode_few if is_few(self._rows) else self._encode_many
        codes, first_rows = encode(*keys(column))
        if len(first_rows) or not self._names:
            one_piece = column.rechunk() if len(first_rows) > _MANY_VALUES else column
            self._names.append(one_piece.gather(first_rows))
            self._count += len(first_rows)
            require_codes(self._count, f"different values of the {column.name}")
        return codes

    def _encode_few(self, key: Array, check: Array) -> tuple[Array, Array]:
        """Return the code of every row, and the first row of every new code."""
        pairs = zip(key.tolist(), (check >> np.uint64(32)).tolist(), strict=True)
        codes = np.array([self._numbers.setdefault(pair, len(self._numbers)) for pair in pairs], np.int32)
        # A new code is larger than all before it.
        highest = np.maximum.accumulate(np.concatenate([[self._count - 1], codes]))
        return codes, np.flatnonzero(np.diff(highest))

    def _encode_many(self, key: Array, check: Array) -> tuple[Array, Array]:
        """Do as `_encode_few` does, by a kernel."""
        from . import encoding_kernel  # which imports Numba

        if self._slots is None:
            self._slots = encoding_kernel.make_slots(max(self._expected, self._count))
        if self._numbers:
            keys_before, checks_before = np.array([*self._numbers], np.uint64).T.copy()
            checks_before <<= np.uint64(32)
            # For arrays that can be written to, Numba compiles another kernel than for others.
            keys_before.flags.writeable, checks_before.flags.writeable = key.flags.writeable, check.flags.writeable
            *_, self._slots = encoding_kernel.encode(keys_before, checks_before, self._slots, 0)
            self._numbers = {}
        codes, first_rows, self._slots = encoding_kernel.encode(key, check, self._slots, self._count)
        return codes, first_rows

    @property
    def names(self) -> pl.Series:
        """The value that each code stands for."""
        self._names = [pl.concat(self._names)]
        return self._names[0]


def typed(names: pl.Series, integers_in_text: bool) -> pl.Series:
    """Return the names as integers if all are integers written as text and this is asked for; else unchanged."""
    if integers_in_text and names.dtype == pl.String and names.str.contains(INTEGER).all():
        with suppress(pl.exceptions.InvalidOperationError):  # integers of more than 64 bits stay text
            return names.cast(pl.Int64)
    return names


def key(column: pl.Series) -> Array:
    """Return the first of the two numbers that `keys` gives for each row."""
    return column.hash(seed=1).to_numpy() if column.dtype == pl.String else keys(column)[0]


def keys(column: pl.Series) -> tuple[Array, Array]:
    """Return two 64-bit numbers per row; both are equal for two rows exactly if the values are equal.

    Text is hashed twice with different seeds. 96 bits of the two hashes are compared, so a collision is less likely
    than a hardware error. Other values are numbers already: the first number is the value itself, the second is 0.
    """
    dtype = column.dtype
    if dtype == pl.String:
        return column.hash(seed=1).to_numpy(), column.hash(seed=2).to_numpy()
    if dtype.is_float():
        numbers = (column.cast(pl.Float64).to_numpy() + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0
        return numbers, np.zeros_like(numbers)
    if dtype.is_decimal() or dtype in (pl.Int128, pl.UInt128):
        return keys(column.cast(pl.String))
    column = column.to_physical()
    column = column.reinterpret(signed=True) if column.dtype == pl.UInt64 else column.cast(pl.Int64)
    numbers = column.to_numpy().view(np.uint64)
    return numbers, np.zeros_like(numbers)


def starts_pair(items: Array, workers: Array) -> Array:
    """Return which rows are the first of their item and worker, in rows that are sorted by both."""
    is_first = np.ones(len(items), np.bool_)
    is_first[1:] = (items[1:] != items[:-1]) | (workers[1:] != workers[:-1])
    return is_first


def continuing(item_starts: Array, workers: Array) -> Array:
    """Return which rows are of the same worker on the same item as the row before them."""
    continued = np.zeros(len(workers), bool)
    continued[1:] = workers[1:] == workers[:-1]
    continued[item_starts[item_starts < len(workers)]] = False
    return continued
