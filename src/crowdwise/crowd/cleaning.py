"""Rows that can be used: those without a label are dropped, others refused; `finish` ends reading on any engine."""

from collections.abc import Mapping
from typing import get_args

import polars as pl

from ..errors import DataError, quoted
from .ids import TEXT, has_value, is_present, require_values
from .names import Names
from .read_options import Duplicates, ReadOptions
from .reading_report import ReadingReport, several
from .soft_votes import SOFT_ROLES, as_numbers, first_row, refuse_unusable, unusable
from .sorting import Conflict, SortCounts


def tidied(table: pl.LazyFrame, options: ReadOptions) -> pl.LazyFrame:
    """Return a table whose labels are stripped, if they are text and the user asks for it.

    If the case of letters is folded, a label that means "no label" is written as in `missing`; `classes_of` decides how
    the others are spelled, when all are known.
    """
    schema = table.collect_schema()
    soft = [role for role in SOFT_ROLES if role in schema]
    table = table.with_columns(as_numbers(role, schema[role], options.log and role == "probability") for role in soft)
    if not (options.strip or options.fold_case) or schema["label"] not in TEXT:
        return table
    label = pl.col("label").cast(pl.String)
    label = label.str.strip_chars() if options.strip else label
    if options.fold_case and options.missing:
        folded = label.str.to_lowercase()
        label = pl.when(folded.is_in([str(value) for value in options.missing])).then(folded).otherwise(label)
    return table.with_columns(label)


class Cleaning:
    """Counts the rows of a table that cannot be used. The table is given whole or in batches.

    Attributes:
        columns: The name of the column for each role: item, worker and label.
        options: How labels are read.
        rows: The number of rows so far.
        missing: The number of rows so far that have no label.
    """

    def __init__(self, found: Mapping[str, str], options: ReadOptions) -> None:
        self.columns = found
        self.options = options
        self._absent = {"item": 0, "worker": 0}
        self._first: dict[str, str] = {}
        self._blank = 0
        self._heaviest = 0.0
        self._unusable: dict[str, tuple[int, str]] = {}  # how many values, and the first
        self.rows = 0
        self.missing = 0

    def labelled(self, table: pl.DataFrame) -> pl.Series | None:
        """Count the rows of one batch, and return which of them have a label; None if all have one.

        The batch has the columns item, worker and label; and none, if rows may be an empty set, which is a label.
        Raises `DataError` if one has values that cannot be stored in every format.
        """
        for role in ("item", "worker") if self.options.numeric else ("item", "worker", "label"):
            require_values(table[role], self.columns[role])
        blank, present = ~has_value(table["label"]), is_present(table["label"], self.options.missing)
        if "none" in table.columns:
            blank, present = blank & ~table["none"], present | table["none"]
        self._blank += int(blank.sum())
        for role in self._absent:
            self._count_absent(table, role)
        if "weight" in table.columns:
            self._heaviest = max(self._heaviest, float(table["weight"].fill_null(1.0).max() or 0.0))  # type: ignore[arg-type]
        for role, wrong in (unusable(table) if {*SOFT_ROLES} & {*table.columns} else {}).items():
            if wrong.any():
                count, first = self._unusable.get(role, (0, ""))
                row = int(wrong.arg_true()[0])
                first = first or first_row(table.row(row, named=True), self.rows + row, role)
                self._unusable[role] = count + int(wrong.sum()), first
        self.rows += table.height
        if present.all():
            return None
        self.missing += int((~present).sum())
        return present

    def check(self) -> None:
        """Raise `DataError` if the rows cannot be used. Call this after the last batch.

        Refused are a table without rows, rows without an item or a worker, and a table without any label. If reading is
        strict, rows whose label is null, NaN or empty are refused too.
        """
        if self.rows == 0:
            raise DataError("There are no rows: an empty table has no truth to infer.")
        absent = [role for role, count in self._absent.items() if count]
        if absent:
            said = "; ".join(
                f"{self._absent[role]:,} of {self.rows:,} rows have no {role}; first: {self._first[role]}"
                for role in absent
            )
            columns = f"column{'s'[: len(absent) - 1]} {' and '.join(repr(self.columns[role]) for role in absent)}"
            raise DataError(f"{said}. Fill in {columns} or leave those rows out.")
        for role, (count, first) in self._unusable.items():
            refuse_unusable(role, count, self.rows, first, self.columns[role], self.options.log)
        if self.rows and self._heaviest == 0 and "weight" in self.columns:
            raise DataError(f"All weights in column {self.columns['weight']!r} are 0, so that no vote counts.")
        if self.missing == self.rows:
            only = "is empty" if self._blank == self.rows else "has nothing but what missing= (--missing) names"
            raise DataError(f"All {self.rows:,} rows are without a label: column {self.columns['label']!r} {only}.")
        if self._blank and self.options.strict:
            raise DataError(
                f"{self._blank:,} of {self.rows:,} rows have no label, and strict=True (--strict) forbids "
                "dropping them. Drop them first, or leave strict out."
            )

    def set_counts(self, rows: int, blank: int, missing: int, absent: Mapping[str, tuple[int, str]]) -> None:
        """Set all counts at once, where the rows were counted elsewhere, such as in a Spark cluster.

        `blank` counts labels that are null, NaN or empty text, and `missing` also those that mean "no
        label". `absent` has, for the roles that any row lacks, how many rows do and the first of them in words.
        """
        self.rows, self._blank, self.missing = rows, blank, missing
        self._heaviest = 1.0
        for role, (count, first) in absent.items():
            self._absent[role], self._first[role] = count, first

    def set_unusable(self, role: str, count: int, first: str) -> None:
        """Say how many probabilities or weights cannot be used, and which is the first."""
        self._unusable[role] = count, first

    @property
    def ids_complete(self) -> bool:
        """Whether every row so far has an item and a worker."""
        return not any(self._absent.values())

    def _count_absent(self, table: pl.DataFrame, role: str) -> None:
        """Count the rows of a batch without an item (or worker), and remember the first one for the error message."""
        absent = ~has_value(table[role])
        if not absent.any():
            return
        if role not in self._first:
            first = int(absent.arg_true()[0])
            others = [f"{name} {quoted(value)}" for name, value in table.row(first, named=True).items() if name != role]
            self._first[role] = f"row {self.rows + first + 1} ({', '.join(others)})"
        self._absent[role] += int(absent.sum())


def finish(cleaning: Cleaning, counts: SortCounts, conflict: Conflict | None, names: Names) -> ReadingReport:
    """Return what was read and repaired; `conflict` is the first one that is not resolved.

    Raises:
        DataError: A worker gave an item several labels, and the options do not say which one counts; rows repeat others
            although reading is strict; or no label is left.
    """
    options = cleaning.options
    if conflict is not None:
        _refuse_conflicts(counts.unresolved, conflict, names, options.policy)
    if counts.repeated and options.strict:
        raise DataError(
            f"{several(counts.repeated, 'row repeats', 'rows repeat')} an earlier one exactly, and strict=True "
            "(--strict) forbids dropping them. Drop them first, or leave strict out."
        )
    if not counts.items:
        raise DataError('duplicates="drop" leaves no label at all: every (item, worker) pair conflicts.')
    return ReadingReport(
        rows=cleaning.rows,
        missing=cleaning.missing,
        repeated=counts.repeated,
        conflicts=counts.conflicts,
        duplicates=options.policy,
        unlabelled=counts.unlabelled,
        soft=counts.soft,
        columns=dict(cleaning.columns),
    )


def _refuse_conflicts(count: int, first: Conflict, names: Names, duplicates: Duplicates) -> None:
    if first.total is not None:
        words = " and ".join(dict.fromkeys(map(quoted, names.classes.gather(list(first.labels)))))
        raise DataError(
            f"{several(count, '(item, worker) pair has', '(item, worker) pairs have')} more than one label, which make "
            "no vote together; "
            f"first: item {quoted(first.item)}, worker {quoted(names.workers[first.worker])} said {words}, with "
            f"probabilities that add up to {first.total:.4g}. Rows of one vote have probabilities that add up to 1 and "
            'the same weight. Correct them, or take every row as a vote (duplicates="all", or "samples"), or "drop" '
            "such pairs (--duplicates on the command line)."
        )
    said = names.classes.gather(list(first.labels)) if len(names.classes) else first.labels  # numbers have no classes
    others = [policy for policy in get_args(Duplicates) if policy not in ("error", duplicates)]
    may_be_sets = duplicates == "error" and len(names.classes)
    several_classes = '; or multi="each" (--multi each) if an item may have several classes' if may_be_sets else ""
    raise DataError(
        f"{several(count, '(item, worker) pair has', '(item, worker) pairs have')} more than one "
        f"label{' at the latest time' if duplicates == 'latest' else ''}; first: item {quoted(first.item)}, worker "
        f"{quoted(names.workers[first.worker])} said {' and '.join(map(quoted, said))}. "
        f"Say what to do with these with duplicates= (--duplicates): {', '.join(others[:-1])} or {others[-1]}"
        f"{several_classes}."
    )
