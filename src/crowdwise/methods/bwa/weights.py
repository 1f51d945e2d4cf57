"""BWA's parameters: weights of workers, each class against the rest, and the blocks of classes that kernels take."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ...data.labels import Labels
from ...kernels import Array
from ...results.learned import Learned, Trust

Blocks = tuple[tuple[int, ...], ...]


class Errors(NamedTuple):
    """What the workers' weights are estimated from; adds up over disjoint items.

    The last four do not change: they are counted at the start and empty afterwards.
    """

    errors: Array  # (blocks, workers, lanes): sum of (z - y)^2
    sums: Array  # (blocks, 2, lanes): sum of z, and of z^2
    votes: Array  # (workers)
    disagreement: Array  # (classes): sum of n z (1 - z) over items with n labels, z the vote share
    items: Array  # (1)
    set_votes: Array  # (1): rows that continue a vote


@dataclass(frozen=True, eq=False)
class Weights(Learned):
    """The workers' weights, class by class, and what they were estimated from.

    Attributes:
        weight: (workers, classes), the expected weight v of a worker's vote.
        errors: (workers, classes), the sum of squared errors behind it.
        mean: (classes), the mean score, which has `mean_weight` in every item's average.
        prior_errors: (classes), b: how many errors in `prior_strength` votes are assumed beforehand.
        prior_strength: a.
        votes: (workers), votes given.
        items: How many items there are.
        set_valued: Whether some vote names several classes.
        running: (classes), which classes have not settled yet.
        objective: (classes), the negative log likelihood of the scores behind `errors`, up to a constant.
    """

    weight: Array
    errors: Array
    mean: Array
    prior_errors: Array
    prior_strength: float
    votes: Array
    items: int
    set_valued: bool
    running: Array
    objective: Array

    @property
    def class_prior(self) -> Array:
        """The mean score of each class, as a share of all."""
        return np.asarray(self.mean / self.mean.sum())

    def trust(self) -> Trust:
        """What a worker's vote weighs."""
        return Trust(self.weight.mean(axis=1), "Weight of a vote, mean over classes")

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """The weights' central posterior interval: v (b + errors) is chi-squared with a + votes degrees."""
        from scipy import special  # slow to import: not before it is needed

        half = (self.prior_strength + self.votes)[:, None] / 2
        tail = (1 - level) / 2
        rate = (self.prior_errors + self.errors) / 2
        return special.gammaincinv(half, tail) / rate, special.gammaincinv(half, 1 - tail) / rate

    @cached_property
    def mirrored(self) -> bool:
        """Whether class 1 is class 0 turned round: two classes, one class a vote, and both still running."""
        return self._plan[0]

    @cached_property
    def blocks(self) -> Blocks:
        """The classes to compute: those that have not settled, and only one of two that mirror each other."""
        return self._plan[1]

    @cached_property
    def _plan(self) -> tuple[bool, Blocks]:
        return _plan(tuple(self.running.tolist()), self.set_valued)

    def counted(self, counts: Errors) -> tuple[Array, Array, Array, Array]:
        """What was counted: the classes, errors (workers, these), the sums of their scores and of the squares."""
        classes = np.flatnonzero(self.running)
        lanes = 1 if self.mirrored else len(classes)
        errors = counts.errors.swapaxes(0, 1).reshape(len(self.votes), -1)[:, :lanes]
        total, squares = counts.sums.swapaxes(0, 1).reshape(2, -1)[:, :lanes]
        if self.mirrored:
            errors = np.repeat(errors, 2, axis=1)
            squares = np.append(squares, self.items - 2 * total + squares)
            total = np.append(total, self.items - total)
        return classes, errors, total, squares

    @cached_property
    def weight_blocks(self) -> list[Array]:
        """The weights of each block, (workers, lanes)."""
        return [np.ascontiguousarray(self.weight[:, block]) for block in self.blocks]


def mirrored(n_classes: int, set_valued: bool) -> bool:
    """Whether one of two classes is the other turned round: where every vote names one class."""
    return n_classes == 2 and not set_valued


@lru_cache(maxsize=64)  # the same in most iterations
def _plan(running: tuple[bool, ...], set_valued: bool) -> tuple[bool, Blocks]:
    """Whether the classes mirror each other, and the blocks to compute."""
    turned = mirrored(len(running), set_valued) and all(running)
    classes = [0] if turned else [k for k, runs in enumerate(running) if runs]
    return turned, make_blocks(classes, len(running))


def all_blocks(labels: Labels) -> Blocks:
    """The classes to compute at the start."""
    return _plan((True,) * labels.n_classes, labels.set_valued)[1]


def make_blocks(classes: Iterable[int], n_classes: int) -> Blocks:
    """Classes by one, four or eight; the last block repeats a class to be full.

    Each width is compiled by itself, so there are few, and from three to four classes there is only one.
    """
    given = list(classes)
    width = 1 if len(given) == 1 and n_classes <= 2 else 4 if len(given) <= 4 else 8
    given += given[-1:] * (-len(given) % width)
    return tuple(tuple(given[first : first + width]) for first in range(0, len(given), width))
