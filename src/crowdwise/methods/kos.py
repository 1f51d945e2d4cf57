r"""KOS: items and workers send each other messages about what their other labels say; for two classes.

$$ x_{i \to j} = \sum_{j' \ne j} A_{ij'} y_{j' \to i}, \quad y_{j \to i} = \sum_{i' \ne i} A_{i'j} x_{i' \to j} $$

Here A_ij is 1 if worker j said the second class of item i, and -1 if it said the first. The message x from an item to a
worker says which class the item's other workers believe in. The message y from a worker to an item says how reliable
the worker is on its other items.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final

import numpy as np

from ..crowd.labels import Labels
from ..fitting.in_memory import InMemoryMethod
from ..fitting.iterations import Step, Steps
from ..fitting.limits import Limits
from ..fitting.method import Reference
from ..fitting.parameters import most_iterations, parameter
from ..numerics import Array
from ..results.learned import Learned, PerWorker, Trust
from ..results.result import Scale

# Every vote adds this to the message behind it. It decides only where all messages are zero, as on an item whose
# workers labelled nothing else.
_VOTE_WEIGHT: Final = 1e-6
# A margin this small, relative to the largest, is taken as zero: it is a rounding error of messages that cancelled.
_CANCELLED: Final = 1e-10


@dataclass(frozen=True, eq=False)
class Reliabilities(Learned):
    """How reliable the workers are.

    Attributes:
        reliability: (workers), the sum of the messages from the worker's items: above zero is better than guessing.
    """

    reliability: PerWorker

    def trust(self) -> Trust:
        """A worker is trusted by its reliability."""
        return Trust(self.reliability, "Reliability")


@dataclass(frozen=True)
class KOS(InMemoryMethod):
    """Messages between items and workers, for two classes.

    Use it with two classes, where each worker has many labels on random items: for this case it was proved to be good.
    Where a few workers gave most of the labels, or one class is much more common, other methods are better. It keeps a
    message for every label, so it needs all labels in memory. In the paper, the first messages are random numbers
    around one; here all are one, which is majority vote, so that the same data always give the same answer. Scores are
    margins: sums of messages, which may be negative.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(KOS().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "kos"
    summary: ClassVar[str] = (
        "KOS: for two classes; items and workers send each other messages about what all their other labels say."
    )
    paper: ClassVar[Reference] = Reference(
        "Karger, Oh and Shah",
        "Budget-Optimal Task Allocation for Reliable Crowdsourcing Systems",
        "Operations Research 62, 2014",
        "https://doi.org/10.1287/opre.2013.1235",
    )

    scale: ClassVar[Scale] = "margin"

    tolerance: float = parameter(
        1e-3,
        "Stop when no message moves by more than this in one iteration, relative to the messages' root mean square.",
        at_least=0,
        tiny=True,
    )
    max_iterations: int = most_iterations(20)

    def limits(self) -> Limits:
        """It is for two classes and takes no gold."""
        return replace(
            super().limits(),
            most_classes=2,
            no_gold="because its messages have no place for a class that is known",
            unexplained="a worker's vote weighs differently on every item, and those messages are not kept",
        )

    def iterate(self, labels: Labels) -> Steps:
        """In every iteration, pass messages from items to workers, and then from workers to items."""
        items, workers, votes = labels.item_of, labels.workers, 2.0 * labels.labels - 1  # A in the formulas
        from_workers = np.ones(labels.n_labels)
        while True:
            before = from_workers
            item_sums = np.bincount(items, votes * from_workers, labels.n_items)
            from_items = item_sums[items] - votes * from_workers
            worker_sums = np.bincount(workers, votes * from_items, labels.n_workers)
            from_workers = worker_sums[workers] - votes * from_items
            # Messages would grow in every iteration, so they are divided by their size.
            from_workers /= _root_mean_square(from_workers)
            change = float(np.abs(from_workers - before).max())
            yield Step(change, partial(_margins, labels, from_workers, worker_sums))


def _margins(labels: Labels, from_workers: Array, worker_sums: Array) -> tuple[Array, Reliabilities]:
    """The scores that follow from the last messages, and how reliable the workers are.

    `from_workers` (labels) are the messages from worker to item, `worker_sums` (workers) the sums of those to workers.
    """
    votes = 2.0 * labels.labels - 1
    items = labels.item_of
    margin = np.bincount(items, votes * (from_workers + _VOTE_WEIGHT), minlength=labels.n_items)
    # Messages that cancel leave rounding errors; without this, the order of the rows would decide such ties.
    margin[np.abs(margin) < _CANCELLED * np.abs(margin).max()] = 0.0
    scores = np.stack([-margin, margin], axis=1) if labels.n_classes == 2 else np.zeros((labels.n_items, 1))
    return scores, Reliabilities(worker_sums)


def _root_mean_square(values: Array) -> float:
    """The root mean square of the values; one if all are zero."""
    return float(np.sqrt(np.mean(values**2))) or 1.0
