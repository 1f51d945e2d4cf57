"""`compiled`: the decorator that compiles a kernel."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numba import njit

from .cache import KernelCache

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def compiled(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Compile a function with Numba when it is first called; the machine code is kept on disk for the next time.

    The function releases the interpreter lock. It is typed here because Numba's own decorator has no types.
    """
    kernel: Any = njit(nogil=True)(function)
    # Without any folder for the machine code, every process compiles for itself. (NUMBA_DISABLE_JIT compiles nothing.)
    if kernel is not function:
        with suppress(RuntimeError):
            kernel._cache = KernelCache(function)
    return cast(Callable[Parameters, Returned], kernel)


def machine_code_folder() -> str:
    """Where the machine code of the kernels is kept; "no folder" if it cannot be kept."""
    try:
        return str(KernelCache(compiled).cache_path)
    except RuntimeError:
        return "no folder"
