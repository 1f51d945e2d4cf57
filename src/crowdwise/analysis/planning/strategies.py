"""The strategies: in which order further labels are asked for, by different ideas of which items need them."""

from typing import Final, NamedTuple

import numpy as np

from ...crowd.labels import Labels
from ...errors import CallError, did_you_mean, shown
from ...numerics import Array
from ...results.result import Result
from .foresight import foresee

# How items are chosen. "expected": where labels make most answers right. "uncertain": where confidence is least.
# "best_worker": as "uncertain", and each label is to be given by the best worker who has not labelled the item.
STRATEGIES: Final = ("expected", "uncertain", "best_worker")
# Values that differ by less than rounding errors do are equal.
_DIGITS: Final = 10


class Request(NamedTuple):
    """What is to be chosen.

    Attributes:
        result: The result of a method.
        labels: The labels that it is from.
        open: (items), whether the item may be asked; items are in the order of their numbers, as everywhere below.
        loss: (items), what is expected to be lost by the answer: the probability that it is lost, or its cost.
        votes: (items), how many labels each item has.
        budget: How many labels to ask for.
        most: How many labels to ask for at most of one item.
        worker: The code of the worker who is asked; None for workers like those of the crowd.
        seed: The seed of `draw`.
        costs: (classes, decisions), what each decision costs where each class is true; None to count right answers.
    """

    result: Result
    labels: Labels
    open: Array
    loss: Array
    votes: Array
    budget: int
    most: int
    worker: int | None
    seed: int
    costs: Array | None = None


class Offers(NamedTuple):
    """Labels that may be asked for, the best one first.

    Attributes:
        items: The number of the item of each label.
        values: What each label is worth, in the unit of the strategy; NaN if the strategy has none.
    """

    items: Array
    values: Array

    def first(self, count: int) -> "Offers":
        """Return the first offers."""
        return Offers(self.items[:count], self.values[:count])


def choose(strategy: str, request: Request) -> Offers:
    """Return the labels to ask for by a strategy, the most wanted first."""
    offers = _expected(request) if strategy == "expected" else _uncertain(request)
    return offers.first(request.budget)


def draw(request: Request) -> Offers:
    """Return one label each of as many items as the budget says, drawn at random."""
    items = shuffled(np.flatnonzero(request.open), request.seed)
    return Offers(items, np.full(len(items), np.nan)).first(request.budget)


def shuffled(items: Array, seed: int) -> Array:
    """Return items, which are given by their numbers, in a random order."""
    return items[np.lexsort((items, np.random.default_rng(seed).random(len(items))))]


def check_strategy(strategy: object) -> None:
    """Raise `CallError` if there is no such strategy."""
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        meant = did_you_mean(str(strategy), STRATEGIES)
        raise CallError(f"strategy={shown(strategy)} is not one of {', '.join(STRATEGIES)}.{meant}")


def _expected(request: Request) -> Offers:
    """Ask where labels are expected to make most answers right; where none can, where confidence is least.

    The second label that is asked of an item at once counts half, the third a third, and so on: what the first one
    says may make the others needless.
    """
    gains = np.round(foresee(request.result, request.labels, request.worker).gains(request.costs), _DIGITS)
    items, round_of = _rounds(request)
    lost = np.round(request.loss, _DIGITS)
    shared = round_of + 1
    return _sorted(items, gains[items], -lost[items] / shared, -gains[items] / shared)


def _uncertain(request: Request) -> Offers:
    """Ask where confidence is least; the second label of any item comes after the first labels of all."""
    lost = np.round(request.loss, _DIGITS)
    items, round_of = _rounds(request)
    return _sorted(items, lost[items], -lost[items], round_of)


def _rounds(request: Request) -> tuple[Array, Array]:
    """Return the item of every label that may be asked for, and how many are asked for of this item before."""
    may_be = np.flatnonzero(request.open)
    return np.tile(may_be, request.most), np.repeat(np.arange(request.most), len(may_be))


def _sorted(items: Array, values: Array, second: Array, first: Array | None = None) -> Offers:
    """Sort offers by two keys, and by the number of the item where both are equal; the least is first."""
    order = np.lexsort((items, second) if first is None else (items, second, first))
    return Offers(items[order], values[order])
