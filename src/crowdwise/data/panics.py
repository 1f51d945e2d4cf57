"""Keep the panics of polars off the screen while it reads a file that may be damaged.

polars is written in Rust. Where a binary file is damaged it may panic: the error arrives in Python as any other does,
but before that Rust prints a panic with its stack to standard error, and there is no setting against that.
"""

import os
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_STANDARD_ERROR: Final = 2
_PIECE: Final = 1 << 20
_PANIC: Final = re.compile(rb"thread '.*' (\(\d+\) )?panicked at .*:\d+:\d+:\n")
# How the first line of a panic starts, and the empty line before it: a line that may become one is held back.
_PANIC_START: Final = b"thread '"


class PanicFilter:
    r"""Takes what a program prints, piece by piece, and gives it back without panics.

    A panic is an empty line, a line that says where it happened, a message whose further lines are indented, perhaps
    a stack whose lines are indented, and perhaps a note.

    >>> PanicFilter().keep(b"before\n\nthread 'a' (7) panicked at lib.rs:1:2:\nmessage\nnote: more\nafter\n")
    b'before\nafter\n'
    """

    def __init__(self) -> None:
        self._held = b""
        self._in_panic = False
        self._in_stack = False
        self._message_comes = False

    def keep(self, piece: bytes) -> bytes:
        """Return what is left of the next piece; a line that may become the first one of a panic is held back."""
        *lines, rest = re.split(rb"(?<=\n)", self._held + piece)
        kept = b""
        blank = b""
        for line in lines:
            if line == b"\n" and not self._message_comes:
                kept, blank = kept + blank, line
            elif _PANIC.fullmatch(line):
                self._in_panic, self._in_stack, self._message_comes, blank = True, False, True, b""
            elif self._belongs_to_panic(line):
                blank = b""
            else:
                kept, blank = kept + blank + line, b""
        may_become_one = self._in_panic or rest.startswith(_PANIC_START[: len(rest)])
        self._held = blank + rest if may_become_one else b""
        return kept if may_become_one else kept + blank + rest

    def rest(self) -> bytes:
        """Return what was held back, at the end or when nothing else comes for now."""
        held, self._held = self._held, b""
        return held

    def _belongs_to_panic(self, line: bytes) -> bool:
        """Return whether a line, which is not the first one of a panic, is part of one."""
        if not self._in_panic:
            return False
        if self._message_comes or line.startswith((b" ", b"\t", b"stack backtrace:")):
            self._message_comes = False
            self._in_stack = self._in_stack or line.startswith(b"stack")
            return True
        if line.startswith(b"note: "):
            self._in_panic = False
            return True
        # Another thread may print a line while a stack is being printed, but not within a message.
        self._in_panic = self._in_stack
        return False


class _Redirection:
    """Sends standard error through a `PanicFilter` in a thread, until `end` is called.

    A pipe rather than a file is between them, so that nothing is lost of what others print: other threads go on
    printing at once, and a program that was started meanwhile has its standard error for as long as it runs.
    """

    def __init__(self) -> None:
        self._screen = os.dup(_STANDARD_ERROR)
        reader, self._writer = os.pipe()
        self._end = secrets.token_bytes(32)
        self._ended = threading.Event()
        os.dup2(self._writer, _STANDARD_ERROR)
        threading.Thread(target=self._forward, args=[reader], daemon=True).start()

    def end(self) -> None:
        """Restore standard error, after all that was printed so far has arrived there."""
        os.dup2(self._screen, _STANDARD_ERROR)
        os.write(self._writer, self._end)
        os.close(self._writer)
        self._ended.wait()

    def _forward(self, reader: int) -> None:
        """Print what comes through the pipe, until nobody can write to it any more."""
        panics = PanicFilter()
        while piece := os.read(reader, _PIECE):
            before, end, after = piece.partition(self._end)
            self._print(panics.keep(before))
            if end:
                self._print(panics.rest())
                self._ended.set()
                self._print(panics.keep(after))
        self._print(panics.rest())
        os.close(reader)
        os.close(self._screen)

    def _print(self, text: bytes) -> None:
        with suppress(OSError):  # the screen may be gone
            while text:
                text = text[os.write(self._screen, text) :]


class _Users:
    """Counts who needs the redirection, because several threads may read files at once and there is one screen."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._redirection: _Redirection | None = None

    def enter(self) -> None:
        """Redirect standard error for the first user."""
        with self._lock:
            self._count += 1
            if self._count == 1:
                with suppress(OSError):  # where standard error is closed, nothing is printed anyway
                    self._redirection = _Redirection()

    def leave(self) -> None:
        """Restore standard error after the last user."""
        with self._lock:
            self._count -= 1
            if self._count == 0 and self._redirection is not None:
                self._redirection.end()
                self._redirection = None


_users: Final = _Users()


@contextmanager
def panics_hidden() -> Iterator[None]:
    """Print no panic of Rust while this is open; everything else on standard error is printed as ever."""
    _users.enter()
    try:
        yield
    finally:
        _users.leave()
