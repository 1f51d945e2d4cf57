"""The memory engine: runs a method on labels in memory, slice by slice on several threads."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...crowd.labels import Labels
from ...numerics import Array
from ...parallel import Threads, slices
from ...results.ending import Ending
from ...results.gold import clamped_scores
from ...results.numeric_result import NumericResult
from ...results.quality import Estimate, accuracies, accuracies_from, measure_quality
from ...results.result import Result
from ..sweeping import AnySweeping, Finished, SweepingMethod
from .base import Engine, SweepTotal, counted_by, finish_items, sweep_items


class MemoryEngine(Engine):
    """Runs one method on labels in memory.

    `start` are the first scores; the method's own if None. They are overwritten.
    """

    def __init__(self, method: AnySweeping, labels: Labels, start: Array | None = None) -> None:
        super().__init__(method, labels, labels.known, labels.names)
        self.labels = labels
        self.scores, self.initial_workers = method.start(labels) if start is None else (start, None)
        bounds = slices(labels.item_starts, method.count_size(labels), method.work_per_label)
        self._slices = [(labels.slice(*ends), self.scores[slice(*ends)]) for ends in bounds]
        self._threads = Threads(len(bounds))

    def __exit__(self, *_: object) -> None:
        self._threads.__exit__()

    def sweep_parts(self, workers: Any) -> tuple[Any, Array]:
        """Call the method's `sweep` on all slices."""
        total = SweepTotal()
        for outcome in self._threads.map(lambda part: sweep_items(self.method, *self._slices[part], workers)):
            total.add(outcome)
        return total.value

    @staticmethod
    def count_labels(crowd: Labels, count: Callable[[Labels], tuple[Any, ...]], phase: str) -> Any:
        """Return what `count` returns for all labels: they are one part here, so that large counts are there once."""
        return count(crowd)

    def result(self, ending: Ending) -> Any:
        """Return the result with the scores as they are now: a `Result`, or a `NumericResult` of a numeric method."""
        if not self.method.numeric:
            return make_result(self.method, self.labels, self.scores, ending)
        return NumericResult.build(
            self.method,
            self.labels,
            self.labels.names,
            self.scores,
            self.method.worker_errors(ending),
            workers=ending.workers,
            convergence=ending.convergence,
        )


def _own_accuracies(method: AnySweeping, workers: Any, labels: Labels, _answers: Array) -> Estimate:
    """Return the quality of the workers by the method's own probabilities of what is right."""
    expected_right = method.expected_right
    assert expected_right is not None, "the method has no such probabilities"
    size = method.count_size(labels)
    right, variance = labels.add_slices(size, lambda _first, _last, part: expected_right(part, workers))
    return accuracies_from(right, variance, np.bincount(labels.workers, minlength=labels.n_workers))


def _finish(method: AnySweeping, labels: Labels, scores: Array, workers: Any) -> Finished:
    """Call the method's `finish` on slices of the items, in threads."""
    if type(method).finish is SweepingMethod.finish:
        # As they are: no copy is needed.
        return Finished(scores if labels.gold is None else clamped_scores(labels.gold, scores))

    def finish(first: int, last: int, part: Labels) -> Finished:
        return finish_items(method, part, scores[first:last], workers)

    parts = list(labels.map_slices(finish, work=method.work_per_label))
    if len(parts) == 1:
        return parts[0]
    hard = [part.difficulty for part in parts if part.difficulty is not None]
    return Finished(np.concatenate([part.scores for part in parts]), np.concatenate(hard) if hard else None)


def make_result(method: AnySweeping, labels: Labels, scores: Array, ending: Ending) -> Result:
    """Return the result of a method whose iterations in memory ended with these scores and this ending."""
    final, difficulty = _finish(method, labels, scores, ending.workers)
    variance = method.variance
    own = None if method.expected_right is None else partial(_own_accuracies, method, ending.workers)
    return Result.build(
        method,
        labels,
        final,
        method.scale,
        convergence=ending.convergence,
        workers=ending.workers,
        quality=partial(measure_quality, own or accuracies) if method.measures_accuracy else None,
        difficulty=difficulty,
        counted=counted_by(method, labels.names, labels.known, ending),
        variance=None if variance is None else partial(variance, labels, final, ending.workers),
    )
