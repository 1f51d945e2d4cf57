r"""The model of `KOS`.

$$ x_{i \to j} = \sum_{j' \ne j} A_{ij'} y_{j' \to i}, \quad y_{j \to i} = \sum_{i' \ne i} A_{i'j} x_{i' \to j} $$

with A = 1 for a label of the second class and -1 for one of the first.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..inference.in_memory import InMemoryMethod, Step, Steps
from ..inference.method import Reference
from ..inference.parameters import parameter
from ..kernels import Array
from ..results.learned import Learned, Trust
from ..results.result import Scale

# Where messages say nothing, as for an item whose workers labelled nothing else, this much of the votes decides.
_VOTES: Final = 1e-6
# A margin this small, relative to the largest, is what is left of messages that cancelled.
_CANCELLED: Final = 1e-10


@dataclass(frozen=True, eq=False)
class Reliabilities(Learned):
    """What is believed of the workers.

    Attributes:
        reliability: (workers), the sum of what items told each: above zero is better than guessing.
    """

    reliability: Array

    def trust(self) -> Trust:
        """What items told about a worker."""
        return Trust(self.reliability, "Reliability")


@dataclass(frozen=True)
class KOS(InMemoryMethod):
    """Belief propagation between items and workers, for two classes.

    Use it for two classes and many labels by each worker, spread over items at random: that is what it was proved good
    for. Where a few workers did most of the work, or classes are out of balance, others are better. It has a message
    for every label, so it needs all labels in memory. The paper starts at random around one; this starts at one, which
    is majority vote, so that the same data give the same answer. Scores are margins.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(KOS().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    key: ClassVar[str] = "kos"
    summary: ClassVar[str] = (
        "KOS: items and workers tell each other, label by label, what all their other labels say; for two classes."
    )
    paper: ClassVar[Reference] = Reference(
        "Karger, Oh and Shah",
        "Budget-Optimal Task Allocation for Reliable Crowdsourcing Systems",
        "Operations Research 62, 2014",
        "https://doi.org/10.1287/opre.2013.1235",
    )

    most_classes: ClassVar[int] = 2
    scale: ClassVar[Scale] = "margin"
    unexplained_reason: ClassVar[str] = (
        "a worker's vote weighs differently on every item, and those messages are not kept"
    )

    tolerance: float = parameter(
        1e-3,
        "Stop when no message moves by more than this, relative to their root mean square.",
        at_least=0,
    )
    max_iterations: int = parameter(20, "Stop then at the latest.", at_least=1)

    def iterate(self, labels: Labels) -> Steps:
        """Messages from items to workers, and back."""
        arrays = (labels.item_starts, labels.workers, labels.labels)
        reliability, task = np.ones(labels.n_labels), np.empty(labels.n_labels)
        while True:
            heard = np.zeros(labels.n_workers)
            kernels.pass_messages(*arrays, reliability, task, heard)
            scale = _root_mean_square(heard[labels.workers] - (2.0 * labels.labels - 1) * task)
            change = kernels.reply_messages(*arrays[1:], task, heard, scale, reliability)
            yield Step(change, partial(_margins, labels, reliability, heard))


def _margins(labels: Labels, reliability: Array, heard: Array) -> tuple[Array, Reliabilities]:
    """The scores that follow from the last messages."""
    votes = 2.0 * labels.labels - 1
    items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    margin = np.bincount(items, votes * (reliability + _VOTES), minlength=labels.n_items)
    # Messages that cancel leave rounding errors, and those would break ties by the order of the rows.
    margin[np.abs(margin) < _CANCELLED * np.abs(margin).max()] = 0.0
    scores = np.stack([-margin, margin], axis=1) if labels.n_classes == 2 else np.zeros((labels.n_items, 1))
    return scores, Reliabilities(heard)


def _root_mean_square(values: Array) -> float:
    """The messages' size, or one where all are zero."""
    return float(np.sqrt(np.mean(values**2))) or 1.0
