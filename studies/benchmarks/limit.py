"""The yardstick: limit.c, compiled where there is a C compiler, and how quickly this machine reads memory."""

import ctypes
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array
from crowdwise.numerics.elementary import zeros
from crowdwise.parallel import thread_count

# The number of classes that limit.c is written for, the lanes of BWA, and the strengths and pairs of the adjudicator.
CLASSES, LANES, STRENGTHS, PAIRS = 5, 8, 3, 28
# So many numbers are read to measure the memory: far more than caches hold.
_NUMBERS = 1 << 25
_REPEATS = 15


class Limit:
    """The C loops, on as many threads as crowdwise uses.

    Raises `FileNotFoundError` if there is no C compiler.
    """

    def __init__(self) -> None:
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise FileNotFoundError("there is no C compiler")
        self._folder = tempfile.TemporaryDirectory()
        library = str(Path(self._folder.name) / "limit.so")
        source = str(Path(__file__).with_name("limit.c"))
        subprocess.run([compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source], check=True)
        self._library = ctypes.CDLL(library)
        self._threads = thread_count()

    def sweep_seconds(self, labels: cw.Labels) -> float:
        """Return the seconds of one sweep of BWA over labels of five classes, the least of several."""
        parts, random = self._parts(labels), np.random.default_rng(0)
        weight, vote, mean = zeros(labels.n_workers, LANES), np.eye(LANES), np.full(LANES, 0.2)
        weight += random.random(weight.shape) + 1
        scores = [random.random(part.n_items * CLASSES + LANES) for part in parts]
        errors = [zeros(labels.n_workers, LANES) for _ in parts]

        def sweep(part: int) -> None:
            one, sums, change = parts[part], np.empty(LANES), np.empty(LANES)
            errors[part].fill(0.0)
            self._library.sweep(
                ctypes.c_int64(one.n_items),
                *map(_pointer, (one.item_starts, one.workers, one.labels, weight, mean)),
                ctypes.c_double(1.0),
                ctypes.c_double(1e-5),
                *map(_pointer, (vote, scores[part], errors[part], sums, change)),
            )

        return self._least(sweep)

    def pulls_seconds(self, labels: cw.Labels) -> float:
        """Return the seconds of one sweep of the adjudicator over labels of five classes, the least of several."""
        parts, random = self._parts(labels), np.random.default_rng(0)
        chance, gain, ratio = zeros(labels.n_workers, PAIRS), np.expm1([1.0, 2.0, 4.0]), zeros(STRENGTHS, PAIRS)
        chance[:, : CLASSES**2] = random.dirichlet(np.ones(CLASSES), (labels.n_workers, CLASSES)).reshape(
            -1, CLASSES**2
        )
        ratio[:, : CLASSES**2] = 0.05
        scores = [np.empty((part.n_items, CLASSES)) for part in parts]
        exposure = [zeros(labels.n_workers, STRENGTHS, PAIRS) for _ in parts]
        confusion = [zeros(labels.n_workers, CLASSES, CLASSES) for _ in parts]

        def sweep(part: int) -> None:
            one = parts[part]
            given = one.item_starts, one.workers, one.labels, chance, gain, ratio
            found = scores[part], exposure[part], confusion[part]
            self._library.sweep_pulls(ctypes.c_int64(one.n_items), *map(_pointer, (*given, *found)))

        return self._least(sweep)

    def _parts(self, labels: cw.Labels) -> list[cw.Labels]:
        """Return a slice of the items for each thread."""
        cuts = np.linspace(0, labels.n_items, self._threads + 1).astype(int)
        return [labels.slice(int(first), int(last)) for first, last in pairwise(cuts)]

    @cached_property
    def bytes_per_second(self) -> float:
        """How quickly memory is read."""
        numbers = np.ones(_NUMBERS)
        parts = np.array_split(numbers, self._threads)

        def read(part: int) -> None:
            self._library.read_all(ctypes.c_int64(len(parts[part])), _pointer(parts[part]))

        return 8 * _NUMBERS / self._least(read)

    def _least(self, work: Any) -> float:
        """Return the least seconds of several runs of `work`, which takes the number of a thread."""
        taken = []
        with ThreadPoolExecutor(self._threads) as pool:
            for _ in range(_REPEATS):
                started = time.perf_counter()
                list(pool.map(work, range(self._threads)))
                taken.append(time.perf_counter() - started)
        return min(taken)


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
