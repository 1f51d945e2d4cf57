"""How much memory a method may take."""

from typing import Final

from .errors import DataError

# What would not fit a laptop beside the labels is refused.
_MOST_BYTES: Final = 8 * 2**30


def require_room(size: int, needs: str, instead: str) -> None:
    """Refuse what would take more than fits, before any of it is made.

    Args:
        size: How many bytes.
        needs: The beginning of the sentence: what takes them.
        instead: What to do about it.
    """
    if size > _MOST_BYTES:
        raise DataError(f"{needs} would take {size / 2**30:,.0f} GB. {instead}")
