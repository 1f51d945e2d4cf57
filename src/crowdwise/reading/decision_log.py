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
# A column that no table has.
_AGREED: Final = "\0agreed"


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
    log = log.with_columns(_action(log))
    stacks: dict[tuple[Any, str], list[int]] = {}
    columns = (log[name].to_list() for name in ("item", "truth", "reviewer", "action"))
    for row, (item, truth, reviewer, action) in enumerate(zip(*columns, strict=True)):
        stack = stacks.setdefault((item, "" if reviewer is None else str(reviewer).strip()), [])
        if action == UNDONE:
            del stack[-1:]
        elif not _blank(item) and (action == CANNOT_TELL or (action == DECIDED and not _blank(truth))):
            stack.append(row)
    return log[sorted(stack[-1] for stack in stacks.values() if stack)]


def _action(log: pl.DataFrame) -> pl.Series:
    """Return the column `action` in its usual spelling, with what a blank one means."""
    said = log["action"].cast(pl.String).fill_null("").str.strip_chars().str.to_lowercase()
    has_truth = pl.Series([not _blank(truth) for truth in log["truth"].to_list()], dtype=pl.Boolean)
    return said.zip_with((said != "") | ~has_truth, pl.Series([DECIDED])).alias("action")


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
    decided = standing.filter(pl.col("action") == DECIDED)
    truth = pl.col("truth").str.strip_chars() if decided["truth"].dtype == pl.String else pl.col("truth")
    decided = decided.with_columns((truth.n_unique().over("item") == 1).alias(_AGREED))
    differ = decided.filter(~pl.col(_AGREED))["item"].unique(maintain_order=True).to_list()
    held = decided.filter(_AGREED).drop(_AGREED)
    if "source" in held.columns:
        drawn = (pl.col("source") == RANDOM).any().over("item")
        held = held.with_columns(pl.when(drawn).then(pl.lit(RANDOM)).otherwise("source").alias("source"))
    return held.unique("item", keep="first", maintain_order=True), differ


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
