"""`twin`: a function in NumPy that leaves large crowds to the compiled kernel of the same name.

The NumPy function is the specification, in the letters of a paper. It is what tests compare the kernel with, and what
runs on small crowds, so that nothing is compiled for them. Which of the two runs depends on the size of the crowd
alone: not on the machine, nor on how many parts or threads there are.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Final, Protocol, TypeVar, cast

from . import Array

# The most work, labels times the square of classes, that NumPy does about as fast as a kernel is loaded.
_SMALL: Final = 100_000

Function = TypeVar("Function", bound=Callable[..., Any])


def is_small(n_labels: int, n_classes: int) -> bool:
    """Whether a crowd of this size is left to NumPy."""
    return n_labels * n_classes**2 <= _SMALL


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

    The kernel is called with the three arrays of the labels in their place. Its module, and Numba with it, is imported
    when it is first needed. The NumPy function itself is the attribute `__wrapped__`.

    Args:
        kernel: The module of the kernel, such as "crowdwise.methods.bwa.kernel".
    """

    def decorate(model: Function) -> Function:
        @wraps(model)
        def chosen(labels: CrowdArrays, *arguments: Any) -> Any:
            if labels.is_small:
                return model(labels, *arguments)
            return getattr(import_module(kernel), model.__name__)(*labels.arrays, *arguments)

        return cast(Function, chosen)

    return decorate
