"""`descend`: minimises a smooth function of many numbers by L-BFGS.

This is the method of Broyden, Fletcher, Goldfarb and Shanno with limited memory. How the gradient changed in the last
few steps tells how the function is curved, and so where its minimum should be. See Nocedal and Wright, "Numerical
Optimization", 2nd edition, 2006, sections 3.1 and 7.2.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...numerics import Array

# How many of the last steps are kept.
_REMEMBERED: Final = 10
# No number moves further than this when a step is first tried.
_LONGEST: Final = 1.0
# The end of a step is accepted if two conditions hold. First, the function has fallen by at least this share of what
# the gradient at the beginning predicts.
_FALL: Final = 1e-4
# Second, the slope along the step is at most this share of the slope at the beginning.
_FLAT: Final = 0.9
# Two values that differ by less than this, relative to themselves, may differ because of rounding.
_ROUNDING: Final = 1e-12
# How many lengths of one step are tried at most.
_TRIALS: Final = 40


@dataclass(frozen=True, eq=False)
class Point:
    """A vector of numbers, and the value and derivatives of the function there.

    Attributes:
        place: The vector of numbers that the function is computed for.
        value: The value of the function.
        gradient: The derivative of the function by each number.
        curvature: An estimate of the second derivative by each number; all must be above zero.
    """

    place: Array
    value: float
    gradient: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class _Step:
    """A step that was taken.

    Attributes:
        moved: By how much each number changed.
        gradient_change: By how much the derivative by each number changed.
    """

    moved: Array
    gradient_change: Array

    @property
    def product(self) -> float:
        """The product of both; above zero if the function is curved upwards along the step."""
        return float(self.moved @ self.gradient_change)


def descend(evaluate: Callable[[Array], Point], start: Array) -> Iterator[Point]:
    """Yield the point at the start, and then the end of each step, for ever.

    No point is higher than the one before by more than rounding. Where no step leads lower, it goes on yielding the
    same point.

    Args:
        evaluate: The function: it takes a vector, and returns the value and derivatives there.
        start: The vector to start from.
    """
    point = evaluate(start)
    steps: deque[_Step] = deque(maxlen=_REMEMBERED)
    while True:
        yield point
        following = _search(evaluate, point, _direction(point, steps))
        step = _Step(following.place - point.place, following.gradient - point.gradient)
        if step.product > 0:
            steps.append(step)
        point = following


def _direction(point: Point, steps: deque[_Step]) -> Array:
    """The way from a point to the minimum, if the function is curved as it was along the last steps."""
    direction = -point.gradient
    shares: list[float] = []
    for step in reversed(steps):
        shares.append(float(step.moved @ direction) / step.product)
        direction -= shares[-1] * step.gradient_change
    direction /= point.curvature
    for step in steps:
        direction += (shares.pop() - float(step.gradient_change @ direction) / step.product) * step.moved
    return direction


def _search(evaluate: Callable[[Array], Point], point: Point, direction: Array) -> Point:
    """The end of a step in this direction; the point itself if no step leads lower by more than rounding.

    The length of the step, as a share of `direction`, is doubled until one was too long; from then on it is halfway
    between the longest that was too short and the shortest that was too long.
    """
    slope = float(direction @ point.gradient)
    longest = float(np.abs(direction).max())
    share = _LONGEST / longest if longest > _LONGEST else 1.0
    too_short, too_long = 0.0, np.inf
    for _ in range(_TRIALS):
        trial = evaluate(point.place + share * direction)
        new_slope = float(direction @ trial.gradient)
        low_enough = trial.value <= point.value + _FALL * share * slope + _ROUNDING * abs(point.value)
        if low_enough and abs(new_slope) <= -_FLAT * slope:
            return trial
        if low_enough and new_slope < 0:
            too_short = share
        else:
            too_long = share
        share = 2 * share if too_long == np.inf else (too_short + too_long) / 2
    return point
