"""What votes with a probability say, against what is inferred: how well every worker is calibrated."""

from typing import Final, NamedTuple

import numpy as np
import polars as pl

from ..crowd.labels import Labels
from ..crowd.votes import powers_of_shares, weight_per_item
from ..numerics import Array

# The columns of the table of the workers that say how well each is calibrated.
STATED: Final = ("sharpness", "stated", "inferred", "brier")


class SoftItems(NamedTuple):
    """What confidence has to know of the votes of items (`calibration.probabilities`); see `soft_items`."""

    weight: Array
    power: Array


def soft_items(labels: Labels) -> SoftItems | None:
    """Return, for every item, how much its votes weigh, and the power of its vote shares; None if votes are plain."""
    power = powers_of_shares(labels)
    return None if power is None else SoftItems(weight_per_item(labels), power)


class Stated(NamedTuple):
    """How well every worker is calibrated, each (workers); NaN for those who state no probabilities.

    Attributes:
        sharpness: The power that makes what it states into what that is worth: below 1 for the overconfident.
        stated: The mean probability that it states for its labels.
        inferred: The mean probability that its labels are right, as far as is inferred.
        brier: Its Brier score: the expected square of what it states minus one if it is right, or minus zero.
    """

    sharpness: Array
    stated: Array
    inferred: Array
    brier: Array

    @classmethod
    def of(cls, counts: Array, sharpness: Array | None) -> "Stated":
        """Return the means, given what `count_stated` counts."""
        n_stated, weight, *sums = counts
        states = (n_stated > 0) & (weight > 0)
        means = [np.divide(one, weight, out=np.full(len(one), np.nan), where=states) for one in sums]
        power = np.ones(len(weight)) if sharpness is None else sharpness
        return cls(np.where(states, power, np.nan), *means)

    def reordered(self, numbers: Array) -> "Stated":
        """Return a copy with workers in another order."""
        return Stated(*(one[numbers] for one in self))

    def columns(self) -> dict[str, pl.Series]:
        """Return the columns of the table of the workers."""
        return {name: pl.Series(name, values, nan_to_null=True) for name, values in self._asdict().items()}


def count_stated(labels: Labels, probabilities: Array) -> Array:
    """Return (5, workers), what `Stated` needs of these items, given the calibrated probabilities of their classes.

    How many votes state a probability; and of all votes the weights, and the weighted sums of what they state for their
    label, of the probability that this is right, and of the expected squares of the difference.
    """
    if labels.soft is None:
        return np.zeros((5, labels.n_workers))
    rows, weights = np.arange(labels.n_labels), labels.soft[:, -1]
    stated, right = labels.soft[rows, labels.labels], probabilities[labels.item_of, labels.labels]
    of_votes = ((stated < 1.0) * (weights > 0), weights, weights * stated, weights * right)
    squares = weights * ((stated - right) ** 2 + right * (1 - right))
    return np.stack([np.bincount(labels.workers, one, labels.n_workers) for one in (*of_votes, squares)])


def measure_stated(labels: Labels, probabilities: Array) -> Stated:
    """Return how well the workers are calibrated, for labels in memory."""
    return Stated.of(count_stated(labels, probabilities), labels.known.sharpness)
