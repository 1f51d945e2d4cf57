"""The memory engine: all labels are in memory, and slices of them are swept on threads."""

from functools import partial
from typing import Any

import numpy as np

from ..data.labels import Labels
from ..kernels import Array
from ..parallel import Sum, Threads
from ..results.quality import accuracies
from ..results.result import Ending, Result
from .base import Sweeping


class InMemory:
    """One method over labels in memory.

    Args:
        method: What to sweep with.
        labels: All labels.
        start: Scores to start from instead of the method's own; they are overwritten.
    """

    def __init__(self, method: Sweeping, labels: Labels, start: Array | None = None) -> None:
        self._method = method
        self.labels = labels
        self.n_classes = labels.n_classes
        self.first: Any
        self.scores, self.first = method.start(labels) if start is None else (start, None)
        places = labels.slices(method.count_size(labels))
        self._slices = [(labels.slice(*place), self.scores[slice(*place)]) for place in places]
        self._threads = Threads(len(places))

    def __enter__(self) -> "InMemory":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.__exit__()

    def sweep(self, workers: Any) -> tuple[Any, Array]:
        """One pass over all slices."""
        total = Sum()
        change = np.zeros(self.n_classes)

        def step(part: int) -> tuple[Any, Array]:
            counts = self._method.empty_counts(self.labels, workers)
            return counts, self._method.sweep(*self._slices[part], workers, counts)

        def add(outcome: tuple[Any, Array]) -> None:
            total.add(outcome[0])
            np.maximum(change, outcome[1], out=change)

        self._threads.run(step, add)
        return total.value, change

    def result(self, ending: Ending) -> Result:
        """What was found: the scores as they are now, and how the loop ended."""
        return make_result(self._method, self.labels, self.scores, ending)


def make_result(method: Sweeping, labels: Labels, scores: Array, ending: Ending) -> Result:
    """The result of a loop that ended in memory with these scores."""
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
