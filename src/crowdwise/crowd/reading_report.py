"""`ReadingReport`: how many rows were read, which of them were dropped or changed, and how fast workers are."""

from dataclasses import dataclass, field
from typing import Final

import polars as pl

# Less than this counts as this, because clocks are no better.
_LEAST: Final = 0.01
# The variance of a median of many values, relative to that of their mean, if they are normal.
_OF_MEDIAN: Final = 1.5708


@dataclass(frozen=True)
class ReadingReport:
    """How many rows were read, and which of them were dropped or changed.

    Attributes:
        rows: The number of rows of the input.
        missing: The number of rows that were dropped because they have no label.
        repeated: The number of rows that were dropped because they repeat an earlier one exactly.
        conflicts: The number of (item, worker) pairs with more than one label, which were resolved by `duplicates`.
        duplicates: What to do with these pairs; see `Labels.from_frame`.
        unlabelled: The number of items that have no label left, and so get no answer.
        soft: The number of votes whose probability or weight is not one.
        columns: The name of the column that was used for each role: item, worker and label.
        left_out: For exports of platforms: what is in them besides votes, in words, and how many of each.
        pace: How many seconds each worker takes, as `pace_of` tells; None if the input does not say it. It is kept of
            labels that are read into memory.
        understood: Sentences about how the input was understood, such as which sheet of a workbook was read.
    """

    rows: int
    missing: int = 0
    repeated: int = 0
    conflicts: int = 0
    duplicates: str = "error"
    unlabelled: int = 0
    soft: int = field(default=0, repr=False)
    columns: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    understood: tuple[str, ...] = field(default=(), repr=False)
    pace: pl.DataFrame | None = field(default=None, repr=False, compare=False)

    @property
    def repairs(self) -> list[str]:
        """One sentence for each kind of row that was dropped or changed."""
        settled = {
            "first": "the first was kept",
            "last": "the last row was kept",
            "latest": "the latest was kept",
            "all": "each different one counts as a vote",
            "samples": "each counts as a vote, the second that of worker#2, and so on",
            "set": "they are one vote for each class said",
            "drop": "all were dropped",
        }.get(self.duplicates, "")
        sentences = [
            (self.missing, "row without a label was dropped.", "rows without a label were dropped."),
            (
                self.repeated,
                "row that repeats an earlier one exactly was dropped.",
                "rows that repeat an earlier one exactly were dropped.",
            ),
            (
                self.conflicts,
                f"(item, worker) pair had more than one label: {settled}.",
                f"(item, worker) pairs had more than one label: {settled}.",
            ),
            (
                self.unlabelled,
                "item was left without any label and has no answer.",
                "items were left without any label and have no answer.",
            ),
        ]
        left_out = [f"{count:,} {what}." for what, count in self.left_out.items()]
        return left_out + [several(count, one, many) for count, one, many in sentences if count]


def several(count: int, one: str, many: str) -> str:
    """Return a number and what it counts: `one` is the singular, `many` the plural."""
    return f"{count:,} {one if count == 1 else many}"


def pace_of(rows: pl.LazyFrame) -> pl.DataFrame | None:
    """Return how fast each worker is; None if no row says it.

    Args:
        rows: The columns worker, of any type, and seconds, a number or text; a row for each label.

    Returns:
        A row for each worker: worker (as text), seconds (the median), timed (of how many labels), and noise (the
        variance of the logarithm of the median, by chance).
    """
    seconds = pl.col("seconds").cast(pl.Float64, strict=False)
    timed = rows.select(pl.col("worker").cast(pl.String), seconds).filter(
        pl.col("worker").is_not_null(), pl.col("seconds").is_finite(), pl.col("seconds") >= 0
    )
    logarithm = pl.col("seconds").clip(_LEAST).log()
    found = (
        timed.group_by("worker", maintain_order=True)
        .agg(
            pl.col("seconds").median(),
            pl.len().alias("timed"),
            (_OF_MEDIAN * logarithm.var() / pl.len()).fill_null(0.0).alias("noise"),
        )
        .collect()
    )
    return found if found.height else None
