"""Find rows that lack an item, a worker or a label: drop those without a label, refuse the others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..errors import CallError, DataError, require_kind
from .encoding import Duplicates
from .ids import equals, require_values


@dataclass(frozen=True)
class Rules:
    """What to do with rows that cannot be used as they are.

    Attributes:
        duplicates: What to do where one worker gave one item several different labels.
        missing: Values that mean "no label", besides null, NaN and empty text; or one such value.
        strict: Whether to refuse rows that would otherwise be dropped silently.
    """

    duplicates: Duplicates = "error"
    missing: Sequence[Any] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        # One text is one value, not the letters of it.
        if isinstance(self.missing, str) or not isinstance(self.missing, Iterable):
            object.__setattr__(self, "missing", (self.missing,))
        require_kind("strict", self.strict, bool | np.bool_, "True or False")
        for value in self.missing:
            if isinstance(value, str) and not value.isascii() and value != value.encode(errors="replace").decode():
                raise CallError(f"missing has {value!r}, which is not text in UTF-8.")


class Cleaning:
    """Counts the rows of a table that cannot be used. The table is given whole or in batches.

    Args:
        found: The name of the column for each role: item, worker and label.
        missing: Values that mean "no label", besides null, NaN and empty text.

    Attributes:
        rows: The number of rows so far.
        unlabelled: The number of rows so far that have no label.
    """

    def __init__(self, found: Mapping[str, str], missing: Sequence[Any]) -> None:
        self._found = found
        self._missing = missing
        self._absent = {"item": 0, "worker": 0}
        self._first: dict[str, str] = {}
        self._without_value = 0
        self.rows = 0
        self.unlabelled = 0

    def labelled(self, table: pl.DataFrame) -> pl.Series | None:
        """Count the rows of one batch, and return which of them have a label; None if all have one.

        The batch has the columns item, worker and label. Raises `DataError` if one has values that cannot be
        stored in every format.
        """
        for column in table:
            require_values(column, self._found.get(column.name, column.name))
        present = _has_value(table["label"])
        self._without_value += int((~present).sum())
        for value in self._missing:
            present &= ~equals(table["label"], value)
        for role in self._absent:
            self._count_absent(table, role)
        self.rows += table.height
        if present.all():
            return None
        self.unlabelled += int((~present).sum())
        return present

    def check(self, strict: bool) -> None:
        """Raise `DataError` if the rows cannot be used. Call this after the last batch.

        Refused are a table without rows, rows without an item or a worker, and a table without any label. If `strict`
        is true, rows whose label is null, NaN or empty are refused too.
        """
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
        if self._without_value and strict:
            raise DataError(
                f"{self._without_value:,} of {self.rows:,} rows have no label, and strict=True (--strict) forbids "
                "dropping them. Drop them first, or leave strict out."
            )

    def set_counts(self, rows: int, without_value: int, unlabelled: int, absent: Mapping[str, tuple[int, str]]) -> None:
        """Set all counts at once, where the rows were counted elsewhere, such as in a Spark cluster.

        Args:
            rows: The number of rows.
            without_value: The number of rows whose label is null, NaN or empty text.
            unlabelled: The number of rows without a label: those, and the ones with a label that means "no label".
            absent: For the roles item and worker, if any row lacks one: the number of such rows, and a description of
                the first one for the error message.
        """
        self.rows, self._without_value, self.unlabelled = rows, without_value, unlabelled
        for role, (count, first) in absent.items():
            self._absent[role], self._first[role] = count, first

    @property
    def ids_complete(self) -> bool:
        """Whether every row so far has an item and a worker."""
        return not any(self._absent.values())

    def _count_absent(self, table: pl.DataFrame, role: str) -> None:
        """Count the rows of a batch without an item (or worker), and remember the first one for the error message."""
        absent = ~_has_value(table[role])
        if not absent.any():
            return
        if role not in self._first:
            first = int(absent.arg_true()[0])
            others = [f"{name} {value!r}" for name, value in table.row(first, named=True).items() if name != role]
            self._first[role] = f"row {self.rows + first + 1} ({', '.join(others)})"
        self._absent[role] += int(absent.sum())


def _has_value(values: pl.Series) -> pl.Series:
    """Return which values are present: not null, not NaN and not empty text."""
    present = values.is_not_null()
    if values.dtype.is_float():
        present &= values.is_not_nan().fill_null(False)
    if values.dtype == pl.String:
        present &= (values != "").fill_null(False)
    return present
