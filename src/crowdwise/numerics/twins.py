"""`twin`: a function in NumPy that leaves large crowds to the compiled kernel of the same name.

The NumPy function is the specification, in the letters of a paper. It is what tests compare the kernel with, and what
runs on small crowds, so that nothing is compiled for them. Which of the two runs depends on the size of the crowd
alone: not on the machine, nor on how many parts or threads there are.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from . import Array

# The most work, labels times the square of classes, that NumPy does about as fast as a kernel is loaded.
_SMALL: Final = 100_000

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def is_small(n_labels: int, n_classes: int) -> bool:
    """Whether a crowd of this size is left to NumPy."""
    return n_labels * n_classes**2 <= _SMALL


class HasArrays(Protocol):
    """Labels, or a part of them: what a kernel takes of them, and whether the whole crowd is small."""

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """The three arrays that all kernels take."""
        ...

    @property
    def is_small(self) -> bool:
        """Whether the whole crowd is small."""
        ...


Crowd = TypeVar("Crowd", bound=HasArrays)


def twin(
    kernel: str,
) -> Callable[[Callable[Concatenate[Crowd, Parameters], Returned]], Callable[Concatenate[Crowd, Parameters], Returned]]:
    """Decorate a NumPy function whose first argument are labels: large crowds go to the kernel of the same name.

    The kernel is called with the three arrays of the labels in their place. Its module, and Numba with it, is imported
    when it is first needed. The NumPy function itself is the attribute `__wrapped__`.

    Args:
        kernel: The module of the kernel, such as "crowdwise.methods.bwa.kernel".
    """

    def decorate(
        model: Callable[Concatenate[Crowd, Parameters], Returned],
    ) -> Callable[Concatenate[Crowd, Parameters], Returned]:
        @wraps(model)
        def chosen(labels: Crowd, *arguments: Parameters.args, **named: Parameters.kwargs) -> Returned:
            if labels.is_small:
                return model(labels, *arguments, **named)
            compiled: Any = getattr(import_module(kernel), model.__name__)
            found: Returned = compiled(*labels.arrays, *arguments, **named)
            return found

        return chosen

    return decorate
