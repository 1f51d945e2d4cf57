"""`compiled` and `allocating`: the decorators that compile a kernel."""

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

    The function releases the interpreter lock. It makes no arrays, so that nobody has to count who uses them: Numba
    would do so at every call and every row of a table, which takes longer than most of what is done with a row.
    """
    return _kernel(function, _nrt=False)


def allocating(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Compile a function that makes arrays, or calls a function that does."""
    return _kernel(function)


def _kernel(function: Callable[Parameters, Returned], **options: bool) -> Callable[Parameters, Returned]:
    """Compile a function with these options. It is typed here because Numba's decorator has no type for all of them."""
    # Nobody calls kernels from C, and those whose names begin with _ are called by kernels only: they need no entrance
    # from elsewhere, which would take a sixth of the time of compiling.
    entrances = {"no_cfunc_wrapper": True, "no_cpython_wrapper": function.__name__.startswith("_")}
    compiler: Any = njit
    kernel: Any = compiler(nogil=True, **entrances, **options)(function)
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
