"""What can go wrong, in two kinds: with the data, or with the call.

A message says what is wrong, how many times, the first case, and what to do. Both are `ValueError`s, so that
code which catches those keeps working; the command line turns them into one sentence and an exit code.
"""

from importlib.util import find_spec
from numbers import Integral
from typing import Any, Final, Literal

# What would not fit a laptop beside the labels is refused.
_MOST_BYTES: Final = 8 * 2**30
# Of methods that do not derive from `loop.Inferring`, which have no say in it.
_DOES_NOT_SWEEP: Final = "because it does not sweep over the items in parts"


class DataError(ValueError):
    """The data cannot be used as they are (exit code 1 on the command line)."""


class CallError(ValueError):
    """The call asks for something that does not exist (exit code 2 on the command line)."""


def require_whole(least: int, **given: int) -> None:
    """Refuse parameters that are not whole numbers, or less than the `least` that makes sense."""
    for name, value in given.items():
        if not isinstance(value, Integral) or value < least:
            raise CallError(f"{name}={value!r} is not a whole number from {least} on.")


def require_room(size: int, needs: str, instead: str) -> None:
    """Refuse what would take more than fits, before any of it is made.

    Args:
        size: How many bytes.
        needs: The beginning of the sentence: what takes them.
        instead: What to do about it.
    """
    if size > _MOST_BYTES:
        raise DataError(f"{needs} would take {size / 2**30:,.0f} GB. {instead}")


def require_report(what: str) -> None:
    """Refuse to make `what` where the extra `report` is not installed."""
    missing = [name for name in ("altair", "jinja2", "vl_convert") if find_spec(name) is None]
    if missing:
        raise CallError(f"{what} needs {', '.join(missing)}: pip install 'crowdwise[report]'")


def require_suitable(method: Any, engine: Literal["disk", "spark"]) -> None:
    """Refuse a method that this engine cannot run, in a sentence that says what can."""
    name = type(method).__name__
    why = getattr(method, "in_memory_only", _DOES_NOT_SWEEP)
    if why:
        raise CallError(in_memory_only(f"{name} needs all labels in memory, {why}"))
    if engine == "spark" and not method.forgetful:
        raise CallError(
            f"{name} needs the scores of the iteration before, and a cluster keeps none: use engine memory or disk."
        )


def in_memory_only(problem: str) -> str:
    """What is wrong, and what to do about it."""
    return f"{problem}: use engine memory, or a method that sweeps over the items, such as bwa, one_coin or ds."
