"""Rows that cannot be used: without a label they are dropped and counted, without an item or a worker refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ..errors import DataError
from .encoding import Duplicates


@dataclass(frozen=True)
class Rules:
    """What to do with rows that cannot be used as they are.

    Attributes:
        duplicates: What to do where one worker gave one item several different labels.
        missing: Values that mean "no label" besides null, NaN and empty text.
        strict: Whether to refuse the rows instead of repairing them.
    """

    duplicates: Duplicates = "error"
    missing: Sequence[Any] = ()
    strict: bool = False


class Cleaning:
    """What is wrong with the rows of a table, read as a whole or piece by piece.

    Args:
        found: Role to the name of its column.
        missing: Values that mean "no label" besides null, NaN and empty text.
    """

    def __init__(self, found: Mapping[str, str], missing: Sequence[Any]) -> None:
        self._found = found
        self._missing = missing
        self._absent = {"item": 0, "worker": 0}
        self._first: dict[str, str] = {}
        self._silent = 0
        self.rows = 0
        self.unlabelled = 0

    def labelled(self, table: pl.DataFrame) -> pl.Series | None:
        """Which rows of this piece have a label; None if all have."""
        there = _given(table["label"])
        self._silent += int((~there).sum())
        for value in self._missing:
            there &= table["label"].cast(pl.String) != str(value)
        for role in self._absent:
            self._count_absent(table, role)
        self.rows += table.height
        if there.all():
            return None
        self.unlabelled += int((~there).sum())
        return there

    def check(self, strict: bool) -> None:
        """Refuse the rows, once all were read, if they cannot be used."""
        if self.rows == 0:
            raise DataError("There are no rows: an empty table has no truth to infer.")
        for role, count in self._absent.items():
            if count:
                raise DataError(
                    f"{count:,} of {self.rows:,} rows have no {role}; first: {self._first[role]}. "
                    f"Fill in column {self._found[role]!r} or leave those rows out."
                )
        if self.unlabelled == self.rows:
            raise DataError(f"All {self.rows:,} rows are without a label: column {self._found['label']!r} is empty.")
        if self._silent and strict:
            raise DataError(
                f"{self._silent:,} of {self.rows:,} rows have no label, and strict=True (--strict) forbids dropping "
                "them. Drop them first, or leave strict out."
            )

    def take(self, rows: int, silent: int, unlabelled: int, absent: Mapping[str, tuple[int, str]]) -> None:
        """Take over what was counted elsewhere: rows without an item or a worker with the first of each."""
        self.rows, self._silent, self.unlabelled = rows, silent, unlabelled
        for role, (count, first) in absent.items():
            self._absent[role], self._first[role] = count, first

    @property
    def sound(self) -> bool:
        """Whether every row so far has an item and a worker."""
        return not any(self._absent.values())

    def _count_absent(self, table: pl.DataFrame, role: str) -> None:
        absent = ~_given(table[role])
        if not absent.any():
            return
        if role not in self._first:
            first = int(absent.arg_true()[0])
            rest = [f"{name} {value!r}" for name, value in table.row(first, named=True).items() if name != role]
            self._first[role] = f"row {self.rows + first + 1} ({', '.join(rest)})"
        self._absent[role] += int(absent.sum())


def _given(values: pl.Series) -> pl.Series:
    """Which values are there: not null, NaN or empty text."""
    there = values.is_not_null()
    if values.dtype.is_float():
        there &= values.is_not_nan().fill_null(False)
    if values.dtype == pl.String:
        there &= (values != "").fill_null(False)
    return there
