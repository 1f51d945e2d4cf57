"""Slices of the items on threads: cut by the data alone, their sums added in order.

So a result is the same to the bit for any number of threads.
"""

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, TypeVar

import numpy as np

from .kernels import Array

Done = TypeVar("Done")

# Labels in a slice: handing one to a thread costs as much as working on ten thousand labels.
_SLICE: Final = 1 << 16


def slices(starts: Array, parameters: int) -> list[tuple[int, int]]:
    """First and last item of every slice, where what is counted into has so many `parameters`.

    A slice has eight times as many labels at least, so that making and adding counts costs little beside counting.
    """
    return list(runs(starts, max(_SLICE, 8 * parameters)))


def runs(starts: Array, size: int) -> Iterator[tuple[int, int]]:
    """Cut groups of labels into runs of about `size` labels: first and last group of each.

    Group g has the labels from `starts[g]` up to `starts[g + 1]`. All runs are about equally long and their number is
    even, to keep two, four or eight threads equally busy; less than four are not worth a thread. The cuts depend on
    nothing but the labels.
    """
    total = int(starts[-1])
    count = 1 if total <= 4 * size else 2 * math.ceil(total / (2 * size))
    cuts = np.searchsorted(starts, np.linspace(0, total, count + 1))
    cuts[-1] = len(starts) - 1  # the last groups may be empty
    cuts = np.unique(cuts)
    yield from zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)


class Sum:
    """A sum of tuples of arrays; the first one becomes the sum, the others are added to it in place."""

    value: Any = None

    def add(self, counts: tuple[Any, ...]) -> None:
        """Add what was counted in one more part."""
        if self.value is None:
            self.value = counts
            return
        for total, part in zip(self.value, counts, strict=True):
            np.add(total, part, out=total)


def thread_count() -> int:
    """How many threads to use: CROWDWISE_THREADS, or the cores that this process may use."""
    given = os.environ.get("CROWDWISE_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Threads:
    """Work on numbered parts on threads, this one among them, and use the outcomes in the order of the parts."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._others = max(min(thread_count(), parts) - 1, 0)
        self._pool = ThreadPoolExecutor(self._others) if self._others else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, step: Callable[[int], Done], use: Callable[[Done], object] = lambda _: None) -> None:
        """Do `step` for every part, and `use` each outcome once those of all parts before it were used."""
        numbers = iter(range(self._parts))  # shared: each thread takes the next one
        finished: dict[int, Done] = {}
        expected = 0
        lock = Lock()

        def work() -> None:
            nonlocal expected
            for part in numbers:
                outcome = step(part)
                with lock:
                    finished[part] = outcome
                    while expected in finished:
                        use(finished.pop(expected))
                        expected += 1

        others = [self._pool.submit(work) for _ in range(self._others)] if self._pool is not None else []
        try:
            work()
            for other in others:
                other.result()
        finally:
            # After a failure or an interrupt nobody takes another part; else there is none left.
            for _ in numbers:
                pass
