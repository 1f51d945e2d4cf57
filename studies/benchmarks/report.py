"""Measures the time to make a report of a large crowd, and the size of its file."""

import tempfile
import time
from pathlib import Path

import crowdwise as cw

from .timing import show


def of_many_labels() -> None:
    """Measure a report of ten million labels of two million items."""
    _report("report of 10 million labels, 2 million items", 2_000_000, 5_000, 5.0)


def of_many_workers() -> None:
    """Measure a report of a hundred thousand workers."""
    _report("report of 100,000 workers, 1 million labels", 250_000, 100_000, 4.0)


def _report(what: str, items: int, workers: int, labels_per_item: float) -> None:
    crowd = cw.simulate(items, workers, 5, labels_per_item=labels_per_item, workload=0.8, seed=1)
    labels, truth = crowd.labels, crowd.truth
    del crowd
    result = cw.BWA().fit(labels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        # A first small report imports the library of charts and compiles the kernels, which is not to be measured.
        small = cw.simulate(50, 10, seed=1).labels
        cw.report(cw.BWA().fit(small), small, path=path)
        started = time.perf_counter()
        cw.report(result, labels, truth, path)
        taken = time.perf_counter() - started
        show(what, f"{taken:.1f} s, {path.stat().st_size / 1e6:.1f} MB", "< 10 MB")
