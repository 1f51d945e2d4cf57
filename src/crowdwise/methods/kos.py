r"""KOS: items and workers tell each other, label by label, what all their other labels say; for two classes.

$$ x_{i \to j} = \sum_{j' \ne j} A_{ij'} y_{j' \to i}, \quad y_{j \to i} = \sum_{i' \ne i} A_{i'j} x_{i' \to j} $$

with A = 1 for a label of the second class and -1 for one of the first. Karger, Oh and Shah, "Budget-Optimal Task
Allocation for Reliable Crowdsourcing Systems", Operations Research 62, 2014, https://doi.org/10.1287/opre.2013.1235.
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from .. import kernels
from ..data.labels import Labels
from ..errors import DataError, require_whole
from ..inference.loop import Progress
from ..kernels import Array
from ..results.quality import accuracies
from ..results.result import Convergence, Result

# Where messages say nothing, as for an item whose workers labelled nothing else, this much of the votes decides.
_VOTES: Final = 1e-6
# A margin this small, relative to the largest, is what is left of messages that cancelled.
_CANCELLED: Final = 1e-10


@dataclass(frozen=True, eq=False)
class Reliabilities:
    """What is believed of the workers.

    Attributes:
        reliability: (workers), the sum of what items told each: above zero is better than guessing.
    """

    reliability: Array


@dataclass(frozen=True)
class KOS:
    """Belief propagation between items and workers, for two classes.

    Use it for two classes and many labels by each worker, spread over items at random: that is what it was proved good
    for. Where a few workers did most of the work, or classes are out of balance, others are better. It has a message
    for every label, so it needs all labels in memory. The paper starts at random around one; this starts at one, which
    is majority vote, so that the same data give the same answer. Scores are margins.

    Args:
        tolerance: Stop when no message moves by more than this, relative to their root mean square.
        max_iterations: Stop then at the latest.

    >>> import crowdwise as cw
    >>> crowd = cw.simulate(200, 10, classes=2, seed=1)
    >>> cw.accuracy(KOS().fit(crowd.labels), crowd.truth) > 0.85
    True
    """

    # Said where an explanation is asked for.
    not_a_sum: ClassVar[str] = "a worker's vote weighs differently on every item, and those messages are not kept"

    tolerance: float = 1e-3
    max_iterations: int = 20

    def __post_init__(self) -> None:
        require_whole(1, max_iterations=self.max_iterations)

    def fit(self, labels: Labels, *, progress: Progress | None = None) -> Result:
        """Infer the truth.

        Args:
            labels: What the workers said, one class a vote, of two classes.
            progress: Called with the iteration and the change after each iteration.
        """
        labels.require_suitable(self)
        labels.require_single_votes("KOS")
        if labels.n_classes > 2:
            raise DataError(f"KOS takes two classes, and here are {labels.n_classes}: use bwa, ds or another method.")
        arrays = (labels.item_starts, labels.workers, labels.labels)
        reliability, task = np.ones(labels.n_labels), np.empty(labels.n_labels)
        for iteration in range(1, self.max_iterations + 1):
            heard = np.zeros(labels.n_workers)
            kernels.pass_beliefs(*arrays, reliability, task, heard)
            scale = _root_mean_square(heard[labels.workers] - (2.0 * labels.labels - 1) * task)
            change = kernels.reply_beliefs(*arrays[1:], task, heard, scale, reliability)
            if progress is not None:
                progress(iteration, change)
            if change <= self.tolerance:
                break
        votes = 2.0 * labels.labels - 1
        items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
        margin = np.bincount(items, votes * (reliability + _VOTES), minlength=labels.n_items)
        # Messages that cancel leave rounding errors, and those would break ties by the order of the rows.
        margin[np.abs(margin) < _CANCELLED * np.abs(margin).max()] = 0.0
        scores = np.stack([-margin, margin], axis=1) if labels.n_classes == 2 else np.zeros((labels.n_items, 1))
        return Result.build(
            self,
            labels,
            scores,
            "margin",
            convergence=Convergence(iteration, change <= self.tolerance, change),
            workers=Reliabilities(heard),
            quality=accuracies,
        )


def _root_mean_square(values: Array) -> float:
    """The messages' size, or one where all are zero."""
    return float(np.sqrt(np.mean(values**2))) or 1.0
