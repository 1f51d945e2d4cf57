"""How much accuracy really grows with more labels, beside what was simulated for `crowdwise plan`."""

from typing import Final, NamedTuple

import numpy as np

import crowdwise as cw
from crowdwise.analysis.planning.foresight import foresee
from crowdwise.analysis.planning.future import STEPS, simulate_future

from .real_crowds import RealCrowd

# From so many labels of every item to so many more.
_FIRST: Final = 3
_MORE: Final = 3


class Gain(NamedTuple):
    """The gain of accuracy by more labels.

    Attributes:
        simulated: As it was simulated, with what is known of the workers left as it is.
        real: As it came true.
    """

    simulated: float
    real: float


def gain(crowd: RealCrowd) -> Gain | None:
    """Return the gain from three labels of an item to six; None if some items have fewer."""
    there = crowd.there
    if there.min() < _FIRST + _MORE:
        return None
    labels = crowd.given(np.full(len(there), _FIRST))
    before = cw.aggregate(labels)
    future = simulate_future(foresee(before, labels), np.ones(labels.n_items, bool), 1).confidence.mean(axis=1)
    simulated = float(np.interp(_MORE, STEPS, future) - future[0])
    after = cw.aggregate(crowd.given(np.full(len(there), _FIRST + _MORE)))
    return Gain(simulated, float(crowd.right(after).mean() - crowd.right(before).mean()))
