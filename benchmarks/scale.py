"""Measures BWA on disk with 10^6 to 10^8 labels and compares it with DuckDB; run by `make bench-scale`.

Both read and write Parquet; DuckDB computes the majority vote. The sizes can be given as arguments:
`python -m benchmarks.scale 1e6 1e7`. The largest size needs 10 GB of disk in .benchmarks and /var/tmp.
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
_MEMORY: Final = "4GB"


def main(sizes: list[int]) -> None:
    """Measure every size once; the largest takes minutes."""
    _FOLDER.mkdir(exist_ok=True)
    taken = {}
    for count in sizes:
        labels = _FOLDER / f"labels-{count}.parquet"
        if not labels.is_file():
            large_crowd.write(labels, count, count * 4 // 25, max(count * 3 // 1000, 10))
        truth, modes = _FOLDER / "truth.parquet", _FOLDER / "modes.parquet"
        duckdb, duckdb_busy, _ = _measured("-c", DUCKDB, str(labels), str(modes))
        command = ("-m", "crowdwise", "aggregate", str(labels), "-o", str(truth), "--quiet")
        taken[count], busy, memory = _measured(*command, "--engine", "disk", "--memory", _MEMORY)
        items = pl.scan_parquet(truth).select(pl.len()).collect().item()
        assert items == pl.scan_parquet(modes).select(pl.len()).collect().item()
        what = f"{count:,} labels, {labels.stat().st_size / 1e9:.2f} GB: aggregate on disk / DuckDB mode()"
        show(what, f"{taken[count]:.1f} s / {duckdb:.1f} s = {taken[count] / duckdb:.1f} x", "<= 4 x")
        # Other programs on the machine change the time on the clock more than the time of the processors.
        show("  the same in seconds of processors", f"{busy:.1f} / {duckdb_busy:.1f} = {busy / duckdb_busy:.1f} x")
        show("  peak resident memory", f"{memory / 1e9:.2f} GB", "< 4 GB")
    if len(sizes) > 1:
        least, most = min(sizes), max(sizes)
        exponent = math.log(taken[most] / taken[least]) / math.log(most / least)
        show(f"  time from {least:,} to {most:,} labels", f"exponent {exponent:.2f}", "<= 1.05")


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
