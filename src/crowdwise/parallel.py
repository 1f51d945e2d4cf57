"""Work on slices of the items in threads, with the same result for any number of threads.

How the items are split into slices depends only on the data, and the sums of the slices are added in order. So results
are identical to the last bit, however many threads there are.
"""

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from .errors import CallError
from .numerics import Array
from .system import text_of

Done = TypeVar("Done")

# The least number of labels in a slice. Giving a slice to a thread takes as long as working on ten thousand labels.
_SLICE: Final = 1 << 16


def slices(starts: Array, count_size: int, work: int = 1) -> list[tuple[int, int]]:
    """Return where each slice of the items starts and ends; each is one task of a thread. See `runs`.

    A slice has at least about eight labels for each of the `count_size` values that are counted in it, so that adding
    counts takes little time. Where a label takes `work` times as long as usual, smaller slices are worth a thread.
    """
    return list(runs(starts, max(_SLICE // work, 8 * count_size)))


def runs(starts: Array, size: int) -> Iterator[tuple[int, int]]:
    """Split groups of labels into runs of about `size` labels: yield the first group of each, and that after its last.

    `starts` says where the labels of each group start. Up to `4 * size` labels are one run, because threads would not
    save time. More labels are an even number of runs, so that two threads are equally busy.
    """
    total = int(starts[-1])
    count = 1 if total <= 4 * size else 2 * math.ceil(total / (2 * size))
    cuts = np.searchsorted(starts, np.linspace(0, total, count + 1))
    cuts[-1] = len(starts) - 1  # the last groups may be empty
    cuts = np.unique(cuts)
    yield from zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)


class Sum:
    """A sum of tuples of arrays. The first tuple becomes the sum, and the others are added to it in place."""

    value: Any = None  # the sum so far

    def add(self, counts: tuple[Any, ...]) -> None:
        """Add one more tuple of arrays."""
        if self.value is None:
            self.value = counts
            return
        for total, part in zip(self.value, counts, strict=True):
            np.add(total, part, out=total)


# Whether this process was forked from one in which polars had its threads, which a child does not have.
_lacks_threads = False


def require_threads() -> None:
    """Raise `CallError` in a forked process in which polars would wait forever for threads that are not there."""
    if _lacks_threads:
        raise CallError(
            "This process was forked from one that had used polars, whose threads a fork does not copy, so that "
            'crowdwise would hang. Start processes by spawn: multiprocessing.get_context("spawn").'
        )


def _watch_forks() -> None:
    """Find out before every fork whether polars has threads. Linux says so; elsewhere, fork is not the usual way."""
    had_threads = False

    def before() -> None:
        nonlocal had_threads
        had_threads = any(re.match(r"polars-\d", text_of(name)) for name in Path("/proc/self/task").glob("*/comm"))

    def in_child() -> None:
        global _lacks_threads
        _lacks_threads = _lacks_threads or had_threads

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_child=in_child)


_watch_forks()


def thread_count() -> int:
    """Return how many threads to use: CROWDWISE_THREADS if it is set, else the cores that this process may use."""
    given = _asked_for()
    if given:
        if not re.fullmatch("0*[1-9][0-9]{0,8}", given):
            raise CallError(f"CROWDWISE_THREADS={given!r} is not a number of threads: a whole number from 1 on.")
        return int(given)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _asked_for() -> str:
    """Return what CROWDWISE_THREADS says; empty if it is not set. `crowdwise.testing.on_threads` replaces this."""
    return os.environ.get("CROWDWISE_THREADS", "").strip()


class Threads:
    """Works on numbered parts in several threads. Use it as a context manager."""

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._threads = min(thread_count(), parts)
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    def __enter__(self) -> "Threads":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, step: Callable[[int], Done]) -> Iterator[Done]:
        """Yield what `step` returns for every part, in the order of the parts.

        At most twice as many parts as threads are begun and not yet used, so that few outcomes are in memory. After an
        exception, also one where outcomes are used, no other part begins.
        """
        if self._pool is None:
            yield from map(step, range(self._parts))
            return
        begun: deque[Future[Done]] = deque()
        try:
            for part in range(self._parts):
                if len(begun) == 2 * self._threads:
                    yield begun.popleft().result()
                # Copy the context, so that np.errstate holds in worker threads.
                begun.append(self._pool.submit(copy_context().run, step, part))
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()

    def run(self, step: Callable[[int], object]) -> None:
        """Call `step` with the number of every part."""
        for _ in self.map(step):
            pass
