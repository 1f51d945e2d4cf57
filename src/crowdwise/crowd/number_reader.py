"""`NumberReader`: labels as numbers."""

import re
from typing import Final

import numpy as np
import polars as pl

from ..errors import DataError, quoted, shortened
from ..numerics import Array
from .ids import TEXT
from .reading_report import several

# How a number is written in text, such as 12, -0.5 or 1e3; both polars and Spark read what matches.
NUMBER: Final = r"^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$"
# Squares of larger numbers, and their inverses, would be out of the range of numbers.
LARGEST: Final = 1e60
# The names of classes, of which there are none.
NO_CLASSES: Final = pl.Series("label", [], pl.Float64)
_TEXT: Final = (*TEXT, pl.Null)


class NumberReader:
    """Reads labels as numbers. The table is given whole or in batches; messages name the column of labels."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._labels = 0
        self._unusable = 0
        self._first = ""

    def read(self, labelled: pl.DataFrame) -> Array:
        """Return the numbers of rows that all have a label; what is no usable number is refused by `finish`.

        Raises `DataError` if the column is of a data type that is neither numbers nor text.
        """
        column = labelled["label"]
        if not (column.dtype.is_numeric() or column.dtype in _TEXT):
            raise DataError(
                f"Column {self._column!r} holds {column.dtype.base_type()}, and numeric labels are numbers, or text "
                "that says numbers: turn each value into a number first."
            )
        if column.dtype in _TEXT:
            text = column.cast(pl.String)
            column = pl.select(pl.when(text.str.contains(NUMBER)).then(text.str.strip_chars())).to_series()
        values = column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        usable = np.abs(values) <= LARGEST
        self._labels += len(values)
        self._unusable += int((~usable).sum())
        if self._unusable and not self._first:
            row = labelled.row(int(np.argmin(usable)), named=True)
            self._first = first_case(row["label"], row["item"], row["worker"])
        return values + 0.0  # a copy that may be written to, in which -0.0 is 0.0

    def finish(self, _integers_in_text: bool = False) -> tuple[pl.Series, None]:
        """Refuse labels that were no usable numbers, and return that there are no classes and no codes of them.

        Call this after the last batch.
        """
        refuse_unusable(self._unusable, self._labels, self._first)
        return NO_CLASSES, None


# How `first_case` begins with a number as it is written in most of Europe.
_DECIMAL_COMMA: Final = re.compile(r"'[+-]?[0-9.]*,[0-9]+'")


def first_case(label: object, item: object, worker: object) -> str:
    """Return the first label that is no usable number, in words."""
    return f"{shortened(repr(label), 60)} (item {quoted(item)}, worker {quoted(worker)})"


def refuse_unusable(count: int, labels: int, first: str) -> None:
    """Raise `DataError` if `count` of all labels are no usable numbers; `first` is the first of them, in words."""
    if count:
        comma = " with a point and no comma before the decimals," if _DECIMAL_COMMA.match(first) else ""
        raise DataError(
            f"{several(count, 'label is not a finite number', 'labels are not finite numbers')} (up to {LARGEST:g}), "
            f"of {labels:,}; first: {first}. Write numbers like 12, -0.5 or 1e3,{comma} all in one unit that is left "
            "out, or name values that mean no label with missing= (--missing); or leave out numeric=True (--numeric) "
            "if labels are classes."
        )
