"""The memory engine: runs a method on labels in memory, slice by slice on several threads."""

from functools import partial
from typing import Any

from ..data.labels import Labels
from ..kernels import Array
from ..parallel import Threads
from ..results.quality import accuracies
from ..results.result import Ending, Result
from .base import Sweeping, SweepTotal


class MemoryEngine:
    """Runs one method on labels in memory.

    Args:
        method: The method.
        labels: All labels.
        start: The first scores; the method's own if None. They are overwritten.
    """

    def __init__(self, method: Sweeping, labels: Labels, start: Array | None = None) -> None:
        self._method = method
        self.labels = labels
        self.n_classes = labels.n_classes
        self.first: Any
        self.scores, self.first = method.start(labels) if start is None else (start, None)
        bounds = labels.slices(method.count_size(labels))
        self._slices = [(labels.slice(*ends), self.scores[slice(*ends)]) for ends in bounds]
        self._threads = Threads(len(bounds))

    def __enter__(self) -> "MemoryEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.__exit__()

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all slices; see `Engine.sweep`."""
        total = SweepTotal()

        def step(part: int) -> tuple[Any, Array]:
            counts = self._method.empty_counts(self.labels, workers)
            return counts, self._method.sweep(*self._slices[part], workers, counts)

        self._threads.run(step, total.add)
        return total.value

    def result(self, ending: Ending) -> Result:
        """Return the result with the scores as they are now."""
        return make_result(self._method, self.labels, self.scores, ending)


def make_result(method: Sweeping, labels: Labels, scores: Array, ending: Ending) -> Result:
    """Return the result of a method whose iterations in memory ended with these scores and this ending."""
    final = method.finish(scores)
    variance = method.variance
    return Result.build(
        method,
        labels,
        final,
        method.scale,
        convergence=ending.convergence,
        workers=ending.workers,
        quality=accuracies if method.measures_accuracy else None,
        variance=None if variance is None else partial(variance, labels, final, ending.workers),
    )
