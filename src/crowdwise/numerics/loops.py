"""`loop` and `over`: loops over bytes, which Python runs over a short text, and Numba compiles for a long one.

Both run the same lines, so that there are no two forms to hold to each other. This module is free of Numba.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar, cast

from .twins import is_few

# So many bytes are a number to sort: Python walks over a megabyte in about the time in which Numba is loaded.
_BYTES: Final = 10

Function = TypeVar("Function", bound=Callable[..., Any])


def loop(function: Function) -> Function:
    """Mark a function as one of the loops of its module, which call each other."""
    cast(Any, function).is_loop = True
    return function


def over(size: int, function: Function) -> Function:
    """Return a loop as it is, or compiled if it is for so many bytes that this takes less time.

    Args:
        size: How many bytes there are.
        function: The loop. Its first argument is bytes; NumPy's array of these bytes if it is compiled.
    """
    return function if is_few(size // _BYTES) else cast(Function, _compiled(function))


@cache
def _compiled(function: Any) -> Any:
    """Return the compiled loop, for which Numba has to know the loops that it calls."""
    import numpy as np

    from .compilation import compiled

    for other in function.__globals__.values():
        if getattr(other, "is_loop", False) and other is not function:
            other.kernel = compiled(other)
            other._numba_type_ = getattr(other.kernel, "_numba_type_", None)  # None where Numba compiles nothing
    kernel: Callable[..., Any] = compiled(function)
    return lambda text, *arguments: kernel(np.frombuffer(text, np.uint8), *arguments)
