"""Whether a method can run where the labels are, asked before any of them is read."""

from typing import Any, Final, Literal

from ..errors import CallError

# Of methods that do not derive from `loop.Inferring`, which have no say in it.
_DOES_NOT_SWEEP: Final = "because it does not sweep over the items in parts"


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
