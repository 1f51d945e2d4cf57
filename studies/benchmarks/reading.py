"""Measures `read_labels` on files of every kind, beside polars reading the same columns, and how wide tables grow.

    python -m studies.benchmarks.reading [ROWS FOLDER]

Files are made from a seed, once for a folder; `make bench` makes them in a temporary one, with six million rows. Only
the public interface is used: with another checkout's `src` first in PYTHONPATH, that is measured on the same files.
"""

import gzip
import itertools
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl

import crowdwise as cw

from .importing import write_label_studio
from .timing import show

_ROWS: Final = 6_000_000
_COLUMNS: Final = ("item", "worker", "label")
_TASKS: Final = 50_000
_WIDE_ITEMS: Final = (250_000, 500_000, 1_000_000)
WIDE_WORKERS: Final = 50
_REPEATS: Final = 2


Read = Callable[[Path], Any]


class Measured(NamedTuple):
    """The best of some runs: seconds of the clock and of processors."""

    clock: float
    processors: float


class Case(NamedTuple):
    """A file to read.

    Attributes:
        name: What it is, in words.
        path: The file.
        labels: How many labels it has; for a wide table, cells.
        peers: What else reads it, by name.
    """

    name: str
    path: Path
    labels: int
    peers: dict[str, Read]


def cases(folder: Path, rows: int) -> Iterator[Case]:
    """Yield the files one by one; those that are not in the folder yet are made."""
    folder.mkdir(parents=True, exist_ok=True)
    yield from _long_tables(folder, rows)
    tasks = folder / "label studio.json"
    if not tasks.exists():
        write_label_studio(tasks, _TASKS)
    peers = {"json.loads": lambda path: json.loads(path.read_bytes())}
    yield Case(f"Label Studio, {tasks.stat().st_size / 1e6:.0f} MB", tasks, 4 * _TASKS, peers)
    for items in _WIDE_ITEMS:
        wide = folder / f"wide {items}.parquet"
        if not wide.exists():
            write_wide(wide, items, 0.2)
        cells = items * WIDE_WORKERS
        yield Case(f"wide Parquet, {items:,} items by {WIDE_WORKERS}", wide, cells, {"polars": _unpivoted})


def _long_tables(folder: Path, rows: int) -> Iterator[Case]:
    """Yield files with one label a row and ids in text, six labels an item, in random order."""
    rows -= rows % 6

    @cache
    def table() -> pl.DataFrame:
        made = cw.simulate(rows // 6, rows // 300, 5, labels_per_item=6, seed=1).rows
        return made.sample(fraction=1, shuffle=True, seed=1).select(_COLUMNS)

    def write_quoted(path: Path) -> None:
        table().with_columns(pl.format("page 1, {}", "item").alias("item")).write_csv(path, quote_style="always")

    csv: dict[str, Read] = {"polars": _csv, "pandas": _pandas}
    kinds: list[tuple[str, str, Callable[[Path], None], dict[str, Read]]] = [
        ("CSV", "plain.csv", lambda path: table().write_csv(path), csv),
        ("quoted CSV", "quoted.csv", write_quoted, csv),
        ("gzip of CSV", "plain.csv.gz", lambda path: _compress(folder / "plain.csv", path), {"polars": _csv}),
        ("JSON lines", "lines.jsonl", lambda path: table().write_ndjson(path), {"polars": pl.read_ndjson}),
        ("JSON array", "array.json", lambda path: table().write_json(path), {"polars": pl.read_json}),
        ("Parquet", "table.parquet", lambda path: table().write_parquet(path), {"polars": pl.read_parquet}),
    ]
    for name, file, write, peers in kinds:
        path = folder / file
        if not path.exists():
            write(path)
        yield Case(f"{name}, {rows:,} rows", path, rows, peers)


def _csv(path: Path) -> Any:
    return pl.scan_csv(path).select(_COLUMNS).collect()


def _pandas(path: Path) -> Any:
    import pandas

    return pandas.read_csv(path, usecols=list(_COLUMNS))


def _unpivoted(path: Path) -> Any:
    return pl.scan_parquet(path).unpivot(index="item").drop_nulls().collect()


def _compress(source: Path, target: Path) -> None:
    with source.open("rb") as read, gzip.open(target, "wb", compresslevel=6) as written:
        shutil.copyfileobj(read, written)


def write_wide(path: Path, items: int, share: float) -> None:
    """Write a row for each item and a column for each worker; this share of the cells has a label."""
    random = np.random.default_rng(1)
    classes = pl.Series(["cat", "cow", "dog"])
    columns = {"item": pl.select(pl.format("item {}", pl.int_range(items))).to_series()}
    for worker in range(WIDE_WORKERS):
        said = classes.gather(random.integers(0, len(classes), items))
        columns[f"r{worker}"] = said.set(pl.Series(random.random(items) >= share), None)
    pl.DataFrame(columns).write_parquet(path)


def measure(read: Read, path: Path) -> Measured:
    """Return the best of some runs, after one that does not count, because it loads code and fills caches."""
    read(path)
    runs = []
    for _ in range(_REPEATS):
        clock, processors = time.perf_counter(), time.process_time()
        read(path)
        runs.append((time.perf_counter() - clock, time.process_time() - processors))
    return Measured(*map(min, zip(*runs, strict=True)))


def in_temporary_folder() -> None:
    """Measure files that are deleted again."""
    with tempfile.TemporaryDirectory() as folder:
        of_files(_ROWS, Path(folder))


def of_files(rows: int, folder: Path) -> None:
    """Measure all files, and print a line for each, and one for each peer."""
    per_cell = {}
    for case in cases(folder, rows):
        ours = measure(cw.read_labels, case.path)
        speed = f"{case.labels / ours.clock / 1e6:.2f} M/s"
        show(f"read_labels: {case.name}", f"{ours.clock:.2f} s, {ours.processors:.2f} CPU, {speed}")
        for name, read in case.peers.items():
            peer = measure(read, case.path)
            ratios = f"{ours.clock / peer.clock:.1f} x, {ours.processors / peer.processors:.1f} x CPU"
            show(f"  beside {name}, {peer.clock:.2f} s, {peer.processors:.2f} CPU", ratios)
        if case.name.startswith("wide"):
            per_cell[case.labels] = ours.processors / case.labels * 1e9
    shown = ", ".join(f"{nanoseconds:.0f}" for nanoseconds in per_cell.values())
    growth = max(b / a for a, b in itertools.pairwise(per_cell.values()))
    show(f"wide tables, twice as many items: {shown} ns CPU a cell", f"{growth:.2f} x a cell", "1 is linear")


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) == 2:
        of_files(int(given[0]), Path(given[1]))
    else:
        in_temporary_folder()
