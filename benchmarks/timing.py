"""How everything here is timed."""

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any], repeats: int) -> float:
    """The median of several runs, after one that does not count: compilation and cold caches are not measured."""
    work()
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def show(what: str, measured: str, wanted: str = "") -> None:
    """One line of the report."""
    print(f"{what:<58} {measured:>26}   {wanted}", flush=True)
