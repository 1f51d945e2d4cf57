"""Measures wide tables beside long ones, JSON arrays beside lines, and 10^7 rows from Postgres.

Every measurement is a process of its own, so that its memory is its own. Postgres is measured if CROWDWISE_POSTGRES
names a server, in which a table is made and dropped again.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import polars as pl

from .reading import WIDE_WORKERS, write_wide
from .timing import show

_FOLDER: Final = Path(".benchmarks")
_ITEMS: Final = 1_000_000
_ROWS: Final = 10_000_000
# Prints seconds of the clock, seconds of processors and the peak of memory, in bytes. That of `wait4` would be at least
# the memory of the process that started this one.
_READ: Final = """
import re, sys, time
from pathlib import Path
from crowdwise import read_labels
started = time.perf_counter()
labels = read_labels(sys.argv[1], engine=sys.argv[2], memory=sys.argv[3] or None, **eval(sys.argv[4]))
assert labels.n_labels == int(sys.argv[5]), labels
labels.close()
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
print(time.perf_counter() - started, time.process_time(), peak)
"""


def _read(
    source: Path | str, labels: int, engine: str = "memory", memory: str = "", how: str = "{}"
) -> tuple[float, float, float]:
    """Return seconds of the clock, seconds of processors and peak memory of reading labels, the best of two runs."""
    command = [sys.executable, "-c", _READ, str(source), engine, memory, how, str(labels)]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(2)]
    clock, busy, peak = (min(map(float, values)) for values in zip(*runs, strict=True))
    return clock, busy, peak


def _wide(share: float) -> None:
    """Compare a wide table, of whose cells this share has a label, with the same labels in a long one."""
    wide, long = _FOLDER / f"wide-{share}.parquet", _FOLDER / f"long-{share}.parquet"
    write_wide(wide, _ITEMS, share)
    cells = pl.read_parquet(wide).with_row_index("row").unpivot(index=["row", "item"], value_name="label")
    rows = cells.drop_nulls("label").sort("row", maintain_order=True).rename({"variable": "worker"}).drop("row")
    rows.write_parquet(long)
    count = rows.height
    of_wide, wide_busy, wide_memory = _read(wide, count, how="{'wide': True}")
    of_long, long_busy, long_memory = _read(long, count)
    what = f"{_ITEMS:,} items by {WIDE_WORKERS} workers, {count:,} labels: wide / long"
    show(what, f"{of_wide:.1f} s / {of_long:.1f} s = {of_wide / of_long:.2f} x", "<= 2 x")
    show("  seconds of processors", f"{wide_busy:.1f} s / {long_busy:.1f} s = {wide_busy / long_busy:.2f} x", "<= 2 x")
    show("  peak resident memory", f"{wide_memory / 1e9:.2f} GB / {long_memory / 1e9:.2f} GB")


def _array() -> None:
    """Compare a JSON array with the same objects as JSON lines."""
    array, lines = _FOLDER / "votes.json", _FOLDER / "votes.jsonl"
    count = 1_000_000
    rows = [
        f'{{"item": "i{n // 5}", "worker": "w{n % 5}", "label": {n % 3}, "text": "{"x" * 40}"}}' for n in range(count)
    ]
    array.write_text("[" + ", ".join(rows) + "]")
    lines.write_text("\n".join(rows))
    (of_array, _, array_memory), (of_lines, _, lines_memory) = _read(array, count), _read(lines, count)
    what = f"{array.stat().st_size / 1e6:.0f} MB of JSON, {count:,} labels: an array / lines"
    show(what, f"{of_array:.1f} s / {of_lines:.1f} s = {of_array / of_lines:.2f} x")
    show("  peak resident memory", f"{array_memory / 1e6:.0f} MB / {lines_memory / 1e6:.0f} MB")


def _postgres(server: str) -> None:
    """Read many rows from Postgres to disk, and compare with the same rows in Parquet."""
    from adbc_driver_postgresql import dbapi

    table = "crowdwise_benchmark"
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"drop table if exists {table}")
        cursor.execute(
            f"create unlogged table {table} as select 'item ' || n / 5 as item, 'worker ' || n % 5 + 5 * (n % 600) as "
            f"worker, n % 4 as label from generate_series(0, {_ROWS - 1}) as n"
        )
        cursor.execute(f"analyze {table}")
        connection.commit()
    try:
        seconds, busy, memory = _read(server, _ROWS, "disk", "500MB", f"{{'table': {table!r}}}")
        show(f"{_ROWS:,} rows from Postgres to the disk engine", f"{seconds:.1f} s, {busy:.1f} of processors")
        show("  peak resident memory, --memory 500MB", f"{memory / 1e6:.0f} MB")
        parquet = _FOLDER / "votes-of-postgres.parquet"
        with dbapi.connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"select * from {table}")
            pl.DataFrame(cursor.fetch_arrow_table()).write_parquet(parquet)
        seconds, busy, memory = _read(parquet, _ROWS, "disk", "500MB")
        show("  the same rows from a Parquet file", f"{seconds:.1f} s, {busy:.1f} of processors, {memory / 1e6:.0f} MB")
    finally:
        with dbapi.connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"drop table if exists {table}")
            connection.commit()


def main(which: list[str]) -> None:
    """Measure what is named: wide, array, postgres; all if nothing is."""
    _FOLDER.mkdir(exist_ok=True)
    if not which or "wide" in which:
        for share in (0.2, 1.0):
            _wide(share)
    if not which or "array" in which:
        _array()
    server = os.environ.get("CROWDWISE_POSTGRES")
    if server and (not which or "postgres" in which):
        _postgres(server)
    elif not server:
        print("CROWDWISE_POSTGRES names no server: Postgres was not measured.")


if __name__ == "__main__":
    main(sys.argv[1:])
