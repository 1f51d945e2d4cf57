"""Slices of the items on threads: cut by the data alone, their sums added in order.

So a result is the same to the bit for any number of threads.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, TypeVar, cast

import numpy as np

from .labels import Labels

Done = TypeVar("Done")
Added = TypeVar("Added", bound=tuple[Any, ...])

# Labels in a slice: handing one to a thread costs as much as working on ten thousand labels.
_SLICE: Final = 1 << 16


def cuts(labels: Labels, parameters: int) -> list[tuple[int, int]]:
    """First and last item of every slice, where what is counted into has so many `parameters`.

    A slice has eight times as many labels at least, so that making and adding counts costs little beside counting.
    """
    return list(labels.slices(max(_SLICE, 8 * parameters)))


def sliced(labels: Labels) -> bool:
    """Whether there are enough labels for several threads."""
    return len(cuts(labels, 0)) > 1


def add_slices(labels: Labels, parameters: int, count: Callable[[int, int, Labels], Added]) -> Added:
    """The sum of `count` of each slice, given its first and last item; on threads; see `cuts` for `parameters`."""
    total = Sum()
    _each_slice(labels, parameters, count, total.add)
    return cast(Added, total.value)


def each_slice(labels: Labels, step: Callable[[int, int, Labels], None]) -> None:
    """Run `step` on each slice, given its first and last item; on threads."""
    _each_slice(labels, 0, step)


def _each_slice(
    labels: Labels,
    parameters: int,
    step: Callable[[int, int, Labels], Done],
    use: Callable[[Done], object] = lambda _: None,
) -> None:
    places = cuts(labels, parameters)
    with Threads(len(places)) as threads:
        threads.run(lambda part: step(*places[part], labels.slice(*places[part])), use)


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
