"""Read what crowdwise wrote, by other libraries than its own where possible, and compare it with what it must say."""

import csv
import gzip
import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from pathlib import Path
from typing import Any, Final

import polars as pl
import pyarrow
import pyarrow.ipc
import pyarrow.parquet

from .majority import Answers
from .rule import Failure

_ITEM_COLUMNS: Final = ("item", "label", "score", "runner_up", "runner_up_score", "votes")
_WORKER_COLUMNS: Final = ("worker", "labels", "quality", "quality_low", "quality_high", "agreement")
_TOLERANCE: Final = 1e-12

Table = list[dict[str, Any]]


def _csv_rows(path: Path, delimiter: str = ",") -> Table:
    with io.StringIO(path.read_bytes().decode("utf-8"), newline="") as text:
        header, *rows = csv.reader(text, delimiter=delimiter, strict=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def _json_rows(text: str) -> Table:
    return [json.loads(line) for line in text.split("\n") if line]


def _arrow_rows(path: Path) -> Table:
    try:
        rows: Table = pyarrow.ipc.open_file(path).read_all().to_pylist()
    except pyarrow.ArrowNotImplementedError:  # integers of 128 bits
        return pl.read_ipc(path).to_dicts()
    return rows


def _parquet_rows(path: Path) -> Table:
    try:
        rows: Table = pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowNotImplementedError:
        return pl.read_parquet(path).to_dicts()
    return rows


# How to read each format that crowdwise writes, by extension.
READERS: Final[Mapping[str, Callable[[Path], Table]]] = {
    ".csv": _csv_rows,
    ".tsv": lambda path: _csv_rows(path, "\t"),
    ".jsonl": lambda path: _json_rows(path.read_text(encoding="utf-8")),
    ".jsonl.gz": lambda path: _json_rows(gzip.decompress(path.read_bytes()).decode("utf-8")),
    ".parquet": _parquet_rows,
    ".arrow": _arrow_rows,
}


def read_table(path: Path) -> Table:
    """The rows of a table that crowdwise wrote, each with its columns by name."""
    extension = next(one for one in sorted(READERS, key=len, reverse=True) if path.name.endswith(one))
    return READERS[extension](path)


def compare(
    expected: Answers, items: Path, workers: Path | None = None, *, scores: bool = False, ordered: bool = True
) -> None:
    """Compare what was written with what must be said. Raises `Failure` at the first difference.

    Args:
        expected: What majority vote says.
        items: The table of items that was written.
        workers: The table of workers that was written; None if there is none.
        scores: Whether the table of items has a column of scores for every class.
        ordered: Whether items must be in order of first appearance, as they are unless labels are on disk.
    """
    table = read_table(items)
    if not ordered:
        expected, table = _sorted(expected), sorted(table, key=lambda row: _as_text(row["item"]))
    _require_rows(f"{items.name}, items", [row["item"] for row in table], [row[0] for row in expected.items])
    for row, right in zip(table, expected.items, strict=True):
        for name, value in zip(_ITEM_COLUMNS, right, strict=True):
            _require(f"{name} of item {right[0]!r}", row[name], value)
        if not 0 < float(row["confidence"]) <= 1:
            raise Failure(f"wrong answer: the confidence of item {right[0]!r} is {row['confidence']!r}")
    if scores:
        columns = [name for name in table[0] if name not in (*_ITEM_COLUMNS, "confidence")]
        for row, share in zip(table, expected.scores, strict=True):
            for name, value in zip(columns, share, strict=True):
                _require(f"{name!r} of item {row['item']!r}", row[name], value)
    if workers is None:
        return
    table = read_table(workers)
    _require_rows(f"{workers.name}, workers", [row["worker"] for row in table], [row[0] for row in expected.workers])
    for row, (name, votes, agreement) in zip(table, expected.workers, strict=True):
        shown = dict(zip(_WORKER_COLUMNS, (name, votes, agreement, None, None, agreement), strict=True))
        for column, value in shown.items():
            _require(f"{column} of worker {name!r}", row[column], value)


def _sorted(expected: Answers) -> Answers:
    """The same answers with the items in the order of their texts."""
    order = sorted(range(len(expected.items)), key=lambda place: _as_text(expected.items[place][0]))
    return replace(
        expected, items=[expected.items[place] for place in order], scores=[expected.scores[place] for place in order]
    )


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _require_rows(what: str, found: Sequence[Any], right: Sequence[Any]) -> None:
    """Raise `Failure` unless there are as many names as there must be."""
    if len(found) != len(right):
        raise Failure(f"wrong answer: {what}: {len(found)} instead of {len(right)}: {_few(found)}, not {_few(right)}")


def _few(values: Sequence[Any]) -> str:
    return repr([str(value)[:30] for value in values[:8]])


def _require(what: str, found: Any, right: Any) -> None:
    """Raise `Failure` unless a value is the right one, as it reads in the format that was written."""
    if not _same(found, right):
        raise Failure(f"wrong answer: the {what[:200]} is {str(found)[:100]!r}, not {str(right)[:100]!r}")


def _same(found: Any, right: Any) -> bool:
    """Whether a value is the right one. Formats without types have text for everything, and nothing for None."""
    if right is None:
        return found is None or found == "" or (isinstance(found, str | float) and str(found).lower() == "nan")
    if isinstance(right, bool):
        return found is right or found == str(right).lower()
    if isinstance(right, float):
        return _number(found) is not None and math.isclose(float(found), right, rel_tol=_TOLERANCE)
    if isinstance(found, str) and isinstance(right, date | time):
        return type(right).fromisoformat(found) == right
    if isinstance(found, str) and not isinstance(right, str):
        return found == str(right)
    return type(found) is type(right) and bool(found == right)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
