"""Write null for NaN and Infinity, which many programs write into JSON, and which JSON does not have."""

import re
from typing import Any, Final

_WORDS: Final = (b"NaN", b"Infinity", b"-Infinity")
# What stands between two such words: anything, and whole strings, which may have such a word in them.
_OTHERS: Final = re.compile(rb'(?:[^"NI-]++|"(?:[^"\\]++|\\.)*+"|-(?!I))*+', re.DOTALL)
# The rest of a string.
_IN_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class OnlyNumbers:
    """A stream of JSON with null where another stream has NaN or Infinity.

    Args:
        stream: The other stream: an object with the method `read`.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._kept = b""
        self._in_string = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; nothing only at the end."""
        while size:
            piece = self._stream.read(size)
            text = self._kept + piece
            # What may be the beginning of a word, or of an escaped character, is kept for the next piece.
            end = len(text) - (_begun(text) if piece else 0)
            text, self._kept = text[:end], text[end:]
            if text or not piece:
                return self._changed(text)
        return b""

    def _changed(self, text: bytes) -> bytes:
        """Return a text in which no word is cut off, with null for each of the words."""
        if not any(word in text for word in _WORDS[:2]):  # in nearly all files; and this is much faster
            self._in_string ^= _quotes(text) % 2 == 1
            return text
        done: list[bytes] = []
        at = 0
        while at < len(text):
            found = (_IN_STRING if self._in_string else _OTHERS).match(text, at)
            end = at if found is None else found.end()
            done.append(text[at:end])
            word = next((one for one in _WORDS if not self._in_string and text.startswith(one, end)), b"")
            self._in_string ^= text.startswith(b'"', end)  # a string begins that ends in a later piece, or ends here
            at = end + (len(word) or 1)
            done.append(b"null" if word else text[end:at])
        return b"".join(done)


def _begun(text: bytes) -> int:
    """Return how many bytes at the end may be the beginning of a word or of an escaped character."""
    if (len(text) - len(text.rstrip(b"\\"))) % 2:
        return 1
    if text.endswith(_WORDS):
        return 0
    return max((size for word in _WORDS for size in range(1, len(word)) if text.endswith(word[:size])), default=0)


def _quotes(text: bytes) -> int:
    """Return the number of quotes that begin or end a string."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"")
        return text.count(b'"') - text.count(b'\\"')
    return text.count(b'"')


def only_numbers(text: bytes) -> bytes:
    """Return a JSON text with null for NaN and Infinity.

    >>> only_numbers(b'{"NaN": [NaN, -Infinity, -1], "a": "not NaN"}')
    b'{"NaN": [null, null, -1], "a": "not NaN"}'
    """
    return OnlyNumbers(None)._changed(text)
