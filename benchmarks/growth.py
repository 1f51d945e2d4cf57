"""How time and memory grow with the number of labels."""

import ctypes
import math
import multiprocessing
import re
from pathlib import Path

import crowdwise as cw

from .timing import seconds, show


def of_time() -> None:
    """Seconds of BWA().fit for a fixed number of iterations, from 10^5 to 10^7 labels, and their exponent."""
    method = cw.BWA(max_iterations=10, tolerance=1e-12)
    taken = {}
    for count in (10**5, 10**6, 10**7):
        labels = cw.simulate(count // 5, max(count // 500, 100), 4, seed=1).labels
        taken[count] = seconds(lambda labels=labels: method.fit(labels), 3)  # type: ignore[misc]  # bound now, not later
    exponent = math.log(taken[10**7] / taken[10**5]) / math.log(100)
    shown = ", ".join(f"{time:.3f}" for time in taken.values())
    show(f"10 iterations at 10^5, 10^6, 10^7 labels: {shown} s", f"exponent {exponent:.2f}", "1 is linear")


def of_memory() -> None:
    """Peak memory of a fit above the table of labels, in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        fitting, held = pool.apply(_bytes_per_label)
    show("bytes per label: Labels + fitting at its peak", f"{held:.0f} + {fitting:.0f} = {held + fitting:.0f}", "<= 40")


def _bytes_per_label() -> tuple[float, float]:
    labels = cw.simulate(1_000_000, 20_000, 5, labels_per_item=6, seed=1).labels
    method = cw.BWA()
    method.fit(labels.slice(0, 1000))
    ctypes.CDLL(None).malloc_trim(0)  # give back what simulating left over, or the fit would hide in it
    Path("/proc/self/clear_refs").write_text("5")  # start the high-water mark anew
    before = _kilobytes("VmRSS")
    method.fit(labels)
    held = labels.item_starts.nbytes + labels.workers.nbytes + labels.labels.nbytes
    return (_kilobytes("VmHWM") - before) * 1024 / labels.n_labels, held / labels.n_labels


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text()
    match = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(match.group(1)) if match else 0
