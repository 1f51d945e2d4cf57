"""`Crowd`: what every crowd answers, whether its labels are in memory, on disk or in a Spark cluster."""

from typing import Literal, Protocol

from ..errors import DataError
from .names import Names
from .reading_report import ReadingReport

# Where labels can be. Every place has an engine of that name, which runs methods there.
Place = Literal["memory", "disk", "spark"]


class Crowd(Protocol):
    """Who said what about which item, wherever that is kept."""

    @property
    def place(self) -> Place:
        """Where the labels are, and so which engine runs methods over them."""
        ...

    @property
    def names(self) -> Names:
        """What workers and classes are called; in memory, also what the items are called."""
        ...

    @property
    def report(self) -> ReadingReport:
        """What was read, and what was repaired while reading."""
        ...

    @property
    def n_items(self) -> int:
        """How many items have a label."""
        ...

    @property
    def n_workers(self) -> int:
        """How many workers there are."""
        ...

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        ...

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        ...

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes (see `duplicates="set"`)."""
        ...

    @property
    def remarks(self) -> list[str]:
        """What a person should know of where the labels are; nothing in memory."""
        ...

    def close(self) -> None:
        """Let go of what keeps the labels outside memory; nothing can be asked of them or of their result then."""
        ...


def require_single_votes(crowd: Crowd, method: str) -> None:
    """Refuse votes that name several classes, on behalf of a method that has no meaning for them."""
    if crowd.set_valued:
        raise DataError(
            f"{method} takes one class a vote, and here one worker named several for one item: read the labels "
            'with duplicates="first", "last", "all" or "drop".'
        )


def describe(crowd: Crowd, details: str = "") -> str:
    """One line about a crowd, for its `repr`."""
    return (
        f"{type(crowd).__name__}({crowd.n_labels:,} labels of {crowd.n_items:,} items by {crowd.n_workers:,} workers "
        f"in {crowd.n_classes:,} classes{details})"
    )
