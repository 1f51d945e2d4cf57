"""The exponential of several numbers in one register, none of them above zero: posteriors spend their time here.

With n the integer nearest to x / log 2 and r = x - n log 2, exp(x) is 2^n times the exponential of r, for which a
Taylor polynomial is exact to the last bit or the one before. No call, no table and no branch: all lanes go the same
way.
"""

from math import factorial
from typing import Any, Final

import numpy as np

from ..compilation import compiled
from .lanes import larger, spread, times_power_of_two

_PER_LOG_2: Final = 1 / np.log(2)
# log 2 in two parts, the first short enough for its product with any n to be exact.
_LOG_2: Final = float.fromhex("0x1.62e42feep-1")
_REST: Final = float.fromhex("0x1.a39ef35793c76p-33")
# Adding this leaves no bits for a fraction: what comes out is rounded, with the integer in the lowest bits.
_ROUND: Final = 1.5 * 2**52
# The exponential of anything less is zero.
_LEAST: Final = -746.0
_TERMS: Final = tuple(1 / factorial(power) for power in range(14))


@compiled
def exponential(x: Any, block: tuple[int, ...]) -> Any:
    """The exponential in every lane of x, of which there are as many as `block` is long; zero for -inf."""
    x = larger(x, spread(_LEAST, block))
    rounded = x * spread(_PER_LOG_2, block) + spread(_ROUND, block)
    n = rounded - spread(_ROUND, block)
    r = (x - n * spread(_LOG_2, block)) - n * spread(_REST, block)
    # In pairs of pairs, which do not wait for each other.
    r2 = r * r
    r4 = r2 * r2
    to_3 = _pair(0, r, block) + r2 * _pair(2, r, block)
    to_7 = _pair(4, r, block) + r2 * _pair(6, r, block)
    to_11 = _pair(8, r, block) + r2 * _pair(10, r, block)
    value = (to_3 + r4 * to_7) + (r4 * r4) * (to_11 + r4 * _pair(12, r, block))
    return times_power_of_two(value, rounded)


@compiled
def _pair(power: int, r: Any, block: tuple[int, ...]) -> Any:
    return spread(_TERMS[power], block) + r * spread(_TERMS[power + 1], block)
