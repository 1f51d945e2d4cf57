"""Measures the seconds per iteration of BWA in a local Spark; run by `make bench-spark`.

It also shows which share of the time is not spent in the kernels. The time in the kernels is taken to be twice the time
of an iteration in memory, because a cluster computes the previous scores again in every iteration.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

import crowdwise as cw
from crowdwise.data.cleaning import Rules
from crowdwise.data.spark.labels import LabelsOnSpark

from . import large_crowd
from .timing import show

_FOLDER: Final = Path(".benchmarks")
_ITERATIONS: Final = 6


def main(sizes: list[int]) -> None:
    """Measure every size once."""
    _FOLDER.mkdir(exist_ok=True)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the Python that has crowdwise installed
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    method = cw.BWA(max_iterations=_ITERATIONS, tolerance=1e-12)
    for count in sizes:
        path = _FOLDER / f"labels-{count}.parquet"
        if not path.is_file():
            large_crowd.write(path, count, count * 4 // 25, max(count * 3 // 1000, 10))
        started = time.perf_counter()
        labels = LabelsOnSpark(session.read.parquet(str(path)), dict.fromkeys(("item", "worker", "label")), Rules())
        reading = time.perf_counter() - started
        cluster = _seconds_per_iteration(method, labels)
        memory = 2 * _seconds_per_iteration(method, cw.read_labels(path))
        show(f"{count:,} labels in {labels.n_parts} parts: reading and sorting", f"{reading:.1f} s")
        show("  an iteration", f"{cluster:.2f} s = {cluster / count * 1e9:.0f} ns a label")
        show("  of it not the kernel", f"{max(1 - memory / cluster, 0):.0%}")
        labels.close()
    session.stop()


def _seconds_per_iteration(method: cw.BWA, labels: Any) -> float:
    """Return the mean seconds of an iteration, without the first one, in which the kernels are loaded."""
    times: list[float] = []
    method.fit(labels, progress=lambda *_: times.append(time.perf_counter()))
    return (times[-1] - times[0]) / (len(times) - 1)


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [10**6, 10**7])
