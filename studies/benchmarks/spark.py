"""Measures the seconds per iteration of BWA in a local Spark; run by `make study NAME=spark`.

It also shows where the time goes, in seconds of processors, because a machine may be busy. The time in the kernels
is taken to be twice the time of an iteration in memory, because a cluster computes the previous scores again in every
iteration. The fixed cost is the time of an iteration over a small crowd in the same number of parts. What is left is
moving: parts to where they are worked on, the workers' parameters to the executors, and counts back.
"""

import os
import statistics
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

import crowdwise as cw
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.partitions.on_spark import LabelsOnSpark

from . import large_crowd
from .timing import show

_FOLDER: Final = Path(".benchmarks")
_ITERATIONS: Final = 25
_UNCOUNTED: Final = 5
_FEW_LABELS: Final = 1000


def main(sizes: list[int]) -> None:
    """Measure every size once."""
    _FOLDER.mkdir(exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the Python that has crowdwise installed
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    method = cw.BWA(max_iterations=_ITERATIONS, tolerance=1e-12)
    small = _crowd(_FEW_LABELS)
    for count in sizes:
        path = _crowd(count)
        started = time.perf_counter()
        labels = _read(session, path)
        reading = time.perf_counter() - started
        total, processors = _iteration(method, labels)
        fixed = _iteration(method, _read(session, small, labels.n_parts))[1]
        kernel = 2 * _iteration(method, cw.read_labels(path))[1]
        show(f"{count:,} labels in {labels.n_parts} parts: reading and sorting", f"{reading:.1f} s")
        show("  an iteration", f"{total:.3f} s = {total / count * 1e9:.0f} ns a label")
        show("  of processors", f"{processors:.3f} s")
        for name, part in {"kernel": kernel, "fixed cost": fixed, "moving": processors - kernel - fixed}.items():
            show(f"    {name}", f"{part:.3f} s = {part / processors:.0%}")
        labels.close()
    session.stop()


def _crowd(count: int) -> Path:
    """Return the path of a file with this many labels, which is written if it is not there."""
    path = _FOLDER / f"labels-{count}.parquet"
    if not path.is_file():
        large_crowd.write(path, count, count * 4 // 25, max(count * 3 // 1000, 10))
    return path


def _read(session: SparkSession, path: Path, parts: int | None = None) -> LabelsOnSpark:
    return LabelsOnSpark(session.read.parquet(str(path)), ReadOptions(), parts)


def _iteration(method: cw.BWA, labels: Any) -> tuple[float, float]:
    """Return the seconds of an iteration: the median, and the mean of processors.

    The first iterations do not count, because kernels are loaded in them and Java is still compiling.
    """
    times: list[tuple[float, float]] = []
    method.fit(labels, progress=lambda *_: times.append((time.perf_counter(), _processor_seconds())))
    steps = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(times[_UNCOUNTED:])]
    return statistics.median(step[0] for step in steps), statistics.mean(step[1] for step in steps)


def _processor_seconds() -> float:
    """Return the seconds of processors that this process and all that it started have used until now, on Linux."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            fields = path.read_text().rpartition(")")[2].split()
            process = int(path.parent.name)
            parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks[process] for process in ours) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7])
