"""The values of a JSON text, piece by piece, so that a file of any size takes little memory.

msgspec parses. The standard library takes over where msgspec refuses: it reads what many programs write and JSON does
not have (NaN, Infinity, half of a surrogate pair), and says what is wrong with the rest.
"""

import codecs
import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import IO, Any, Final, NoReturn

import msgspec

from ..errors import DataError
from .unpacking import UnsoundError

# The most bytes of one object of a JSON file. Longer ones would fill the memory.
LONGEST_OBJECT: Final = 64 * 2**20
# How many bytes are read at once, and where the search for the end of one value begins.
_PIECE: Final = 2**19
_WINDOW: Final = 2**12
# How often the end of an element of an array is guessed, and what is there.
_GUESSES: Final = 6
_BETWEEN: Final = re.compile(r"\}\s*,\s*\{")
_SPACE: Final = b" \t\r\n"
# Brackets, commas and whole strings, in which other brackets and commas may be.
_SIGNS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{},]', re.DOTALL)
_CLOSED_BY: Final = {"[": "]", "{": "}"}
_ANY: Final = msgspec.json.Decoder()
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)
_RAW_ARRAY: Final = msgspec.json.Decoder(list[msgspec.Raw])
# Many programs write NaN and Infinity, which JSON does not have: they become null.
_LENIENT: Final = json.JSONDecoder(parse_constant=lambda _: None)


class JsonObject(dict[str, Any]):
    """An object of JSON that knows which keys it has twice."""

    repeated: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        made.repeated = tuple(key for key in made if keys.count(key) > 1)
    return made


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _finite(number: str) -> float:
    if math.isinf(value := float(number)):
        raise ValueError(f"{number[:20]} is out of the range of numbers")
    return value


# Takes nothing that JSON does not have, and makes `JsonObject`.
STRICT: Final = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite)


class JsonText:
    """The text of a stream in UTF-8 that is not used yet, of which as much is in memory as one value needs.

    It may begin with a byte-order mark, which `has_mark` says. `decoder` parses single values.
    """

    def __init__(self, stream: IO[bytes], decoder: json.JSONDecoder = _LENIENT) -> None:
        self._stream, self._decoder = stream, decoder
        self._text, self._at, self._ended = stream.read(len(BOM_UTF8)), 0, False
        self._between = b"},"  # what elements of an array probably have between them
        self.has_mark = self._text == BOM_UTF8
        self._text = self._text.removeprefix(BOM_UTF8)

    def peek(self) -> str:
        """Go to the next character that is no space, and return it; empty at the end."""
        while True:
            while self._at < len(self._text):
                byte = self._text[self._at]
                if byte not in _SPACE:
                    return chr(byte)
                self._at += 1
            if not self._more():
                return ""

    def take(self, sign: str) -> bool:
        """Go past this character if it is the next one; return whether it is."""
        is_next = self.peek() == sign
        self._at += is_next
        return is_next

    def value(self) -> Any:
        """Return the value that begins here, and go past it. Raises `ValueError` if it is no JSON."""
        self.peek()
        window = _WINDOW
        while True:
            whole = self._ended and self._at + window >= len(self._text)
            text = _decode_cut(self._text[self._at : self._at + window], whole)
            try:
                value, end = self._decoder.raw_decode(text)
                if whole or end < len(text):  # else a number may go on
                    self._at += len(text[:end].encode())
                    return value
            except ValueError:
                if whole:
                    raise
            window *= 8
            while self._at + window > len(self._text) and self._more():
                pass

    def values(self, in_array: bool) -> bytes:
        """Return the text of as many whole objects as are in memory, and go past it; or else all that is left.

        What is between them is there too, and in an array nothing after its end.
        """
        self.peek()
        while not (end := self._end_of_values(self._text[self._at :], in_array)):
            if not self._more():
                end = len(self._text) - self._at
                break
        self._at += end
        return self._text[self._at - end : self._at]

    def members(self) -> Iterator[str]:
        """Yield the keys of the object that begins here; after each, its value must be read."""
        if not self.take("{"):
            raise ValueError("it is no object")
        if self.take("}"):
            return
        while True:
            key = self.value() if self.peek() == '"' else None
            if key is None or not self.take(":"):
                raise ValueError("a key or its colon is missing")
            yield key
            if self.take("}"):
                return
            if not self.take(","):
                raise ValueError(f"after the value of {key!r} is no comma")

    def _end_of_values(self, text: bytes, in_array: bool) -> int:
        """Return where the last whole object or list ends that is not within another one; 0 if there is none."""
        between, end = self._between if in_array else b"}\n", len(text)
        for _ in range(_GUESSES):
            end = text.rfind(between, 0, end)
            if end < 0:
                break
            try:  # a right guess is much faster than to look at the structure
                decode(_RAW_ARRAY if in_array else _RAW, text[: end + 1], in_array)
                return end + 1
            except (msgspec.MsgspecError, RecursionError):
                pass
        return self._end_by_parsing(text, in_array)

    def _end_by_parsing(self, text: bytes, in_array: bool) -> int:
        whole, end, at = _decode_cut(text), 0, 0
        try:
            while True:
                _, at = self._decoder.raw_decode(whole, _after_space(whole, at))
                end = at if whole[at - 1] in "]}" else end  # a number may go on
                at = _after_space(whole, at)
                at += in_array and whole[at : at + 1] == ","
        except (ValueError, RecursionError):
            pass
        if followed := _BETWEEN.match(whole, end - 1):
            self._between = followed[0].encode()
        return len(whole[:end].encode())

    def _more(self) -> bool:
        """Read on, twice as much as there is; return whether there was anything."""
        self._text, self._at = self._text[self._at :], 0
        if len(self._text) > LONGEST_OBJECT:
            raise UnsoundError(
                f"it is no sound JSON, or has an object of more than {LONGEST_OBJECT // 2**20} MB, which is no answer"
            )
        piece = self._stream.read(max(_PIECE, len(self._text)))
        self._text += piece
        self._ended = not piece
        return bool(piece)


def _decode_cut(text: bytes, whole: bool = False) -> str:
    """Return a text without a character that is cut off at its end, unless it is the whole text."""
    return codecs.getincrementaldecoder("utf-8")().decode(text, whole)


def decode(decoder: msgspec.json.Decoder[Any], text: bytes, in_array: bool) -> Any:
    """Return the values of a text: elements of an array, by a decoder of lists, or values that follow each other."""
    return decoder.decode(b"[%b]" % text) if in_array else decoder.decode_lines(text)


def objects_of(stream: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the values of an array, or those that follow each other, as in JSON lines.

    What is no object may be yielded as its first character, and nothing after it.

    Raises:
        DataError: The text is no sound JSON; `name` is what it is called in the message.
    """
    text = JsonText(stream)
    in_array = text.take("[")
    yield from _values(text, name, in_array)
    if in_array and (sign := text.peek()):
        raise DataError(f"{name} is no sound JSON: after its array is {sign!r}.")


def _values(text: JsonText, name: str, in_array: bool) -> Iterator[Any]:
    """Yield the values of an array whose bracket was read, up to the bracket that closes it; or those up to the end."""
    number = 0
    while sign := text.peek():
        if in_array and sign == "]" and not number:
            break
        if sign != "{":
            yield sign
            return
        for value in _parsed(text.values(in_array), name, number, in_array):
            number += 1
            yield value
        if in_array and not text.take(","):
            break
    if in_array and not text.take("]"):
        following = repr(text.peek()) if text.peek() else "nothing"
        raise DataError(f"{name} is no sound JSON: after entry {number:,} is {following}, and no comma.")


def _parsed(text: bytes, name: str, number: int, in_array: bool) -> Iterator[Any]:
    """Yield the values of a text; `number` came before. Raises `DataError` that says which is no JSON."""
    try:
        for value in _decoded(text, in_array):
            number += 1
            yield value
    except UnicodeDecodeError:
        raise
    except ValueError as problem:
        reason = getattr(problem, "msg", str(problem))
        raise DataError(f"{name} is no sound JSON: entry {number + 1:,}: {reason}.") from problem


def _decoded(text: bytes, in_array: bool) -> Iterator[Any]:
    """Yield the values of a text one by one: Python's garbage collector is slow where many objects are made at once."""
    try:
        raws = decode(_RAW_ARRAY if in_array else _RAW, text, in_array)
    except msgspec.MsgspecError:
        yield from each_value(text.decode(), _LENIENT, "," if in_array else "")
        return
    for raw in raws:
        try:
            value = _ANY.decode(raw)
        except msgspec.MsgspecError:
            value = _LENIENT.decode(bytes(raw).decode())
        yield value


def each_value(text: str, decoder: json.JSONDecoder, between: str) -> Iterator[Any]:
    """Yield the values of a text by the standard library. Raises `ValueError` at one that is no JSON."""
    at = _after_space(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at = _after_space(text, at)
        if between and at < len(text):
            if text[at] != between:
                raise ValueError(f"before it is {text[at]!r}, and no comma")
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def values_at(stream: IO[bytes], name: str, path: str) -> Iterator[Any]:
    """Yield the values at a place deeper within an object: "results.item" are the elements of the list "results"."""
    text = JsonText(stream)
    yield from _at(text, name, path.split("."))
    if sign := text.peek():
        raise DataError(f"{name} is no sound JSON: after its object is {sign!r}.")


def _at(text: JsonText, name: str, path: list[str]) -> Iterator[Any]:
    if not path:
        yield text.value()
    elif path[0] == "item" and text.take("["):
        yield from _values(text, name, in_array=True)
    elif path[0] != "item" and text.peek() == "{":
        for key in text.members():
            if key == path[0]:
                yield from _at(text, name, path[1:])
            else:
                text.value()
    else:
        text.value()


def whole_of(stream: IO[bytes], name: str) -> Any:
    """Return the only value of a text. Raises `DataError` if it is too long."""
    text = stream.read(LONGEST_OBJECT + 1)
    if len(text) > LONGEST_OBJECT:
        raise DataError(f"{name} has an object of more than {LONGEST_OBJECT // 2**20} MB, which is no answer.")
    return json.loads(text.removeprefix(BOM_UTF8))


def beginning(text: str) -> Any:
    """Return the first value of a JSON text that may end anywhere, as far as it goes; None if it is no JSON.

    >>> beginning('[{"a": {"b": 1}, "c": [')
    [{'a': {'b': 1}, 'c': []}]
    """
    text = text.lstrip()
    try:
        return _SHORT.raw_decode(text)[0]
    except json.JSONDecodeError as problem:
        sound = text[: problem.pos]
    except RecursionError:
        return None
    opened: list[str] = []
    last = 0
    for sign in _SIGNS.finditer(sound):
        if sign[0] in _CLOSED_BY:
            opened.append(_CLOSED_BY[sign[0]])
        elif sign[0] in "]}":
            opened.pop()
        elif sign[0] != ",":
            continue
        last = sign.start() if sign[0] == "," else sign.end()
    # A number at the end may be cut off, and the last key may have no value.
    for head in (*([sound] if sound.rstrip().endswith('"') else []), sound[:last]):
        try:
            return _SHORT.raw_decode(head + "".join(reversed(opened)))[0]
        except ValueError:
            pass
    return None


def _whole_number(digits: str) -> int | None:
    """Return a whole number; None if it has more digits than Python takes."""
    return int(digits) if len(digits) < 4000 else None


_SHORT: Final = json.JSONDecoder(parse_constant=lambda _: None, parse_int=_whole_number)
