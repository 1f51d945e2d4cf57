"""Minimise a smooth function of many numbers by L-BFGS.

The method of Broyden, Fletcher, Goldfarb and Shanno with limited memory: the last few steps, and how the gradient
changed along them, say how the function is curved, and so where it should be lowest. See Nocedal and Wright,
"Numerical Optimization", 2nd edition, 2006, sections 3.1 and 7.2.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...kernels import Array

# How many of the last steps are remembered.
_REMEMBERED: Final = 10
# No number moves further than this when a step is first tried.
_LONGEST: Final = 1.0
# A step is good where the function falls by at least this share of what the gradient before it promised ...
_FALL: Final = 1e-4
# ... and where along the step the function is no steeper than this share of what it was before.
_FLAT: Final = 0.9
# Values this close, relative to themselves, may differ by rounding alone.
_ROUNDING: Final = 1e-12
_TRIALS: Final = 40


@dataclass(frozen=True, eq=False)
class Point:
    """A place, and what the function is like there.

    Attributes:
        place: The numbers.
        value: The function of them.
        gradient: Its derivative by each number.
        curvature: About what its second derivative by each number is; above zero.
    """

    place: Array
    value: float
    gradient: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class _Stride:
    """A step that was taken: how far each number moved, and how far each derivative did."""

    moved: Array
    turned: Array

    @property
    def product(self) -> float:
        """Above zero where the function is curved upwards along the step."""
        return float(self.moved @ self.turned)


def descend(evaluate: Callable[[Array], Point], start: Array) -> Iterator[Point]:
    """The point at the start, and then the lower one that each step leads to, without end."""
    point = evaluate(start)
    strides: deque[_Stride] = deque(maxlen=_REMEMBERED)
    while True:
        yield point
        following = _search(evaluate, point, _direction(point, strides))
        stride = _Stride(following.place - point.place, following.gradient - point.gradient)
        if stride.product > 0:
            strides.append(stride)
        point = following


def _direction(point: Point, strides: deque[_Stride]) -> Array:
    """The step to where the function should be lowest, if it is curved as the last strides say."""
    step = -point.gradient
    shares: list[float] = []
    for stride in reversed(strides):
        shares.append(float(stride.moved @ step) / stride.product)
        step -= shares[-1] * stride.turned
    step /= point.curvature
    for stride in strides:
        step += (shares.pop() - float(stride.turned @ step) / stride.product) * stride.moved
    return step


def _search(evaluate: Callable[[Array], Point], point: Point, step: Array) -> Point:
    """A good point along a step: halve the step where it went too far, double it where it did not go far enough."""
    slope = float(step @ point.gradient)
    longest = float(np.abs(step).max())
    share = _LONGEST / longest if longest > _LONGEST else 1.0
    short, far = 0.0, np.inf
    for _ in range(_TRIALS):
        trial = evaluate(point.place + share * step)
        now = float(step @ trial.gradient)
        low_enough = trial.value <= point.value + _FALL * share * slope + _ROUNDING * abs(point.value)
        if low_enough and abs(now) <= -_FLAT * slope:
            return trial
        if low_enough and now < 0:
            short = share
        else:
            far = share
        share = 2 * share if far == np.inf else (short + far) / 2
    return point  # nothing is lower by more than rounding
