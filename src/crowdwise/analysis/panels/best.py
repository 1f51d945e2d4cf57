r"""The best judge and the panel side by side, and the fewest judges who are as good.

A judge who was best on some items is less good on others, because chance helped to choose it: it looks better than it
is by its optimism. The items are resampled; each time a judge is chosen by the resampled items, and the mean of how
much better it is on these than on all items is the optimism (Efron, 1983,
https://doi.org/10.1080/01621459.1983.10477973). With d the paired difference of panel and best judge on the same items,

    gain = d + optimism;   95 % interval: from the lower end of that of d to the upper end plus the optimism

On random halves of 14 real panels, 175 to 844 items at a time, such intervals hold what the other half shows in 95 %
(at least 92 % in each panel), where the other half's own chance is allowed for: `make study NAME=judges`. Choosing the
judge on some parts of the items and measuring it on the others does worse, because where two judges are close, the one
is chosen that is worse in the part that is left out.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...crowd.numbering import hash_ranks
from ...numerics import Array
from ...results.gold import Share
from ...results.intervals import NORMAL, paired
from .measured import Measured

# The best judge has votes on at least this share of the items.
_LEAST_SEEN: Final = 0.5
# So many judges are tried in a smaller panel; and so many numbers are worked on for it, at most.
_MOST_MEMBERS: Final = 12
_MOST_WORK: Final = 2e8
# How often items are resampled to find the optimism: of the best judge, and of smaller panels.
_RESAMPLES: Final = 200
_RESAMPLED_PANELS: Final = 25


@dataclass(frozen=True)
class Gain:
    """How much better the panel is than something else on the same items, with a 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, differences: Array, optimism: float = 0.0) -> "Gain":
        """Return the mean of the differences, which are NaN where something has no answer, plus the optimism."""
        value, low, high = paired(differences[~np.isnan(differences)])
        return cls(value + optimism, low, min(high + optimism, 1.0))


@dataclass(frozen=True)
class Best:
    """The best judge beside the panel.

    Attributes:
        judge: Its place in the order of the names.
        accuracy: How often it is right on these items, which flatters it, because it was chosen by them.
        panel: How often the panel is right on them.
        gain: How much better the panel is than this judge, without the optimism.
        optimism: How much better the best judge looks than it is, because it was chosen by these items.
        differ: On which share of the items the panel and this judge say something else.
    """

    judge: int
    accuracy: Share
    panel: Share
    gain: Gain
    optimism: float
    differ: float


@dataclass(frozen=True, eq=False)
class Smallest:
    """The fewest judges whose majority is as good as the panel.

    Attributes:
        judges: Their places in the order of the names, the most useful first; empty if no number of judges is enough.
        gain: How much better the panel is than they are, without the optimism; than the largest panel that was tried if
            none is enough.
        curve: (judges), for 1, 2, ... of them, how much better the panel is.
    """

    judges: tuple[int, ...]
    gain: Gain
    curve: Array


def best_judge(measured: Measured) -> Best:
    """Compare the panel with the best judge."""
    right = measured.right
    best = int(np.argmax(_accuracies(right, np.ones((1, len(right))))[0]))
    behind = measured.panel - right[:, best]
    weights = _resampled(measured, _RESAMPLES)
    accuracies = _accuracies(right, weights)
    chosen = accuracies.argmax(axis=1)
    optimism = float((accuracies.max(axis=1) - np.nanmean(right, axis=0)[chosen]).mean())
    mine = right[:, best]
    seen = ~np.isnan(mine)
    return Best(
        best,
        Share.of(mine[seen]),
        Share.of(measured.panel),
        Gain.of(behind, max(optimism, 0.0)),
        max(optimism, 0.0),
        float((measured.said[:, best] != measured.answers)[seen].mean()),
    )


def _resampled(measured: Measured, times: int) -> Array:
    """Return (times, items) how often every item is drawn, which does not depend on the order of the rows."""
    items = len(measured.items)
    return np.random.default_rng(0).multinomial(items, np.full(items, 1 / items), times)[:, hash_ranks(measured.items)]


def _accuracies(right: Array, weights: Array) -> Array:
    """(resamples, judges), how often judges are right; -1 for those with votes on few of the items."""
    seen = ~np.isnan(right)
    votes = weights @ seen
    accuracy = weights @ np.where(seen, right, 0.0) / np.maximum(votes, 1)
    enough = np.minimum(_LEAST_SEEN * len(right), votes.max(axis=1, keepdims=True))
    return np.where(votes >= enough, accuracy, -1.0)


def smallest_panel(measured: Measured) -> Smallest | None:
    """Return the fewest judges whose majority is within a standard error of the panel; None if that takes too long.

    Without known classes the panel would be right by its own opinion, so they are compared with the majority of all.
    """
    items, judges = measured.said.shape
    most = min(judges, _MOST_MEMBERS)
    if float(items) * measured.chance.shape[1] * judges * most > _MOST_WORK:
        return None
    order, right = _forward(measured, np.ones(items), most)
    optimism = np.zeros(most)
    for weights in _resampled(measured, _RESAMPLED_PANELS):
        optimism += _forward(measured, weights, most)[1] @ (weights - 1.0) / (items * _RESAMPLED_PANELS)
    optimism = np.maximum(optimism, 0.0)
    full = measured.panel if measured.known else _majority(_votes(measured), measured.chance)
    behind = full - right
    curve = behind.mean(axis=1) + optimism
    enough = np.flatnonzero(curve <= [_standard_error(one) for one in behind])
    count = int(enough[0]) + 1 if len(enough) else 0
    return Smallest(tuple(order[:count]), Gain.of(behind[count - 1], float(optimism[count - 1])), curve)


def _standard_error(differences: Array) -> float:
    _, low, high = paired(differences)
    return (high - low) / (2 * NORMAL)


def _forward(measured: Measured, weights: Array, most: int) -> tuple[list[int], Array]:
    """Choose judges one after the other, each so that the majority of the chosen is right most often.

    Returns:
        The judges in the order in which they were chosen, and (number of judges, items) the chance that the majority of
        the first so many is right.
    """
    said, chance = measured.said, measured.chance
    votes = np.zeros(chance.shape)
    chosen: list[int] = []
    right = np.zeros((most, len(said)))
    for size in range(most):
        others = [judge for judge in range(said.shape[1]) if judge not in chosen]
        gains = [float(_majority(_plus(votes, said[:, judge]), chance) @ weights) for judge in others]
        chosen.append(others[int(np.argmax(gains))])
        votes = _plus(votes, said[:, chosen[-1]])
        right[size] = _majority(votes, chance)
    return chosen, right


def _votes(measured: Measured) -> Array:
    """(items, classes), the votes of all judges."""
    votes = np.zeros(measured.chance.shape)
    for judge in range(len(measured.judges)):
        votes = _plus(votes, measured.said[:, judge])
    return votes


def _plus(votes: Array, said: Array) -> Array:
    """Return (items, classes) the votes with those of one more judge."""
    given = np.flatnonzero(said >= 0)
    total = votes.copy()
    total[given, said[given]] += 1.0
    return total


def _majority(votes: Array, chance: Array) -> Array:
    """(items), the chance that the class with the most votes is right; of tied ones, the mean; 0 without votes."""
    top = votes.max(axis=1, keepdims=True)
    winners = (votes == top) & (top > 0)
    return np.asarray((winners * chance).sum(axis=1) / np.maximum(winners.sum(axis=1), 1))
