"""Compute how wide the columns of a table in the terminal are."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Needs(NamedTuple):
    """The widths that a column needs, in characters.

    Attributes:
        whole: The width at which nothing is wrapped.
        words: The width at which no word is broken.
        least: The width below which the column would be useless.
    """

    whole: int
    words: int
    least: int


def share(columns: Sequence[Needs], room: int) -> list[int]:
    """Return a width for each column, so that together they fit into `room` characters.

    If they are too wide, the widest column is made narrower first. Words are broken only if all columns are wrapped
    between words already. If the least widths do not fit into `room`, they are used all the same.

    >>> share([Needs(16, 16, 6), Needs(8, 8, 8), Needs(70, 9, 6)], 60)
    [16, 8, 36]
    >>> share([Needs(16, 16, 6), Needs(8, 8, 8), Needs(70, 9, 6)], 24)
    [8, 8, 8]
    """
    widths = [column.whole for column in columns]
    for floors in ([column.words for column in columns], [column.least for column in columns]):
        while sum(widths) > room:
            reducible = [place for place, width in enumerate(widths) if width > floors[place]]
            if not reducible:
                break
            widths[max(reducible, key=widths.__getitem__)] -= 1
    return widths


def left_out(columns: Mapping[str, Needs], spare: Sequence[str], screen: int, gap: int) -> list[str]:
    """Return which columns to leave out, so that no word of the others has to be broken.

    Args:
        columns: The columns, by name.
        spare: The columns that can be left out, in the order in which they are.
        screen: The width of the screen, in characters.
        gap: The space between two columns.

    >>> left_out({"item": Needs(9, 9, 4), "score": Needs(6, 6, 6), "votes": Needs(5, 5, 5)}, ["votes", "score"], 18, 2)
    ['votes']
    """
    missing: list[str] = []
    for name in (name for name in spare if name in columns):
        if sum(column.words + gap for other, column in columns.items() if other not in missing) - gap <= screen:
            break
        missing.append(name)
    return missing
