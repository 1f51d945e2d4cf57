"""How wide the columns of a table on the screen are: what is long gives way, and words break last."""

from collections.abc import Sequence
from typing import NamedTuple


class Needs(NamedTuple):
    """What a column needs, in characters.

    Attributes:
        whole: The width at which nothing is wrapped.
        words: The width at which no word is broken.
        least: The width below which it would be of no use.
    """

    whole: int
    words: int
    least: int


def share(columns: Sequence[Needs], room: int) -> list[int]:
    """A width for each column, together no more than the room unless the least they need is more.

    The widest gives way first; words are broken only when no column can wrap between words any more.

    >>> share([Needs(16, 16, 6), Needs(8, 8, 8), Needs(70, 9, 6)], 60)
    [16, 8, 36]
    >>> share([Needs(16, 16, 6), Needs(8, 8, 8), Needs(70, 9, 6)], 24)
    [8, 8, 8]
    """
    widths = [column.whole for column in columns]
    for floors in ([column.words for column in columns], [column.least for column in columns]):
        while sum(widths) > room:
            yielding = [place for place, width in enumerate(widths) if width > floors[place]]
            if not yielding:
                break
            widths[max(yielding, key=widths.__getitem__)] -= 1
    return widths
