"""`twin`: a function in NumPy that leaves large crowds to the compiled kernel of the same name.

The NumPy function is the specification, in the letters of a paper. It is what tests compare the kernel with, and what
runs on small crowds, so that nothing is compiled for them. Which of the two runs depends on the size of the crowd
alone: not on the machine, nor on how many parts or threads there are.

`loop` and `over` do the same for loops over bytes: Python runs them over a short text, and Numba compiles the same
lines for a long one. This module is free of Numba.
"""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from typing import Any, Final, Protocol, TypeVar, cast

import numpy as np

from . import Array

# The most work, labels times the square of classes, that NumPy does about as fast as a kernel is loaded. The square
# counts as no more than _SQUARE, so that up to 5,000 labels compile nothing, in however many classes: the adjudicator,
# which is the slowest, then takes a second or two.
_SQUARE: Final = 20
# Where Numba is told to compile nothing, NumPy does all of it: kernels with SIMD lanes are nothing that Python can run.
_JIT: Final = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
_most = 100_000 if _JIT else math.inf
# So many bytes are a number to sort: Python walks over a megabyte in about the time in which Numba is loaded.
_BYTES: Final = 10

Function = TypeVar("Function", bound=Callable[..., Any])


def is_small(n_labels: int, n_classes: int) -> bool:
    """Whether a crowd of this size is left to NumPy; numbers, which have no classes, take about as long as two."""
    return n_labels * min(max(n_classes, 2) ** 2, _SQUARE) <= _most


def is_few(count: int) -> bool:
    """Whether so many numbers are left to NumPy, where its answer is exact, so that the crowd does not matter."""
    return count <= _most


@contextmanager
def kernels_only() -> Iterator[None]:
    """Leave nothing to NumPy meanwhile, however small it is: to compile the kernels, and to test them."""
    global _most
    before, _most = _most, -1 if _JIT else math.inf
    try:
        yield
    finally:
        _most = before


class CrowdArrays(Protocol):
    """Labels, or a part of them: what a kernel takes of them, and whether the whole crowd is small."""

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The three arrays that all kernels take."""
        ...

    @property
    def is_small(self) -> bool:
        """Whether the whole crowd is small."""
        ...


def twin(kernel: str) -> Callable[[Function], Function]:
    """Decorate a NumPy function whose first argument are labels: large crowds go to the kernel of the same name.

    The kernel is called with the three arrays of the labels in their place. Its module, such as
    "crowdwise.methods.bwa.kernel", and Numba with it, is imported when it is first needed. The NumPy function itself is
    the attribute `__wrapped__`.
    """

    def decorate(model: Function) -> Function:
        @wraps(model)
        def chosen(labels: CrowdArrays, *arguments: Any) -> Any:
            if labels.is_small:
                return model(labels, *arguments)
            return _kernel(kernel, model.__name__)(*labels.arrays, *arguments)

        return cast(Function, chosen)

    return decorate


def exact_twin(kernel: str) -> Callable[[Function], Function]:
    """Decorate a NumPy function whose first argument is an array: large arrays go to the kernel of the same name.

    This is for what both compute exactly, such as permutations: the array at hand may decide, whatever the crowd is.
    """

    def decorate(model: Function) -> Function:
        @wraps(model)
        def chosen(array: Array, *arguments: Any) -> Any:
            if is_few(array.size):
                return model(array, *arguments)
            return _kernel(kernel, model.__name__)(array, *arguments)

        return cast(Function, chosen)

    return decorate


@cache
def _kernel(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def loop(function: Function) -> Function:
    """Mark a function as one of the loops of its module, which call each other."""
    cast(Any, function).is_loop = True
    return function


def over(size: int, function: Function) -> Function:
    """Return a loop over `size` bytes as it is, or compiled if they are so many that this takes less time.

    Its first argument is the bytes; if it is compiled, it gets them as NumPy's array.
    """
    return function if is_few(size // _BYTES) else cast(Function, _compiled(function))


@cache
def _compiled(function: Any) -> Any:
    """Return the compiled loop, for which Numba has to know the loops that it calls."""
    from .compilation import compiled

    for other in function.__globals__.values():
        if getattr(other, "is_loop", False) and other is not function:
            other.kernel = compiled(other)
            other._numba_type_ = getattr(other.kernel, "_numba_type_", None)  # None where Numba compiles nothing
    kernel: Callable[..., Any] = compiled(function)
    return lambda text, *arguments: kernel(np.frombuffer(text, np.uint8), *arguments)
