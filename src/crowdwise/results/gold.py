"""What is said about items whose class is known, and what these say about all others."""

from dataclasses import dataclass

import numpy as np

from ..kernels import Array
from .intervals import wilson
from .recalibration import Recalibration


@dataclass(frozen=True)
class Share:
    """A share of items with a 95 % interval.

    Attributes:
        value: The share.
        low: The lower end of the interval.
        high: The upper end.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, right: Array) -> "Share":
        """Return the share of right answers; (items), 1 or 0 for each, or a fraction where classes are tied."""
        return cls(*(float(value) for value in wilson(float(right.sum()), len(right))))


@dataclass(frozen=True)
class GoldCheck:
    """What items of known class say about a method, when each was inferred as if its class were not known.

    Attributes:
        items: The number of items whose class is known.
        accuracy: How often the method is right on items like these.
        majority: How often the majority of the votes is right on them.
        recalibration: What fits confidence to this crowd.
    """

    items: int
    accuracy: Share
    majority: Share
    recalibration: Recalibration

    def __str__(self) -> str:
        method, votes = (
            f"{share.value:.1%} (95% interval {share.low:.1%} to {share.high:.1%})"
            for share in (self.accuracy, self.majority)
        )
        return (
            f"Of {self.items:,} gold items, each inferred as if it were not known, the method has {method} right, "
            f"majority vote {votes}."
        )


def fitted_to(gold: Array | None, check: GoldCheck | None, probabilities: Array) -> Array:
    """Return probabilities fitted to a crowd in which some classes are known; those of known classes are 1.

    Args:
        gold: (items), the known class, -1 where it is not known; None if no class is known.
        check: What the known classes say about confidence; None if there are too few.
        probabilities: (items, classes), as they are right for crowds on average.
    """
    fitted = probabilities if check is None else check.recalibration.apply(probabilities)
    return fitted if gold is None else clamped_scores(gold, fitted)


def clamped_scores(gold: Array, scores: Array) -> Array:
    """Return a copy of scores (items, classes) in which items of a known class have 1 for that class and 0 elsewhere.

    Args:
        gold: (items), the known class; -1 where it is not known.
        scores: (items, classes), scores or probabilities.

    >>> clamped_scores(np.array([-1, 0]), np.array([[0.4, 0.6], [0.1, 0.9]])).tolist()
    [[0.4, 0.6], [1.0, 0.0]]
    """
    known = np.flatnonzero(gold >= 0)
    clamped = scores.copy()
    clamped[known] = 0.0
    clamped[known, gold[known]] = 1.0
    return clamped
