"""What every engine does with one part of the labels, and how the outcomes of parts are added up."""

from functools import cache
from typing import Any, get_type_hints

import numpy as np

from ...data.knowledge import Known
from ...data.labels import Labels
from ...data.names import Names
from ...numerics import Array
from ...parallel import Sum
from ...results.ending import Ending
from ...results.gold import clamped_scores
from ...results.history import Counted
from ..sweeping import AnySweeping, Finished


def sweep_items(method: AnySweeping, labels: Labels, scores: Array, workers: Any) -> tuple[Any, Array]:
    """Sweep over the items of a part; those of known class are clamped to it, and count with the weight of gold.

    Returns:
        The counts, and for every class the largest change of a score.
    """
    counts = method.empty_counts(labels, workers)
    if labels.gold is None or not labels.by_knowledge.known:
        return counts, method.sweep(labels, scores, workers, counts)
    apart = labels.by_knowledge
    of_known = method.empty_counts(labels, workers)
    for known, items, part in apart.known:
        clamped = scores[items]
        method.clamp(clamped, known)
        method.sweep_known(part, clamped, known, workers, of_known)
        scores[items] = clamped
    of_open = scores[apart.open_items]
    change = method.sweep(apart.open, of_open, workers, counts)
    scores[apart.open_items] = of_open
    for name, weight in _gold_weights(counts.__class__, labels.known.gold_weight).items():
        total = getattr(counts, name)
        total += weight * getattr(of_known, name)
    return counts, change


@cache
def _gold_weights(kind: Any, weight: float) -> dict[str, float]:
    """Return how often items of known class count, for each of the arrays that a method counts.

    They count for more in what is counted about each worker, not in how common classes are: which items are known need
    not be by chance.
    """
    declared = get_type_hints(kind, include_extras=True).items()
    return {name: weight if "worker_places" in getattr(hint, "__metadata__", ()) else 1.0 for name, hint in declared}


def finish_items(method: AnySweeping, labels: Labels, scores: Array, workers: Any) -> Finished:
    """Call `finish` on the items of a part; those whose class is known have that class in the end, too."""
    finished = method.finish(labels, scores, workers)
    return finished if labels.gold is None else finished._replace(scores=clamped_scores(labels.gold, finished.scores))


def counted_by(method: AnySweeping, names: Names, known: Known, ending: Ending) -> Counted | None:
    """Return what a method counted, including what it began with; None if it counts nothing for later labels.

    Args:
        method: The method.
        names: The names of workers, in the order of their numbers, and of classes.
        known: What was known beforehand: workers of earlier labels who gave none of these are kept.
        ending: How the iterations ended.
    """
    if ending.counts is None:
        return None
    statistics = method.statistics(ending)
    if not statistics.per_worker:
        return None
    return Counted(names.classes, names.workers, *statistics, known.label_counts, known.other_workers)


class SweepTotal:
    """The sum over parts of what a sweep counted, and by how much each class moved at most.

    Parts must be added in their order, so that the sum is the same to the bit whoever made them when.
    """

    def __init__(self) -> None:
        self._sum = Sum()
        self._change: Array | None = None

    def add(self, outcome: tuple[tuple[Any, ...], Array]) -> None:
        """Add the counts and the changes of one part."""
        counts, change = outcome
        self._sum.add(counts)
        self._change = change.copy() if self._change is None else np.maximum(self._change, change)

    @property
    def value(self) -> tuple[Any, Array]:
        """The sum of the counts, and the largest change of each class."""
        assert self._change is not None, "no part was added"
        return self._sum.value, self._change
