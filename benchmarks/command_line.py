"""Measures the time of `crowdwise aggregate` from file to file, also in comparison with DuckDB."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

import crowdwise as cw

from .timing import seconds, show

# A program that computes the majority vote of every item with DuckDB; its arguments are the input and the output file.
DUCKDB = """
import duckdb, sys
duckdb.sql("SET enable_progress_bar = false")
duckdb.sql(f"COPY (SELECT item, mode(label) FROM '{sys.argv[1]}' GROUP BY item) TO '{sys.argv[2]}'")
"""


def against_duckdb() -> None:
    """Compare with DuckDB's majority vote on six million labels, from Parquet to Parquet.

    There are a million items, 20,000 workers and five classes, with text ids in random order.
    """
    with tempfile.TemporaryDirectory() as folder:
        labels, truth, modes = (
            str(Path(folder) / name) for name in ("labels.parquet", "truth.parquet", "mode.parquet")
        )
        crowd = cw.simulate(1_000_000, 20_000, 5, labels_per_item=6, seed=1)
        crowd.rows.sample(fraction=1, shuffle=True, seed=1).write_parquet(labels)
        duckdb = seconds(lambda: _run("-c", DUCKDB, labels, modes), 3)
        command = ("-m", "crowdwise", "aggregate", labels, "-o", truth, "--quiet")
        ours = seconds(lambda: _run(*command, "--method", "bwa"), 3)
        default = seconds(lambda: _run(*command), 2)
        assert pl.read_parquet(truth).height == pl.read_parquet(modes).height
    what = "6 million labels, file to file: aggregate -m bwa / DuckDB mode()"
    show(what, f"{ours:.2f} s / {duckdb:.2f} s = {ours / duckdb:.1f} x", "<= 2.5 x, aim 1.5 x")
    what = "6 million labels, file to file: aggregate / aggregate -m bwa"
    show(what, f"{default:.2f} s / {ours:.2f} s = {default / ours:.1f} x", "<= 3 x")


def on_small_file() -> None:
    """Measure the time for a thousand labels, which is mostly the time that the program needs to start."""
    with tempfile.TemporaryDirectory() as folder:
        labels = str(Path(folder) / "labels.csv")
        cw.simulate(200, 20, 3, seed=1).rows.write_csv(labels)
        taken = seconds(lambda: _run("-m", "crowdwise", "aggregate", labels, "--quiet"), 5)
    show("a small CSV through the command line", f"{taken:.2f} s", "<= 0.8 s")


def _run(*arguments: str) -> None:
    # An installed program has its byte code cached.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, env=environment)


def first_run() -> None:
    """Measure the time of the first run after installing, which compiles the kernels."""
    with tempfile.TemporaryDirectory() as folder:
        labels = str(Path(folder) / "labels.csv")
        cw.simulate(200, 20, 3, seed=1).rows.write_csv(labels)
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "cache")
        try:
            started = time.perf_counter()
            _run("-m", "crowdwise", "aggregate", labels, "--quiet")
            taken = time.perf_counter() - started
        finally:
            del os.environ["NUMBA_CACHE_DIR"]
    show("the first run after installing, which compiles", f"{taken:.1f} s", "< 5 s")
