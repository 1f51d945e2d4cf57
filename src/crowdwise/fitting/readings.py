"""`Readings`: several ways to read the same labels, and which of them the known classes of some items speak for.

Some labels can be read in more than one way, above all those of workers who copy each other (`Method.readings`). Each
reading says how likely the known classes are if they are not known. If one makes them clearly likelier than the own
reading of the method does, the iterations begin with what it believes of the workers; see gold.py.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from ..data.crowd import Crowd
from ..data.labels import Labels
from ..numerics import Array
from .engines.base import open_engine

# Another reading is taken if it makes the known classes so much likelier, in natural logarithms: about 20 times.
_CLEARLY_LIKELIER: Final = 3.0
# No reading is so sure that one known class alone could refute it.
_LEAST_PROBABILITY: Final = 0.05


class Weighed(NamedTuple):
    """What known classes say for the readings.

    Attributes:
        best: The number of the reading that they speak for; 0 is the own reading of the method.
        right: (readings), how many of the known classes each finds.
    """

    best: int
    right: Array


@dataclass(frozen=True, eq=False)
class Readings:
    """Readings of the same labels by a method.

    Attributes:
        method: The method.
        workers: What each believes of the workers, the own reading of the method first; [] if there is no other.
    """

    method: Any
    workers: list[Any]

    def weighed(self, crowd: Crowd) -> Weighed:
        """Weigh the readings by the known classes of a crowd, which they do not know."""
        if not self.workers:
            return Weighed(0, np.zeros(1))
        with open_engine(self.method, crowd.numbered if isinstance(crowd, Labels) else crowd) as engine:
            found = [engine.add_labels(partial(_weigh, self.method, one), "weighing") for one in self.workers]
        support, right = np.array([values for (values,) in found]).T
        if support.max() <= support[0] + _CLEARLY_LIKELIER:
            return Weighed(0, right)
        # Of those that gold speaks for about alike, the first.
        return Weighed(int(np.argmax(support > max(support.max() - _CLEARLY_LIKELIER, support[0]))), right)


def _weigh(method: Any, workers: Any, labels: Labels) -> tuple[Array]:
    """Return how likely the known classes of a part's items are by a reading that does not know them.

    Args:
        method: The method.
        workers: What the reading believes of the workers.
        labels: The labels of the part.

    Returns:
        An array of two: the sum of the logarithms of their probabilities, and how many of them are the likeliest.
    """
    items = np.flatnonzero(labels.gold >= 0) if labels.gold is not None else np.zeros(0, np.int64)
    if items.size == 0:
        return (np.zeros(2),)
    asked, classes = replace(labels.select(items), gold=None), labels.gold[items]  # type: ignore[index]  # it has gold
    scores = method.finish(asked, method.rescore(asked, workers), workers).scores
    likely = scores[np.arange(items.size), classes]
    right = (likely >= scores.max(axis=1)).sum()
    return (np.array([np.log(np.maximum(likely, _LEAST_PROBABILITY)).sum(), right]),)
