"""`Crowd`: what labels in memory, on disk and in a Spark cluster have in common."""

from typing import Final, Literal, Protocol, get_args

from ..errors import CallError, DataError
from .names import Names
from .numbering import Numbering
from .reading_report import ReadingReport

# Where labels can be stored. For each place there is an engine of the same name that runs methods there.
Place = Literal["memory", "disk", "spark"]


# What `engine` may be where labels are read: a place, or "auto" for memory if the labels fit there, else disk.
_ENGINES: Final = ("memory", "disk", "auto", "spark")


def check_engine(engine: str) -> None:
    """Raise `CallError` if there is no such engine."""
    if not isinstance(engine, str) or engine not in _ENGINES:
        raise CallError(f"engine={engine!r} is not one of {', '.join(map(repr, _ENGINES))}.")


class Crowd(Protocol):
    """The labels that workers gave to items, in memory, on disk or in a Spark cluster."""

    @property
    def place(self) -> Place:
        """Where the labels are. This decides which engine runs methods on them."""
        ...

    @property
    def names(self) -> Names:
        """The names of workers and classes. If the labels are in memory, also the names of items."""
        ...

    @property
    def numbering(self) -> Numbering:
        """The numbers that workers have while a method works; if the labels are in memory, also those of items."""
        ...

    @property
    def report(self) -> ReadingReport:
        """What was read, and which rows were dropped or changed."""
        ...

    @property
    def n_items(self) -> int:
        """The number of items that have a label."""
        ...

    @property
    def n_workers(self) -> int:
        """The number of workers."""
        ...

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        ...

    @property
    def n_labels(self) -> int:
        """The number of labels."""
        ...

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes (possible only with `duplicates="set"`)."""
        ...

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user about where the labels are stored; empty if they are in memory."""
        ...

    def close(self) -> None:
        """Free the disk space or cluster memory that holds the labels.

        Afterwards neither the labels nor results that were computed from them can be used.
        """
        ...


def require_crowd(given: object) -> None:
    """Raise `CallError` if something else than labels is given where labels are needed."""
    if getattr(given, "place", None) not in get_args(Place):
        raise CallError(
            f"A method takes labels, and this is a {type(given).__name__}: make labels of it by cw.read_labels(path), "
            "cw.Labels.from_frame(table) or cw.Labels.from_arrays(item, worker, label)."
        )


def require_single_votes(crowd: Crowd, method: str) -> None:
    """Raise `DataError` if some vote names several classes.

    Args:
        crowd: The labels to check.
        method: The name of the method that cannot use such votes, for the message.
    """
    if crowd.set_valued:
        raise DataError(
            f"{method} takes one class a vote, and here one worker named several for one item: read the labels "
            'with duplicates="first", "last", "all" or "drop".'
        )


def describe(crowd: Crowd, details: str = "") -> str:
    """Return one line about a crowd for its `repr`; `details` is added at the end."""
    return (
        f"{type(crowd).__name__}({crowd.n_labels:,} labels of {crowd.n_items:,} items by {crowd.n_workers:,} workers "
        f"in {crowd.n_classes:,} classes{details})"
    )
