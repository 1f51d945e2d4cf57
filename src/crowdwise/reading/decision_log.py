"""The decisions of reviewers: a file to which rows are only added, and which of them stand.

`crowdwise review` writes it, and `read_truth` takes it as it is. Every row is an entry: a reviewer decided an item,
could not tell, skipped it, or took an entry back. So nothing is ever erased. The entries of one reviewer on one item
are a stack in the order of the rows: "undone" removes the last entry, a skip counts for nothing, and the last entry
that is left stands.
"""

import csv
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import polars as pl

from ..crowd.read_options import ReadOptions
from ..errors import DataError
from ..sources.cloud import CLOUD_TABLE
from ..sources.formats import format_of
from ..sources.input import Input, reading
from ..sources.paths import inputs_of, readable
from ..sources.unpacking import unpacked

# The columns, in the order of the file. The action is the last one, so that a line that was half written is recognised.
COLUMNS: Final = (
    *("item", "truth", "reviewer", "time", "seconds", "visible", "source", "sure", "guideline", "comment", "action"),
)
# The columns by which a table is recognised as a log.
_NEEDED: Final = frozenset({"item", "truth", "reviewer", "action"})

DECIDED: Final = "decided"
CANNOT_TELL: Final = "cannot tell"
SKIPPED: Final = "skipped"
UNDONE: Final = "undone"
# What an entry can be.
ACTIONS: Final = (DECIDED, CANNOT_TELL, SKIPPED, UNDONE)

RANDOM: Final = "random"
SETTLE: Final = "settle"
WORST: Final = "worst"
# How an item was picked. Random items measure and calibrate; the others are chosen, and never do.
SOURCES: Final = (RANDOM, SETTLE, WORST)
# How sure a reviewer was; empty if nothing was said.
SURE: Final = ("", "sure", "fairly sure", "unsure")
# What of the crowd was visible when the item was decided.
NOTHING: Final = "nothing"
VOTES: Final = "votes"
VISIBLE: Final = (NOTHING, VOTES)
UNCLEAR: Final = "unclear"
# What is said of the guideline.
GUIDELINE: Final = ("", UNCLEAR)

_DELIMITERS: Final = ",\t;|"


def is_log(names: Iterable[str]) -> bool:
    """Return whether a table with these columns is a log of decisions.

    >>> is_log(COLUMNS), is_log(["item", "truth", "source"])
    (True, False)
    """
    return set(names) >= _NEEDED


def standing(log: pl.DataFrame) -> pl.DataFrame:
    """Return the entries that stand, at most one for each reviewer and item, in the order of the log.

    Their action is "decided" or "cannot tell". Rows without an item, and rows with another action, count for nothing. A
    row with a truth and a blank action was filled in by hand, and counts as decided.

    >>> log = pl.DataFrame({"item": ["a", "a", "b"], "truth": ["x", "", "y"], "reviewer": ["ann"] * 3,
    ...                     "action": ["decided", "undone", "decided"]})
    >>> standing(log)["item"].to_list()
    ['b']
    """
    columns = (log[name].to_list() for name in ("item", "truth", "reviewer", "action"))
    actions = standing_rows(zip(*columns, strict=True))
    stands = log[pl.Series(list(actions), dtype=pl.Int64)]
    return stands.with_columns(pl.Series("action", list(actions.values()), pl.String))


def standing_rows(rows: Iterable[tuple[Any, Any, Any, Any]]) -> dict[int, str]:
    """Return the places of the entries that stand, in their order, with their actions.

    Args:
        rows: The item, truth, reviewer and action of every row.
    """
    stacks: dict[tuple[Any, str], list[tuple[int, str]]] = {}
    for row, (item, truth, reviewer, said) in enumerate(rows):
        stack = stacks.setdefault((item, "" if reviewer is None else str(reviewer).strip()), [])
        action = _action(said, truth)
        if action == UNDONE:
            del stack[-1:]
        elif not _blank(item) and (action == CANNOT_TELL or (action == DECIDED and not _blank(truth))):
            stack.append((row, action))
    return dict(sorted(stack[-1] for stack in stacks.values() if stack))


def _action(said: Any, truth: Any) -> str:
    """Return an action in its usual spelling; a blank one beside a truth is a decision."""
    action = "" if _blank(said) else str(said).strip().lower()
    return action if action or _blank(truth) else DECIDED


def _blank(value: Any) -> bool:
    return value is None or value != value or not str(value).strip()


def settled(standing: pl.DataFrame) -> tuple[pl.DataFrame, list[Any]]:
    """Return the decisions that hold, one row for each item, and the items that reviewers decided differently.

    Args:
        standing: What `standing` returns.

    Returns:
        A row for each item on which all decisions are the same: the first of them. Its source is "random" if that of
        any of them is. "cannot tell" is no decision. Both are in the order of the log.
    """
    held, differ = held_rows(standing.select("item", "truth", "action").iter_rows())
    found = standing[pl.Series([rows[0] for rows in held], dtype=pl.Int64)]
    if "source" in standing.columns:
        sources = standing["source"].to_list()
        drawn = [RANDOM if any(sources[row] == RANDOM for row in rows) else sources[rows[0]] for rows in held]
        found = found.with_columns(pl.Series("source", drawn, standing.schema["source"]))
    return found, differ


def held_rows(rows: Iterable[tuple[Any, Any, Any]]) -> tuple[list[list[int]], list[Any]]:
    """Return the places of the decisions on each item, if they are all the same, and the items where they are not.

    Args:
        rows: The item, truth and action of every entry that stands.
    """
    decided: dict[Any, list[int]] = {}
    said: dict[Any, set[str]] = {}
    for row, (item, truth, action) in enumerate(rows):
        if action == DECIDED:
            decided.setdefault(item, []).append(row)
            said.setdefault(item, set()).add(str(truth).strip())
    held = [places for item, places in decided.items() if len(said[item]) == 1]
    return held, [item for item, truths in said.items() if len(truths) > 1]


def read_log(source: Any) -> pl.DataFrame:
    """Read a log of decisions: all its rows, with all columns as text, empty where nothing is said.

    A last line that was half written, because the machine stopped, is left out.

    Raises:
        DataError: It cannot be read, or is no log of decisions.
    """
    logs = [_read(entry) for entry in inputs_of(source, ReadOptions())]
    return pl.concat(logs, how="diagonal").fill_null("")


def _read(entry: Input) -> pl.DataFrame:
    entry = without_half_line(entry)
    with readable(entry.name):
        known = CLOUD_TABLE if CLOUD_TABLE.recognises(entry) else format_of(entry)
    with reading(entry.name, known.read_as or known.name):
        table = known.open(entry, ReadOptions())
        if not is_log(table.names):
            missing = ", ".join(repr(name) for name in COLUMNS if name in _NEEDED and name not in table.names)
            raise DataError(f"{entry.name} is no file of decisions: it has no column {missing}.")
        names = [name for name in dict.fromkeys(table.names) if table.names.count(name) == 1]
        absent = [name for name in COLUMNS if name not in names]
        log = table.pick({name: name for name in names}).cast(pl.String).collect().fill_null("")
    return log.with_columns(pl.lit("").alias(name) for name in absent).select(*COLUMNS, pl.exclude(COLUMNS))


def without_half_line(entry: Input) -> Input:
    """Return an input without its last line, if this is a log in text and the line is too short and has no end.

    It was being written when the machine stopped, and nobody was told that it was saved.
    """
    if not entry.is_file or not is_log(entry.header):
        return entry
    with reading(entry.name), unpacked(entry.content) as stream:
        text = stream.read()
    start = text.rfind(b"\n") + 1
    if start in (0, len(text)):
        return entry
    header = text.split(b"\n", 1)[0].decode("utf-8-sig", "replace").rstrip("\r")
    delimiter = max(_DELIMITERS, key=header.count)
    fields = next(csv.reader([text[start:].decode("utf-8", "replace")], delimiter=delimiter), [])
    return replace(entry, content=text[:start]) if len(fields) < len(entry.header) else entry
