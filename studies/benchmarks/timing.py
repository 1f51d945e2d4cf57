"""Functions that measure the time of some work and print a line with the result."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the median seconds of several runs.

    Before them there is one run that does not count, so that compilation and loading of files are not measured.
    """
    work()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def show(what: str, measured: str, wanted: str = "") -> None:
    """Print one line: what was measured, the result, and the result that is wanted."""
    print(f"{what:<58} {measured:>26}   {wanted}", flush=True)
