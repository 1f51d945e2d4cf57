"""Refuse numbers of thousands of digits in JSON before ijson reads them: its C code ends the program on them."""

import re
from typing import Any, Final

from .unpacking import UnsoundError

# Python makes no whole number of more than 4,300 digits.
_MOST_DIGITS: Final = 4000
_TOO_LONG: Final = re.compile(rb"[0-9]{%d}" % (_MOST_DIGITS + 1))


class ShortNumbers:
    """A stream of JSON that refuses to be read on where a number is too long.

    Args:
        stream: The stream: an object with the method `read`.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._last = b""

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes. Raises `UnsoundError` if they have a number in them that is too long."""
        piece: bytes = self._stream.read(size)
        text = self._last + piece
        if _TOO_LONG.search(text):
            raise UnsoundError(f"it has a number of more than {_MOST_DIGITS:,} digits")
        self._last = text[-_MOST_DIGITS:]
        return piece


def before_long_number(text: bytes) -> bytes:
    """Return a text up to the first number that is too long.

    >>> before_long_number(b'{"a": 1, "b": ' + b"9" * 5000)
    b'{"a": 1, "b": '
    """
    found = _TOO_LONG.search(text)
    return text if found is None else text[: found.start()]
