"""`exponential`: the exponentials of several numbers at once; none of the numbers may be above zero.

Posterior probabilities need exponentials, and spend most of their time on them. Let n be the integer nearest to
x / log 2, and r = x - n log 2. Then exp(x) is 2^n times exp(r), and a Taylor polynomial gives exp(r) exactly to the
last bit or the one before. There is no function call, no table and no branch, so that all lanes are computed together.
"""

from math import factorial
from typing import Any, Final

import numpy as np

from ..compilation import compiled
from .lanes import broadcast, larger, times_power_of_two

_PER_LOG_2: Final = 1 / np.log(2)
# log 2 as a sum of two numbers; the first has so few bits that its product with any n is exact.
_LOG_2: Final = float.fromhex("0x1.62e42feep-1")
_REST: Final = float.fromhex("0x1.a39ef35793c76p-33")
# A number this large has no bits for a fraction: adding it to x rounds x to an integer, found in the lowest bits.
_ROUND: Final = 1.5 * 2**52
# The exponential of any smaller number is rounded to zero.
_LEAST: Final = -746.0
# The coefficients of the Taylor polynomial.
_TERMS: Final = tuple(1 / factorial(power) for power in range(14))


@compiled
def exponential(x: Any, block: tuple[int, ...]) -> Any:
    """The exponential of every lane of x; that of -inf is zero. x has as many lanes as `block` has elements."""
    x = larger(x, broadcast(_LEAST, block))
    rounded = x * broadcast(_PER_LOG_2, block) + broadcast(_ROUND, block)
    n = rounded - broadcast(_ROUND, block)
    r = (x - n * broadcast(_LOG_2, block)) - n * broadcast(_REST, block)
    # The terms are added in pairs, and pairs of pairs: these do not wait for each other, so the processor can compute
    # them at the same time.
    r2 = r * r
    r4 = r2 * r2
    to_3 = _pair(0, r, block) + r2 * _pair(2, r, block)
    to_7 = _pair(4, r, block) + r2 * _pair(6, r, block)
    to_11 = _pair(8, r, block) + r2 * _pair(10, r, block)
    value = (to_3 + r4 * to_7) + (r4 * r4) * (to_11 + r4 * _pair(12, r, block))
    return times_power_of_two(value, rounded)


@compiled
def _pair(power: int, r: Any, block: tuple[int, ...]) -> Any:
    """The terms of this power and of the next one, divided by r to this power."""
    return broadcast(_TERMS[power], block) + r * broadcast(_TERMS[power + 1], block)
