"""What is said about items whose class is known, and what these say about all others."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from ..numerics import Array
from .intervals import wilson
from .recalibration import Recalibration

# A difference that chance brings about less often than this is more than chance.
_UNLIKELY: Final = 0.05


@dataclass(frozen=True)
class Share:
    """A share of items, with the two ends of its 95 % interval."""

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
        prefers_majority: Whether the majority is right so much more often that chance hardly explains it.
        measured: A row for each of these items: item, and right, how far the method was right about it; of m tied
            classes, one of which is the true one, 1/m.
    """

    items: int
    accuracy: Share
    majority: Share
    recalibration: Recalibration
    prefers_majority: bool = False
    measured: pl.DataFrame = field(default_factory=pl.DataFrame, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "items": self.items,
            "accuracy": asdict(self.accuracy),
            "majority": asdict(self.majority),
            "power": self.recalibration.power,
            "prefers_majority": self.prefers_majority,
        }

    def __str__(self) -> str:
        method, votes = (
            f"{share.value:.1%} (95% interval {share.low:.1%} to {share.high:.1%})"
            for share in (self.accuracy, self.majority)
        )
        return (
            f"Of {self.items:,} gold items, each inferred as if it were not known, the method has {method} right, "
            f"majority vote {votes}.{_BETTER if self.prefers_majority else ''}"
        )


_BETTER: Final = (
    " So majority vote (-m mv) is better here, if gold was drawn at random; workers who copy each other may be why "
    "(`crowdwise blocks`)."
)


def clearly_better(right: Array, others: Array) -> bool:
    """Whether the first answers are right so much more often than others that chance hardly explains it.

    It is the sign test: where only one of two answers to an item is right, either is as likely to be, by chance. Both
    arrays (items) have 1 where the answer is right, 0 where it is wrong, a fraction where classes are tied.

    >>> clearly_better(np.ones(5), np.zeros(5)), clearly_better(np.ones(4), np.zeros(4))
    (True, False)
    """
    won, lost = int((right > others).sum()), int((right < others).sum())
    differ = won + lost
    by_chance = sum(math.comb(differ, count) for count in range(won, differ + 1)) / 2**differ
    return won > lost and by_chance < _UNLIKELY


def fitted_to(gold: Array | None, recalibration: Recalibration | None, probabilities: Array) -> Array:
    """Return probabilities (items, classes) fitted to a crowd in which some classes are known; those of these are 1.

    `gold` (items) is the known class, -1 where it is not known; None if no class is known.
    """
    fitted = probabilities if recalibration is None else recalibration.apply(probabilities)
    return fitted if gold is None else clamped_scores(gold, fitted)


def clamped_scores(gold: Array, scores: Array) -> Array:
    """Return a copy of scores (items, classes) in which items of a known class have 1 for that class and 0 elsewhere.

    `gold` (items) is the known class; -1 where it is not known.

    >>> clamped_scores(np.array([-1, 0]), np.array([[0.4, 0.6], [0.1, 0.9]])).tolist()
    [[0.4, 0.6], [1.0, 0.0]]
    """
    known = np.flatnonzero(gold >= 0)
    clamped = scores.copy()
    clamped[known] = 0.0
    clamped[known, gold[known]] = 1.0
    return clamped
