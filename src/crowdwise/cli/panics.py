"""`panics_hidden`: keeps the panics of libraries written in Rust off the screen while a command runs.

polars and fastexcel may panic where a file is damaged. The error arrives in Python as any other does, but Rust has
printed a message with its stack before that, and no setting prevents it.
"""

import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import BinaryIO, Final, TextIO

from .streams import remarks_to

_FIRST_LINE: Final = re.compile(rb"thread '.*' (\(\d+\) )?panicked at .*:\d+:\d+:\n")
_FURTHER_LINES: Final = (b" ", b"\t", b"stack backtrace:", b"note: ")


@contextmanager
def panics_hidden() -> Iterator[None]:
    """Print no panic while this is open. What else libraries print to file descriptor 2 is printed line by line.

    What Python prints to `sys.stderr` goes to the screen at once.
    """
    screen = os.dup(2)
    reader, writer = os.pipe()
    end = secrets.token_hex().encode()
    forwarding = Thread(target=_forward, args=(reader, screen, end), daemon=True)
    forwarding.start()
    with _python_prints_to(screen):
        os.dup2(writer, 2)
        try:
            yield
        finally:
            os.dup2(screen, 2)
            # Programs that were started meanwhile may hold the pipe open for as long as they run.
            os.write(writer, end + b"\n")
            os.close(writer)
            forwarding.join()


@contextmanager
def _python_prints_to(screen: int) -> Iterator[None]:
    """Let `sys.stderr` write to another descriptor, which is closed at the end; unless somebody has replaced it."""
    python = sys.stderr
    with remarks_to(screen) as stream:
        if _descriptor_of(python) == 2:
            sys.stderr = stream
        try:
            yield
        finally:
            sys.stderr = python


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # such as a stream in memory, or one that is closed
        return None


def _forward(reader: int, screen: int, end: bytes) -> None:
    """Print the lines that come through a pipe, without panics, until there is one that ends in `end`."""
    with open(reader, "rb") as lines:  # it is a number
        for line in _without_panics(lines):
            with suppress(OSError):  # the screen may be gone
                os.write(screen, line.removesuffix(end + b"\n"))
            if line.endswith(end + b"\n"):
                return


def _without_panics(lines: Iterator[bytes] | BinaryIO) -> Iterator[bytes]:
    r"""Yield the lines that belong to no panic.

    A panic is an empty line, one that says where it happened, a message whose further lines are indented, perhaps a
    stack whose lines are indented, and perhaps a note.

    >>> printed = [b"before\n", b"\n", b"thread 'a' (7) panicked at lib.rs:1:2:\n", b"why\n", b" more\n", b"after\n"]
    >>> list(_without_panics(iter(printed)))
    [b'before\n', b'after\n']
    """
    blank = b""  # an empty line, which may be the first one of a panic
    in_panic = False
    for line in lines:
        if _FIRST_LINE.fullmatch(line):
            next(lines, None)  # the message
            in_panic, blank = True, b""
        elif line == b"\n":
            if blank:
                yield blank
            blank = line
        elif not (in_panic and line.startswith(_FURTHER_LINES)):
            if blank:
                yield blank
            yield line
            in_panic, blank = False, b""
