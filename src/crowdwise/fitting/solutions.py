"""`Solutions`: several solutions of a method for the same labels, and which of them the known classes speak for.

Some labels have more than one solution, above all those of workers who copy each other (`Method.solutions`). Each says
how probable the known classes are if they are not known. If one makes them clearly likelier than the method's own
solution does, the iterations start from its workers; see gold.py.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ..crowd.labels import Labels
from ..crowd.protocol import Crowd
from ..numerics import Array
from .engines.base import count_labels

# Another solution is taken if it makes the known classes so much likelier, in natural logarithms: about 20 times.
_CLEARLY_LIKELIER: Final = 3.0
# No solution is so sure that one known class alone could refute it.
_LEAST_PROBABILITY: Final = 0.05


class Choice(NamedTuple):
    """Which solution the known classes speak for."""

    best: int  # the number of the solution; 0 is the method's own
    right: Array  # (solutions), how many of the known classes each finds


@dataclass(frozen=True, eq=False)
class Solutions:
    """Solutions of a method for the same labels."""

    method: Any
    workers: list[Any]  # the workers' parameters of each, the method's own first; [] if there is no other

    def choose(self, crowd: Crowd) -> Choice:
        """Choose by the known classes of a crowd, which the solutions do not know."""
        if not self.workers:
            return Choice(0, np.zeros(1))
        labels = crowd.numbered if isinstance(crowd, Labels) else crowd
        found = [count_labels(labels, partial(_support, self.method, one), "weighing") for one in self.workers]
        support, right = np.array([values for (values,) in found]).T
        if support.max() <= support[0] + _CLEARLY_LIKELIER:
            return Choice(0, right)
        # Of those that gold speaks for about alike, the first.
        return Choice(int(np.argmax(support > max(support.max() - _CLEARLY_LIKELIER, support[0]))), right)


def _support(method: Any, workers: Any, labels: Labels) -> tuple[Array]:
    """Two sums over the items of known class in a part: of their log probabilities, and how many are the likeliest.

    The probabilities are those of a solution that does not know the classes.
    """
    items = np.flatnonzero(labels.gold >= 0) if labels.gold is not None else np.zeros(0, np.int64)
    if items.size == 0:
        return (np.zeros(2),)
    asked, classes = replace(labels.select(items), gold=None), labels.gold[items]  # type: ignore[index]  # it has gold
    scores = method.finish(asked, method.rescore(asked, workers), workers).scores
    likely = scores[np.arange(items.size), classes]
    right = (likely >= scores.max(axis=1)).sum()
    return (np.array([np.log(np.maximum(likely, _LEAST_PROBABILITY)).sum(), right]),)
