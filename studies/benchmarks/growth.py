"""Measures how the time of BWA grows with the number of labels, and its memory per label."""

import math
import multiprocessing
import re
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.crowd.names import Names
from crowdwise.crowd.reading_report import ReadingReport

from .timing import seconds, show


def of_time() -> None:
    """Measure the seconds of ten iterations of BWA on 10^5 to 10^7 labels, and the exponent of their growth."""
    method = cw.BWA(max_iterations=10, tolerance=1e-12)
    taken = {}
    for count in (10**5, 10**6, 10**7):
        labels = cw.simulate(count // 5, max(count // 500, 100), 4, seed=1).labels
        taken[count] = seconds(lambda labels=labels: method.fit(labels), 3)  # type: ignore[misc]  # binds this round's labels; mypy sees no type
    exponent = math.log(taken[10**7] / taken[10**5]) / math.log(100)
    shown = ", ".join(f"{time:.3f}" for time in taken.values())
    show(f"10 iterations at 10^5, 10^6, 10^7 labels: {shown} s", f"exponent {exponent:.2f}", "1 is linear")


def of_memory() -> None:
    """Measure the peak memory of a fit, in addition to the labels themselves."""
    labels = cw.simulate(1_000_000, 20_000, 5, labels_per_item=6, seed=1).labels
    # The fit runs in a new process, because memory that other work has freed could be used again and would not be seen.
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(1) as pool:
        path = str(Path(folder) / "labels.npz")
        np.savez(path, item_starts=labels.item_starts, workers=labels.workers, labels=labels.labels)
        fitting, held = pool.apply(_bytes_per_label, (path,))
    show("bytes per label: Labels + fitting at its peak", f"{held:.0f} + {fitting:.0f} = {held + fitting:.0f}", "<= 40")


def _bytes_per_label(path: str) -> tuple[float, float]:
    """Return the bytes per label that a fit takes at its peak, and those of the labels themselves."""
    arrays = np.load(path)
    counts = [len(arrays["item_starts"]) - 1, int(arrays["workers"].max()) + 1, int(arrays["labels"].max()) + 1]
    items, workers, classes = (pl.Series(np.arange(count)) for count in counts)
    names = Names(items, workers, classes)
    labels = cw.Labels(arrays["item_starts"], arrays["workers"], arrays["labels"], names, ReadingReport(counts[0]))
    method = cw.BWA()
    method.fit(labels.slice(0, 1000))
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak of the resident memory, VmHWM
    before = _kilobytes("VmRSS")
    method.fit(labels)
    held = labels.item_starts.nbytes + labels.workers.nbytes + labels.labels.nbytes
    return (_kilobytes("VmHWM") - before) * 1024 / labels.n_labels, held / labels.n_labels


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(match.group(1)) if match else 0
