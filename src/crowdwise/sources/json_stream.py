"""Read the objects of a JSON text one after the other, so that a file of any size takes little memory."""

import codecs
import io
import json
from collections.abc import Iterator
from typing import IO, Any, Final

import ijson

from ..errors import DataError
from .json_numbers import OnlyNumbers, only_numbers
from .long_numbers import ShortNumbers, before_long_number
from .unpacking import UTF_8_MARK

# The most bytes of one object of a JSON file. Longer ones would fill the memory.
LONGEST_OBJECT: Final = 64 * 2**20
# How many bytes are read at once.
_PIECE: Final = 2**20
_SPACE: Final = " \t\r\n"


def objects_of(stream: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the values of an array, or those that follow each other, as in JSON lines.

    Something that is no object is yielded as its first character, and nothing after it.

    Args:
        stream: The text, in UTF-8.
        name: The name of the file in messages.

    Raises:
        DataError: The text is no sound JSON.
    """
    text = _Text(stream, name)
    in_array = text.sign() == "["
    if in_array:
        text.step()
    number = 0
    while sign := text.sign():
        if in_array and sign == "]" and not number:
            break
        number += 1
        if sign != "{":
            yield sign
            return
        yield text.value(number)
        if in_array:
            sign = text.sign()
            if sign != ",":
                break
            text.step()
    if in_array:
        if sign != "]":
            raise DataError(f"{name} is no sound JSON: after entry {number:,} is {_shown(sign)}, and no comma.")
        text.step()
        if sign := text.sign():
            raise DataError(f"{name} is no sound JSON: after its array is {_shown(sign)}.")


def _shown(sign: str) -> str:
    return repr(sign) if sign else "nothing"


def _no_number(_: str) -> None:
    """Return null for NaN and Infinity, which many programs write, and which JSON does not have."""


class _Text:
    """The text that is not used yet, of which as much is in memory as one value needs.

    Args:
        stream: Where it comes from.
        name: The name of the file in messages.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._text = ""
        self._at = 0
        self._bytes = codecs.getincrementaldecoder("utf-8-sig")()
        self._values = json.JSONDecoder(parse_constant=_no_number)

    def sign(self) -> str:
        """Go to the next character that is no space, and return it; empty at the end."""
        while True:
            while self._at < len(self._text):
                sign = self._text[self._at]
                if sign not in _SPACE:
                    return sign
                self._at += 1
            if not self._more():
                return ""

    def step(self) -> None:
        """Go past one character."""
        self._at += 1

    def value(self, number: int) -> Any:
        """Return the value that begins here, and go past it. `number` says which it is, in messages."""
        while True:
            try:
                value, self._at = self._values.raw_decode(self._text, self._at)
                return value
            except ValueError as problem:  # it may only be cut off where the text in memory ends
                if len(self._text) - self._at > LONGEST_OBJECT:
                    raise DataError(
                        f"{self._name} is no sound JSON, or its entry {number:,} has more than "
                        f"{LONGEST_OBJECT // 2**20} MB, which is no answer."
                    ) from problem
                if not self._more():
                    reason = getattr(problem, "msg", str(problem))
                    raise DataError(f"{self._name} is no sound JSON: entry {number:,}: {reason}.") from problem

    def _more(self) -> bool:
        """Read on, twice as much as there is; return whether there was anything."""
        self._text = self._text[self._at :]
        self._at = 0
        piece = self._stream.read(max(_PIECE, len(self._text)))
        self._text += self._bytes.decode(piece, final=not piece)
        return bool(piece)


def values_at(stream: IO[bytes], name: str, path: str) -> Iterator[Any]:
    """Yield the values at a place deeper within an object, as ijson writes it: "results.item"."""
    limited = _Limited(stream, name)
    for value in ijson.items(ShortNumbers(_without_mark(limited)), path, use_float=True):
        limited.begin()
        yield value


def whole_of(stream: IO[bytes], name: str) -> Any:
    """Return the only value of a text. Raises `DataError` if it is too long."""
    limited = _Limited(stream, name)
    return json.loads(b"".join(iter(lambda: limited.read(_PIECE), b"")).removeprefix(UTF_8_MARK))


def beginning(text: str) -> Any:
    """Return the first value of a JSON text that may end anywhere, as far as it goes; None if it is no JSON.

    >>> beginning('[{"a": {"b": 1}, "c": [')
    [{'a': {'b': 1}, 'c': []}]
    """
    builder = ijson.ObjectBuilder()
    depth = 0
    try:
        for event, value in ijson.basic_parse(
            io.BytesIO(before_long_number(only_numbers(text.encode()))), use_float=True, multiple_values=True
        ):
            builder.event(event, value)
            depth += (event in ("start_map", "start_array")) - (event in ("end_map", "end_array"))
            if depth == 0:
                break
    except ijson.JSONError:
        pass
    return getattr(builder, "value", None)


class _Limited:
    """A file that refuses to be read on if one object of it is too long.

    Args:
        stream: The file.
        name: Its name in messages.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self._name = name
        self._since = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        self._since += len(piece)
        if self._since > LONGEST_OBJECT:
            raise DataError(
                f"{self._name} has an object of more than {LONGEST_OBJECT // 2**20} MB, which is no answer."
            )
        return piece

    def begin(self) -> None:
        """Begin with another object."""
        self._since = 0


def _without_mark(stream: _Limited) -> Any:
    """Return a stream of bytes that does not begin with the mark of UTF-8, which ijson does not take."""
    first = stream.read(len(UTF_8_MARK))
    rest = b"" if first == UTF_8_MARK else first

    class Rest:
        def read(self, size: int = -1) -> bytes:
            nonlocal rest
            if rest and size:
                piece, rest = rest, b""
                return piece
            return stream.read(size)

    return OnlyNumbers(Rest())
