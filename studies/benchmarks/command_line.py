"""Measures the time of `crowdwise aggregate` from file to file, also in comparison with DuckDB."""

import compileall
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
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


# A program that does the same from Python; its argument is the input file.
PYTHON = """
import sys, polars, crowdwise
result = crowdwise.aggregate(polars.read_csv(sys.argv[1]))
result.to_frame(), result.workers_frame()
"""


def first_use() -> None:
    """Compare the first and the second use after installing, which compile nothing, with importing NumPy and polars.

    The labels are 5,000, in three classes. The package is copied without compiled kernels, which are also looked for
    beside its sources.
    """
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        labels = folder / "labels.csv"
        cw.simulate(1000, 50, 3, labels_per_item=5, seed=1).rows.write_csv(labels)
        shutil.copytree(Path(cw.__file__).parent, folder / "crowdwise", ignore=shutil.ignore_patterns("*.nb[ic]"))
        compileall.compile_dir(folder / "crowdwise", quiet=1)  # as pip does
        libraries = seconds(lambda: _run("-c", "import numpy, polars"), 5)
        show("import numpy, polars", f"{libraries:.2f} s")
        for where, command in (
            ("command line", ("-m", "crowdwise", "aggregate", str(labels), "-o", str(folder / "truth.csv"), "--quiet")),
            ("Python", ("-c", PYTHON, str(labels))),
        ):
            firsts, others = zip(*(_uses(command, folder, number) for number in range(5)), strict=True)
            first, second = statistics.median(firsts), statistics.median(others)
            show(f"5,000 labels, first / second use: {where}", f"{first:.2f} s / {second:.2f} s", "<= 1.3 x, <= 0.8 s")


def _uses(command: Sequence[str], folder: Path, number: int) -> list[float]:
    """Return the seconds of the first and of the second use of a command, in a new home."""
    home = folder / f"home {command[0]} {number}"
    home.mkdir()
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR"), str(home))
    taken = []
    for _ in range(2):
        started = time.perf_counter()
        _run(*command, PYTHONPATH=str(folder), **places)
        taken.append(time.perf_counter() - started)
    return taken


def _run(*arguments: str, **environment: str) -> None:
    # An installed program has its byte code cached.
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], check=True, env=given | environment)
