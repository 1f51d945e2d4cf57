"""Replays an expert: the truth of chosen items is given as gold, and what that does for other items is measured."""

from typing import Any, Final

import numpy as np
import polars as pl

import crowdwise as cw
from crowdwise.numerics import Array

from .real_crowds import RealCrowd

STRATEGIES: Final = ("expected", "uncertain", "random")
# The items whose accuracy is measured.
PARTS: Final = ("other half", "rest", "half asked")
# How many items the expert has decided, after each batch.
GOLD: Final = (0, 10, 20, 50)
# Fewer items than this would leave too few to measure by.
_FEWEST_ITEMS: Final = 150


def replay_expert(crowd: RealCrowd, strategy: str, seed: int) -> list[dict[str, float]] | None:
    """Return what is right after each batch of gold; None if there are too few items.

    The expert is asked about one half of the items only. The other half says what gold teaches about items that were
    not asked about. The accuracy of all items that are not gold also grows because hard ones are taken out.

    Args:
        crowd: The crowd, with all its labels.
        strategy: One of `STRATEGIES`.
        seed: The seed of the halves and of the strategy "random".

    Returns:
        For each number in `GOLD`, the accuracy of each of `PARTS`: of the half that is not asked about, of all items
        that are not gold, and of the half that is asked about, where gold items are right.
    """
    labels = crowd.given(crowd.there)
    n_items = labels.n_items
    if n_items < _FEWEST_ITEMS:
        return None
    asked = np.zeros(n_items, bool)
    asked[np.random.default_rng(seed).permutation(n_items)[: n_items // 2]] = True
    # Gold that names a class which nobody said would make another crowd of it; such items cannot be right anyway.
    askable = asked & (crowd.truth >= 0)
    gold = np.zeros(n_items, bool)
    found = []
    result = _fit(crowd, labels, gold)
    for step, count in enumerate(GOLD):
        if count:
            ranked = _ranked(result, labels, strategy, seed * len(GOLD) + step)
            gold[ranked[askable[ranked]][: count - int(gold.sum())]] = True
            result = _fit(crowd, labels, gold)
        right = crowd.right(result)[np.argsort(labels.names.items.to_numpy())]
        right[gold] = True
        parts = {"other half": ~asked, "rest": ~gold, "half asked": asked}
        found.append({part: float(right[items].mean()) for part, items in parts.items()})
    return found


def _fit(crowd: RealCrowd, labels: cw.Labels, gold: Array) -> Any:
    """Fit the default method with the truth of these items."""
    if not gold.any():
        return cw.aggregate(labels)
    items = np.flatnonzero(gold)
    return cw.aggregate(labels, gold=pl.DataFrame({"item": items, "truth": crowd.truth[items]}))


def _ranked(result: Any, labels: cw.Labels, strategy: str, seed: int) -> Array:
    """Return all items that are not gold, the one that should be decided first at the front."""
    if strategy == "random":
        chosen: dict[str, Any] = {"random": labels.n_items, "seed": seed}
    else:
        chosen = {"budget": labels.n_items, "strategy": strategy}
    asked = cw.next_labels(labels, result=result, ask="expert", **chosen)
    return asked.to_frame()["item"].to_numpy()
