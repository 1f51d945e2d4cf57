"""Prepare the standard streams, so that a closed, full or old-fashioned one is no reason for a traceback."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

from ..errors import DataError

# The exit code that shells use for a process that was ended by a closed pipe (SIGPIPE).
_PIPE_CLOSED: Final = 141


class _Stream(io.TextIOWrapper):
    r"""A standard stream for output.

    Characters that its encoding lacks are written as in Python, such as \u2588. When it cannot be written to any more,
    all that follows goes to the null device, or else Python would report the same problem again when it exits.
    """

    def __init__(self, stream: io.TextIOWrapper) -> None:
        super().__init__(
            stream.buffer,
            stream.encoding,
            "backslashreplace",
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        self._replaced = stream  # kept, because it would close the buffer when it is forgotten

    def write(self, text: str) -> int:
        """Write text, some of it later. Raises `DataError` if it cannot be written."""
        with self._failing():
            return super().write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits. Raises `DataError` if it cannot be written."""
        with self._failing():
            super().flush()

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            null_device = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null_device, self.fileno())
            os.close(null_device)
            self._answer(problem)

    def _answer(self, problem: OSError) -> None:
        """Raise what the failure means for the program."""
        # Normal: the reader, such as `head`, needs no more. Windows calls that an invalid argument.
        if isinstance(problem, BrokenPipeError) or (os.name == "nt" and problem.errno == errno.EINVAL):
            sys.exit(_PIPE_CLOSED)
        raise DataError(f"Standard output could not be written: {problem.strerror}.") from problem


class _Remarks(_Stream):
    """The standard stream for errors and remarks: the work goes on without them."""

    def _answer(self, problem: OSError) -> None:
        pass


def prepare_streams() -> None:
    """Replace the standard streams of this process. One for output that is closed becomes the null device."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # This takes the lowest free number, which is that of the closed stream. Otherwise the next file that is
            # opened would take it, and would receive what libraries write to the stream.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  # for the whole run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _Stream(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _Remarks(sys.stderr)


def remarks_to(descriptor: int) -> TextIO:
    """Return a stream as standard error is, which writes to another descriptor; closing it closes the descriptor."""
    encoding = getattr(sys.stderr, "encoding", "utf-8")
    return _Remarks(open(descriptor, "w", encoding=encoding, buffering=1))  # closed by the caller


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line at once, to standard output or another stream."""
    print(text, file=stream, flush=True)  # what this function is for
