"""`Crowd`: what labels in memory, on disk and in a Spark cluster have in common."""

from typing import Any, Literal, Protocol, get_args

import polars as pl

from ..caution import Caution
from ..errors import CallError, DataError
from ..numerics import Array
from .knowledge import PriorKnowledge
from .names import Names
from .numbering import Numbering
from .reading_report import ReadingReport

# Where labels can be stored. For each place there is an engine of the same name that runs methods there.
Place = Literal["memory", "disk", "spark"]


class Crowd(Protocol):
    """The labels that workers gave to items, in memory, on disk or in a Spark cluster."""

    @property
    def place(self) -> Place:
        """Where the labels are. This decides which engine runs methods on them."""

    @property
    def names(self) -> Names:
        """The names of workers and classes. If the labels are in memory, also the names of items."""

    @property
    def numbering(self) -> Numbering:
        """The numbers that workers have while a method works; if the labels are in memory, also those of items."""

    @property
    def report(self) -> ReadingReport:
        """What was read, and which rows were dropped or changed."""

    @property
    def n_items(self) -> int:
        """The number of items that have a label."""

    @property
    def n_workers(self) -> int:
        """The number of workers."""

    @property
    def n_classes(self) -> int:
        """The number of classes."""

    @property
    def n_labels(self) -> int:
        """The number of labels."""

    @property
    def set_valued(self) -> bool:
        """Whether some vote names several classes (possible only with `duplicates="set"`)."""

    @property
    def soft_valued(self) -> bool:
        """Whether some vote has a probability or a weight."""

    @property
    def numeric(self) -> bool:
        """Whether labels are numbers instead of classes."""

    @property
    def known(self) -> PriorKnowledge:
        """What is known beforehand, besides the classes of items."""

    @property
    def remarks(self) -> list[str]:
        """Sentences for the user about where the labels are stored."""

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know about these labels: rows that were dropped, numbers as classes, names that look alike."""

    def with_classes(self, classes: pl.Series) -> "Crowd":
        """Return the same labels with these classes, which are all that the labels name and perhaps more."""

    def with_known(self, gold: pl.DataFrame | None, known: PriorKnowledge) -> "Crowd":
        """Return the same labels with what is known beforehand; `gold` has the columns item and code of the class."""

    def first_item(self) -> Any:
        """Return the name of some item, for messages."""

    def item_sketch(self) -> Array:
        """Return a sketch of the ids of the items; see crowd/item_sketch.py."""

    def close(self) -> None:
        """Free the disk space or cluster memory that holds the labels.

        Afterwards neither the labels nor results that were computed from them can be used.
        """


def is_crowd(given: object) -> bool:
    """Return whether something is labels, in whatever place."""
    place = getattr(given, "place", None)  # of a table, it may be a column
    return isinstance(place, str) and place in get_args(Place)


def require_crowd(given: object, taker: str = "A method", *, method: str = "", numeric: bool = False) -> None:
    """Raise `CallError` if `taker`, or a method of this name, needs labels and something else is given.

    With `numeric`, it needs labels that are numbers, otherwise labels that are classes.
    """
    if not is_crowd(given):
        raise CallError(
            f"{taker} takes labels, and this is a {type(given).__name__}: make labels of it by cw.read_labels(path), "
            "cw.Labels.from_frame(table) or cw.Labels.from_arrays(item, worker, label)."
        )
    if numeric and not getattr(given, "numeric", False):
        raise CallError(
            f"{method or taker} takes numbers, and these labels are classes: read them by cw.read_numbers(path), "
            "cw.Numbers.from_frame(table) or cw.Numbers.from_arrays(item, worker, label) (--numeric)."
        )
    if getattr(given, "numeric", False) and not numeric:
        raise CallError(
            f"{method or taker} takes classes, and these labels are numbers: read them as classes by cw.read_labels or "
            "cw.Labels (without --numeric); for numbers there are NumericRobust, NumericBWA and others."
        )


def require_single_votes(crowd: Crowd, method: str, instead: str = "") -> None:
    """Raise `DataError` if some vote names several classes; `instead` says what else to do."""
    if crowd.set_valued:
        raise DataError(
            f"{method} takes one class a vote, and here one worker named several for one item: read the labels "
            f'with duplicates="first", "last", "all" or "drop"{instead}.'
        )


def describe(crowd: Crowd, details: str = "") -> str:
    """Return one line about a crowd for its `repr`; `details` is added at the end."""
    kinds = " as numbers" if crowd.numeric else f" in {crowd.n_classes:,} classes"
    return (
        f"{type(crowd).__name__}({crowd.n_labels:,} labels of {crowd.n_items:,} items by {crowd.n_workers:,} workers"
        f"{kinds}{details})"
    )
