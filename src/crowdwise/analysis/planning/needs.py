"""What the functions that plan require of their arguments."""

from numbers import Integral

from ...crowd.labels import Labels
from ...crowd.protocol import require_crowd, require_single_votes
from ...errors import CallError, DataError, shown


def require_in_memory(labels: object, taker: str) -> None:
    """Raise an error if these are no labels in memory, or if a vote names several classes."""
    require_crowd(labels, taker)
    if not isinstance(labels, Labels):
        raise DataError(
            f"{taker} needs all labels in memory: read them with engine='memory', or take a part of the items."
        )
    require_single_votes(labels, taker)


def require_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise `CallError` if an argument is not a whole number from `least` up to `most`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise CallError(f"{name}={shown(value)} is not a whole number from {least:,} up to {most:,}.")
