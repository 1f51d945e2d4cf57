"""Recognise which columns of a table hold the item, the worker and the label."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Final

from ..errors import DataError

# The words of other tools for our three; matched in any letter case, in this order of preference.
ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "item": ("item", "task", "question", "object", "example"),
    "worker": ("worker", "annotator", "rater", "user", "performer"),
    "label": ("label", "answer", "response", "value", "vote"),
    "truth": ("truth", "gold", "label", "answer", "response", "value"),
}

# Columns to list in an error.
_MANY: Final = 20


def recognise(columns: Sequence[str], given: Mapping[str, str | None], where: str) -> dict[str, str]:
    """Find a column for every role: the one given, or the first whose name says it.

    Args:
        columns: The columns there are.
        given: Role to column name; None to recognise it.
        where: What the table is called in an error.

    Returns:
        Role to column.

    >>> recognise(["Task", "annotator", "answer"], {"item": None, "worker": None, "label": None}, "the table")
    {'item': 'Task', 'worker': 'annotator', 'label': 'answer'}
    """
    found = {role: _find(columns, role, name, where) for role, name in given.items()}
    for role, column in found.items():
        other = next(first for first, name in found.items() if name == column)
        if other != role:
            raise DataError(f"{where} has one column {column!r} for both the {other} and the {role}.")
    return found


def _find(columns: Sequence[str], role: str, name: str | None, where: str) -> str:
    there = ", ".join(map(repr, columns[:_MANY]))
    if len(columns) > _MANY:
        there += f" and {len(columns) - _MANY} more"
    if name is not None:
        if name in columns:
            return name
        close = difflib.get_close_matches(name.lower(), [column.lower() for column in columns], 1)
        guess = next((column for column in columns if [column.lower()] == close), None)
        hint = f"; did you mean {guess!r}?" if guess else "."
        raise DataError(f"{where} has no column {name!r} for the {role}; its columns are {there}{hint}")
    folded = {column.strip().lstrip("\ufeff").lower(): column for column in reversed(columns)}
    for alias in ALIASES[role]:
        for spelling in (alias, f"{alias}_id", f"{alias}id", f"{alias} id"):
            if spelling in folded:
                return folded[spelling]
    close = [column for name, column in folded.items() if difflib.get_close_matches(name, ALIASES[role], 1, 0.75)]
    known = {alias for aliases in ALIASES.values() for alias in aliases}
    hint = f" Did you mean {close[0]!r}?" if close else ""
    if not hint and not known & set(folded):
        hint = " If there is no line of column names, add one."
    raise DataError(
        f"{where} has no column that looks like the {role} ({' or '.join(ALIASES[role])}); its columns are "
        f"{there}.{hint} Name it with {role}= in Python or --{role} on the command line."
    )
