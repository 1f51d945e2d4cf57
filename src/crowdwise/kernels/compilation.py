"""`compiled`: the decorator that compiles a kernel."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numba import njit

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def compiled(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Compile a function with Numba when it is first called; the machine code is kept on disk for the next time.

    The function releases the interpreter lock. It is typed here because Numba's own decorator has no types.
    """
    return njit(nogil=True, cache=True)(function)
