"""What can go wrong, in two kinds: with the data, or with the call.

A message says what is wrong, how many times, the first case, and what to do. Both are `ValueError`s, so that
code which catches those keeps working; the command line turns them into one sentence and an exit code.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Final

# What would not fit a laptop beside the labels is refused.
_MOST_BYTES: Final = 8 * 2**30
# The packages behind each extra.
_EXTRAS: Final = {"report": ("altair", "jinja2", "vl_convert"), "spark": ("pyspark", "pyarrow")}


class DataError(ValueError):
    """The data cannot be used as they are (exit code 1 on the command line)."""


class CallError(ValueError):
    """The call asks for something that does not exist (exit code 2 on the command line)."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a name that does not exist: the closest one that does, if any is close.

    >>> did_you_mean("BAW", ["bwa", "ds"])
    " Did you mean 'bwa'?"
    """
    folded = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), folded, 1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def require_room(size: int, needs: str, instead: str) -> None:
    """Refuse what would take more than fits, before any of it is made.

    Args:
        size: How many bytes.
        needs: The beginning of the sentence: what takes them.
        instead: What to do about it.
    """
    if size > _MOST_BYTES:
        raise DataError(f"{needs} would take {size / 2**30:,.0f} GB. {instead}")


def require_extra(extra: str, what: str) -> None:
    """Refuse what only some installations have, where the extra that it needs is not installed.

    Args:
        extra: The name of the extra.
        what: The beginning of the sentence: what needs it.
    """
    missing = [name for name in _EXTRAS[extra] if find_spec(name) is None]
    if missing:
        raise CallError(f"{what} needs {', '.join(missing)}: pip install 'crowdwise[{extra}]'")
