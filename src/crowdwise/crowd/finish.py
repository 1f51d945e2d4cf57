"""The end of reading, the same in memory, on disk and in Spark: refuse what cannot be used, and report the rest."""

from ..errors import DataError, quoted
from .cleaning import Cleaning
from .encoding import POLICIES, Duplicates
from .names import Names
from .reading_report import ReadingReport, several
from .sorting import Conflict, SortCounts


def finish(cleaning: Cleaning, counts: SortCounts, conflict: Conflict | None, names: Names) -> ReadingReport:
    """Return what was read and repaired.

    Args:
        cleaning: The rows that were counted, and how they are read.
        counts: What was dropped or resolved in all rows.
        conflict: The first of the conflicts that are not resolved; None if there are none.
        names: The names of workers and classes.

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
        missing=cleaning.unlabelled,
        repeated=counts.repeated,
        conflicts=counts.conflicts,
        duplicates=options.policy,
        unlabelled=counts.unlabelled,
        columns=dict(cleaning.columns),
    )


def _refuse_conflicts(count: int, first: Conflict, names: Names, duplicates: Duplicates) -> None:
    said = names.classes.gather(list(first.labels)) if len(names.classes) else first.labels  # numbers have no classes
    others = ", ".join(f'"{policy}"' for policy in POLICIES if policy not in ("error", duplicates, "drop"))
    raise DataError(
        f"{several(count, '(item, worker) pair has', '(item, worker) pairs have')} more than one "
        f"label{' at the latest time' if duplicates == 'latest' else ''}; first: item {quoted(first.item)}, worker "
        f"{quoted(names.workers[first.worker])} said {' and '.join(map(quoted, said))}. "
        f'Pass duplicates={others} or "drop" (--duplicates on the command line).'
    )
