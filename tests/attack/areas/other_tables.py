"""Tables that are no long CSV, JSON lines or Parquet: workbooks, databases, matrices, arrays, objects, wide, nested."""

import io
import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

import duckdb
import numpy as np
import polars as pl
import xlsxwriter

from ..answering import check_majority
from ..area import Area, Case
from ..majority import Row, Rules
from ..rule import Verdict


def _workbook(case: Case, rows: Sequence[Row]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"strings_to_formulas": False, "strings_to_urls": False}) as workbook:
        sheet = workbook.add_worksheet()
        for number, row in enumerate([("item", "worker", "label"), *rows]):
            for column, value in enumerate(row):
                sheet.write_string(number, column, value)
    return file.getvalue()


def _sqlite(case: Case, rows: Sequence[Row]) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table votes (item text, worker text, label text)")
    connection.executemany("insert into votes values (?, ?, ?)", rows)
    connection.commit()
    return connection.serialize()


def _duckdb(case: Case, rows: Sequence[Row]) -> bytes:
    path = case.folder / "made.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table votes (item text, worker text, label text)")
        connection.executemany("insert into votes values (?, ?, ?)", rows)
    return path.read_bytes()


def _array(case: Case, rows: Sequence[Row]) -> bytes:
    objects = [dict(zip(("item", "worker", "label"), row, strict=True)) for row in rows]
    return json.dumps(objects, indent=case.random.choice((None, 1))).encode()


def _by_item(rows: Sequence[Row]) -> dict[Any, dict[Any, Any]]:
    said: dict[Any, dict[Any, Any]] = {}
    for item, worker, label in rows:
        said.setdefault(item, {})[worker] = label
    return said


def _objects(case: Case, rows: Sequence[Row]) -> bytes:
    return json.dumps(_by_item(rows)).encode()


def _lines(case: Case, rows: Sequence[Row]) -> bytes:
    said = _by_item(rows)
    lists = [{"id": item, "workers": list(of), "labels": list(of.values())} for item, of in said.items()]
    return "\n".join(map(json.dumps, lists)).encode()


def _nested(case: Case, rows: Sequence[Row]) -> bytes:
    file = io.BytesIO()
    votes = [
        {"id": i, "votes": [{"worker": w, "label": said} for w, said in of.items()]} for i, of in _by_item(rows).items()
    ]
    pl.DataFrame(votes).write_parquet(file)
    return file.getvalue()


def _wide(case: Case, rows: Sequence[Row]) -> bytes:
    said, workers = _by_item(rows), sorted({worker for _, worker, _ in rows})
    lines = [["id", *workers], *([item, *(of.get(worker, "") for worker in workers)] for item, of in said.items())]
    return "\n".join(",".join(line) for line in lines).encode()


# What is written, and the name of the file. Items in a matrix and a wide table have all their labels in one row.
_WRITERS: Final[dict[str, Callable[[Case, Sequence[Row]], bytes]]] = {
    "labels.xlsx": _workbook,
    "labels": _workbook,
    "votes.db": _sqlite,
    "votes.sqlite": _sqlite,
    "votes.duckdb": _duckdb,
    "array.json": _array,
    "array.jsonl": _array,
    "answers.json": _objects,
    "nested.jsonl": _lines,
    "nested.parquet": _nested,
    "wide.csv": _wide,
}


def attack(case: Case) -> Verdict:
    """Read a table, and compare with the labels that were written."""
    random = case.random
    name = random.choice([*_WRITERS, "matrix.npy", "matrix.txt"])
    if name.startswith("matrix"):
        return _attack_matrix(case, name)
    workers = [f"w{number}" for number in range(random.randint(2, 5))]
    items = random.choice((["007", "8", "=1+1", "é", "i5"], ["i1", "i2", "i3"]))
    pairs = [(item, worker) for item in items for worker in workers]
    rows: list[Row] = [(*pair, random.choice("xyz")) for pair in pairs if case.chance(0.8)] or [(*pairs[0], "x")]
    content = _WRITERS[name](case, rows)
    damaged = case.chance(0.5)
    if damaged:
        content = _damaged(case, content)
    (case.here / name).write_bytes(content)
    # Whether a table is wide is recognised by its values, which may be too few.
    may_refuse = damaged or name.startswith("wide")
    known = None if damaged else rows
    return check_majority(case, [name], Rules(), known, is_text=False, may_refuse=may_refuse)


def _attack_matrix(case: Case, name: str) -> Verdict:
    """Read a matrix of numbers; row and column numbers are the names."""
    random = case.random
    shape = random.randint(1, 6), random.randint(2, 5)
    values = [[random.choice((-1, 0, 1, 2)) for _ in range(shape[1])] for _ in range(shape[0])]
    values[0][0] = 1
    matrix = np.array(values, random.choice((np.int8, np.int64, np.float64)))
    file = io.BytesIO()
    if name.endswith(".npy"):
        np.save(file, matrix)
    else:
        np.savetxt(file, matrix, fmt="%d")
    damaged = case.chance(0.5)
    (case.here / name).write_bytes(_damaged(case, file.getvalue()) if damaged else file.getvalue())
    rows: list[Row] = [(i, w, said) for i, row in enumerate(values) for w, said in enumerate(row) if said >= 0]
    return check_majority(case, [name], Rules(), None if damaged else rows, is_text=False, may_refuse=damaged)


def _damaged(case: Case, content: bytes) -> bytes:
    """The file cut off, or with some bytes changed, put in or taken out."""
    random = case.random
    if case.chance(0.2):
        return content[: random.randint(0, len(content) - 1)]
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 10))):
        place = random.randrange(len(changed))
        kind = random.choice(("flip", "flip", "set", "put", "take"))
        if kind == "flip":
            changed[place] ^= 1 << random.randrange(8)
        elif kind == "set":
            changed[place] = random.choice((0, 0x22, 0x2C, 0x5B, 0x5D, 0x7B, 0x7D, 0xFF))
        elif kind == "put":
            changed[place:place] = random.choice((b"{", b"[", b'"', b"\0", b"\n", b"9" * 50, b"\\ud800"))
        else:
            del changed[place : place + random.choice((1, 5))]
    return bytes(changed)


AREA = Area(
    "tables", "workbooks, databases, matrices, arrays, objects, wide and nested tables, damaged", attack, tested=150
)
