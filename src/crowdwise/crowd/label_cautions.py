"""`cautions_of`: what to know about labels before any method uses them, such as rows that were dropped on reading."""

import polars as pl

from ..caution import Caution
from .number_reader import NUMBER
from .reading_report import ReadingReport


def cautions_of(report: ReadingReport, classes: pl.Series) -> tuple[Caution, ...]:
    """Return what was dropped or changed on reading, and that numbers are taken as classes, where that is so."""
    dropped = (Caution("dropped", sentence) for sentence in report.repairs)
    return (*dropped, *numbers_as_classes(classes))


def numbers_as_classes(classes: pl.Series) -> list[Caution]:
    """Ask what is meant if there are three classes or more and all are named by numbers; else [].

    >>> print(*numbers_as_classes(pl.Series([1, 2, 3, 4, 5])))
    The labels are 5 different numbers from 1 to 5, and are taken as classes without an order. Say numeric=True
    (--numeric) if they measure something, or ordinal=True (--ordinal) if they are steps of a scale.
    >>> numbers_as_classes(pl.Series(["cat", "dog", "7"])), numbers_as_classes(pl.Series([0, 1]))
    ([], [])
    """
    if len(classes) < 3 or not (classes.dtype.is_numeric() or classes.dtype == pl.String):
        return []
    if classes.dtype == pl.String and not classes.str.contains(NUMBER).all():
        return []
    values = classes.str.strip_chars() if classes.dtype == pl.String else classes
    ordered = values.to_frame("name").sort(pl.col("name").cast(pl.Float64))["name"]
    return [
        Caution(
            "numbers",
            f"The labels are {len(classes):,} different numbers from {ordered[0]} to {ordered[-1]}, and are taken as "
            "classes without an order.",
            "Say numeric=True (--numeric) if they measure something, or ordinal=True (--ordinal) if they are steps of "
            "a scale.",
        )
    ]
