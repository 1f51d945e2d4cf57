"""Refuse tables of another kind than one class per vote, by their columns: comparisons and spans.

Each refusal says what the table looks like and what to do. A table is not refused as comparisons if the user named the
column of items, nor as spans if the user named the column of labels.
"""

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from ..errors import DataError


class OtherTableError(DataError):
    """A table is of another kind than one class per vote."""


# Columns that say where a span begins and ends; offsets are smaller than the number of seconds since 1970.
_SPANS: Final = (("start", "end"), ("start_offset", "end_offset"), ("begin", "end"), ("start_char", "end_char"))
_LARGEST_OFFSET: Final = 1e9
# Columns of two things that are compared. Those of the first pair may have other meanings too.
_COMPARED: Final = (
    ("left", "right"),
    ("model_a", "model_b"),
    ("model_x", "model_y"),
    ("model_1", "model_2"),
    ("response_a", "response_b"),
    ("output_a", "output_b"),
    ("answer_a", "answer_b"),
    ("item_a", "item_b"),
    ("item_1", "item_2"),
    ("left_item", "right_item"),
)


def refuse_comparisons(columns: Sequence[str], where: str, is_read: bool) -> None:
    """Raise `OtherTableError` if the columns of a table are those of comparisons of two things.

    Args:
        columns: The names of all columns; the user named none as the item.
        where: The name of the table.
        is_read: Whether there are columns for the item, the worker and the label all the same.
    """
    pair = _pair(columns, _COMPARED[1:] if is_read else _COMPARED)
    if pair is not None:
        raise OtherTableError(
            f"{where} looks like comparisons of two things, in columns {pair[0]!r} and {pair[1]!r}; ranking is not "
            "supported yet. To infer which of the two is better in each pair, name the column of pairs with item= "
            "(--item) and that of the winner with label= (--label)."
        )


def refuse_spans(columns: Sequence[str], first_rows: Callable[[list[str]], pl.DataFrame | None], where: str) -> None:
    """Raise `OtherTableError` if columns of a table say where labelled spans begin and end.

    Args:
        columns: The names of all columns; the user named none as the label.
        first_rows: Takes names of columns, and returns these columns of some rows; None if they cannot be read.
        where: The name of the table.
    """
    pair = _pair(columns, _SPANS)
    sample = None if pair is None else first_rows(list(pair))
    if pair is None or sample is None:
        return
    start, end = (sample[name].cast(pl.Int64, strict=False) for name in pair)
    are_integers = all(sample[name].dtype.is_integer() or sample[name].dtype == pl.String for name in pair)
    given = sample.drop_nulls().height
    is_span = ((start >= 0) & (start <= end) & (end < _LARGEST_OFFSET)).fill_null(False)
    if given and are_integers and is_span.sum() == given:
        raise OtherTableError(
            f"{where} looks like spans, which begin and end where columns {pair[0]!r} and {pair[1]!r} say: labels of "
            "different spans of an item are not votes on the same thing. Make an item of each span or token that "
            "workers labelled. If these columns are something else, name the column of labels with label= (--label)."
        )


def _pair(columns: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the first pair of columns that has one of some pairs of names; None if there is none."""
    named = {column.strip().lower(): column for column in columns}
    return next(((named[one], named[other]) for one, other in pairs if one in named and other in named), None)
