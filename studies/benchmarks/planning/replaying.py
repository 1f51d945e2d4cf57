"""Replays a strategy: labels that workers really gave are given out where the strategy asks for them."""

from typing import Any, Final

import numpy as np

import crowdwise as cw
from crowdwise.numerics import Array

from . import active_lab
from .real_crowds import RealCrowd

STRATEGIES: Final = ("expected", "uncertain", "fewest", "random", "ActiveLab")
# In so many batches, so much of the labels that are held back is given out. All of them would be the same in the end.
STEPS: Final = 10
_SHARE: Final = 0.5


def replay(crowd: RealCrowd, strategy: str, start: int, seed: int) -> list[float]:
    """Return the accuracy at the start and after each batch; the default method is fitted again each time.

    Args:
        crowd: The crowd.
        strategy: One of `STRATEGIES`.
        start: How many labels every item has at the start.
        seed: The seed of the strategy "random".
    """
    there = crowd.there
    have = np.minimum(there, start)
    ends = np.round(np.linspace(0, _SHARE * (there - have).sum(), STEPS + 1)).astype(int)
    accuracies = []
    for step in range(STEPS + 1):
        labels = crowd.given(have)
        result = cw.aggregate(labels)
        accuracies.append(float(crowd.right(result).mean()))
        if step < STEPS:
            ranked = _ranked(result, labels, strategy, seed * STEPS + step)
            _give(have, there, ranked, int(ends[step + 1] - ends[step]))
    return accuracies


def area(accuracies: list[float]) -> float:
    """Return the area under the accuracy over the labels spent, as a mean accuracy."""
    return float(np.trapezoid(accuracies) / (len(accuracies) - 1))


def _ranked(result: Any, labels: cw.Labels, strategy: str, seed: int) -> Array:
    """Return all items, the one that should be asked first at the front."""
    if strategy == "ActiveLab":
        return labels.names.items.gather(np.argsort(active_lab.scores(labels), kind="stable")).to_numpy()
    if strategy == "random":
        return np.random.default_rng(seed).permutation(labels.names.items.sort().to_numpy())
    if strategy == "fewest":
        return np.asarray(result.to_frame().sort("votes", "confidence", "item")["item"])
    asked = cw.next_labels(labels, budget=labels.n_items, result=result, strategy=strategy, per_item_max=1)
    return asked.to_frame()["item"].to_numpy()


def _give(have: Array, there: Array, ranked: Array, count: int) -> None:
    """Give out labels of the first items that have some left, one each, and again until so many are given."""
    while count > 0:
        some = ranked[have[ranked] < there[ranked]][:count]
        have[some] += 1
        count -= len(some)
