"""`compiled` and `allocating`: the decorators that compile a kernel."""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit
from numba.core import event
from numba.core.registry import CPUDispatcher

from .announcing import announcer

try:
    from .cache import KernelCache, folders_of
except ImportError:  # another version of Numba: every process compiles for itself
    KernelCache = None  # type: ignore[assignment, misc]

# At the level DEBUG, Numba writes 100,000 lines while it compiles. Nobody wants them who did not ask Numba for them.
_NUMBA_LOG = logging.getLogger("numba")
if _NUMBA_LOG.level == logging.NOTSET and not _NUMBA_LOG.handlers:
    _NUMBA_LOG.setLevel(logging.WARNING)

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class _Listener(event.Listener):
    """Takes notice whenever Numba compiles a function."""

    def on_start(self, _: Any) -> None:
        announcer().begin()

    def on_end(self, _: Any) -> None:
        announcer().end()


_listen: Any = event.register  # which has no types
_listen("numba:compile", _Listener())


class _Kernel(CPUDispatcher):
    """A compiled function that Ctrl-C ends by `KeyboardInterrupt`.

    Where Numba makes Python objects of what a kernel returns, it goes on after an exception, and Python raises
    `SystemError` because of that.
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        try:
            return super().__call__(*arguments, **named)
        except SystemError as problem:
            cause: BaseException = problem
            while cause.__cause__ is not None:
                cause = cause.__cause__
            if isinstance(cause, Exception):
                raise
            raise cause from None


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
    if kernel is not function:  # NUMBA_DISABLE_JIT compiles nothing
        kernel.__class__ = _Kernel
        with suppress(OSError, TypeError):  # without sources that can be read, every process compiles for itself
            kernel._cache = KernelCache(function)
    return cast(Callable[Parameters, Returned], kernel)


def machine_code_folder() -> str:
    """Where the machine code of the kernels is kept; "no folder" if it cannot be kept."""
    folders = [] if KernelCache is None else folders_of(Path(__file__))
    for folder in folders:
        existing = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
        if os.access(existing, os.W_OK) or next(folder.glob("*.nbi"), None) is not None:
            return os.fspath(folder)
    return "no folder"
