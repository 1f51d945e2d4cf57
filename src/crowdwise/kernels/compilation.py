"""How kernels are compiled."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numba import njit

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def compiled(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Numba's decorator with our flags; typed here because Numba has no types."""
    return njit(nogil=True, cache=True)(function)
