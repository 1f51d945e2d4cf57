"""Measures BWA on disk with 10^6 to 10^8 labels and compares it with DuckDB; run by `make study NAME=scale`.

Both read and write Parquet; DuckDB computes the majority vote. The sizes can be given as arguments:
`python -m studies scale 1e6 1e7`. The largest size needs 10 GB of disk in .benchmarks and /var/tmp.

`python -m studies scale 1e9` needs 75 GB. DuckDB is left out there, and the adjudicator makes its fewest sweeps.
"""

import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import polars as pl

from . import large_crowd
from .command_line import DUCKDB
from .timing import show

_FOLDER: Final = Path(".benchmarks")
_MOST_WORKERS: Final = 300_000
# From so many labels on, a run takes so long that there is none for comparison, and the program gets more memory.
_HUGE: Final = 10**9


def main(sizes: list[int]) -> None:
    """Measure every size once; the largest takes minutes."""
    _FOLDER.mkdir(exist_ok=True)
    taken = {}
    for count in sizes:
        labels = _FOLDER / f"labels-{count}.parquet"
        if not labels.is_file():
            large_crowd.write(labels, count, count * 4 // 25, min(max(count * 3 // 1000, 10), _MOST_WORKERS))
        what = f"{count:,} labels, {labels.stat().st_size / 1e9:.2f} GB: aggregate"
        if count >= _HUGE:
            taken[count] = _huge(labels, f"{what} -m bwa", "-m", "bwa")
            _huge(labels, f"{what} -m adjudicator, one iteration", "-m", "adjudicator", "--set", "max_iterations=1")
        else:
            taken[count] = _beside_duckdb(labels, f"{what} -m bwa on disk / DuckDB mode()")
    if len(sizes) > 1:
        least, most = min(sizes), max(sizes)
        exponent = math.log(taken[most] / taken[least]) / math.log(most / least)
        show(f"  time from {least:,} to {most:,} labels", f"exponent {exponent:.2f}", "<= 1.05")


def _beside_duckdb(labels: Path, what: str) -> float:
    """Run BWA and DuckDB's majority vote, print both, and return the seconds of BWA."""
    truth, modes = _FOLDER / "truth.parquet", _FOLDER / "modes.parquet"
    duckdb, duckdb_busy, _ = _measured("-c", DUCKDB, str(labels), str(modes))
    taken, busy, memory = _aggregated(labels, truth, "4GB", "-m", "bwa")
    assert _rows(truth) == _rows(modes)
    show(what, f"{taken:.1f} s / {duckdb:.1f} s = {taken / duckdb:.1f} x", "<= 4 x")
    # Other programs on the machine change the time on the clock more than the time of the processors.
    show("  the same in seconds of processors", f"{busy:.1f} / {duckdb_busy:.1f} = {busy / duckdb_busy:.1f} x")
    show("  peak resident memory", f"{memory / 1e9:.2f} GB", "< 4 GB")
    return taken


def _huge(labels: Path, what: str, *method: str) -> float:
    """Run a method on very many labels, print what it took, and return the seconds."""
    truth = _FOLDER / "truth.parquet"
    taken, busy, memory = _aggregated(labels, truth, "8GB", *method)
    show(what, f"{taken:.0f} s, {busy:.0f} s of processors")
    show("  peak resident memory", f"{memory / 1e9:.2f} GB", "< 8 GB")
    show("  items in the output", f"{_rows(truth):,}, {truth.stat().st_size / 1e9:.1f} GB")
    return taken


def _rows(table: Path) -> int:
    """How many rows a Parquet file has."""
    return int(pl.scan_parquet(table).select(pl.len()).collect().item())


def _aggregated(labels: Path, truth: Path, memory: str, *method: str) -> tuple[float, float, int]:
    """Run `crowdwise aggregate` on disk; see `_measured`."""
    command = ("-m", "crowdwise", "aggregate", str(labels), "-o", str(truth), "--quiet", *method)
    return _measured(*command, "--engine", "disk", "--memory", memory)


def _measured(*arguments: str) -> tuple[float, float, int]:
    """Run Python with these arguments; return its seconds, its processor seconds and its peak memory in bytes."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7, 10**8])
