"""Lines of JSON, walked byte by byte: which keys the objects have, and which kinds of values each of them has.

Numbers, text and the outermost object are checked here. What is inside nested objects and lists is only skipped: polars
checks it when it reads the line.
"""

import numpy as np

from ..numerics import Array
from ..numerics.twins import loop

# The columns of `keys`, which has a row for every key: a hash of it; where it starts and ends in the piece where it was
# found; the last line that has it; the first line that has it twice; the first line whose value has half a surrogate
# pair; and from `KINDS` on, the first line with a value of each kind. Lines are counted from 1, and 0 is none.
HASH, FIRST, END, LAST_LINE, TWICE, HALF_PAIR, KINDS = 0, 1, 2, 3, 4, 5, 6
# The kinds of values. Whole numbers are of four kinds: those that a float holds exactly, those that fit in 64 bits and
# in 128 bits, and larger ones.
NULL, TEXT, BOOLEAN, WHOLE, LARGE, HUGE, ENDLESS, FRACTION, NESTED = 0, 1, 2, 3, 4, 5, 6, 7, 8
_COLUMNS = KINDS + NESTED + 1

_MOST_EXACT = np.uint64(2**53)
_MOST_POSITIVE, _MOST_NEGATIVE = np.uint64(2**63 - 1), np.uint64(2**63)
# Any number of so many digits fits in 64 bits, and in 128 bits with a sign.
_DIGITS_OF_64, _DIGITS_OF_128 = 19, 38
# A float holds any number of so many digits exactly.
_EXACT_DIGITS = 15

_NEWLINE, _QUOTE, _ESCAPE = 10, 34, 92
# The letters that may stand after an escape, besides u.
_AFTER_ESCAPE = tuple(b'"\\/bfnrt')


def new_keys(most: int) -> Array:
    """A table for `most` keys."""
    return np.zeros((most, _COLUMNS), np.int64)


@loop
def walk_objects(text: bytes, keys: Array, known: int, line: int) -> tuple[int, int, int]:
    """Walk over whole lines, and add to `keys` what is found. `known` keys and `line` lines were seen before.

    Returns the number of keys, the number of the last line that was looked at, and the number of objects. If the walk
    stops at a line that is not one JSON object, the number of objects is -1; if there are too many keys, it is -2.
    """
    at, objects, key = 0, 0, -1
    while at < len(text):
        line += 1
        at = _skip_space(text, at)
        if text[at] == _NEWLINE:
            at += 1
            continue
        if text[at] != ord("{"):
            return known, line, -1
        objects += 1
        key = -1
        at = _skip_space(text, at + 1)
        more = text[at] != ord("}")
        while more:
            if text[at] != _QUOTE:
                return known, line, -1
            start = at + 1
            end, _ = _skip_text(text, start)
            if end < 0:
                return known, line, -1
            key = _find(text, start, end - 1, keys, known, key + 1)
            if key == keys.shape[0]:
                return known, line, -2
            if key == known:
                known += 1
                keys[key, FIRST], keys[key, END] = start, end - 1
            if keys[key, LAST_LINE] == line and keys[key, TWICE] == 0:
                keys[key, TWICE] = line
            keys[key, LAST_LINE] = line
            at = _skip_space(text, end)
            if text[at] != ord(":"):
                return known, line, -1
            at, kind, half_pair = _skip_value(text, _skip_space(text, at + 1))
            if at < 0:
                return known, line, -1
            if keys[key, KINDS + kind] == 0:
                keys[key, KINDS + kind] = line
            if half_pair and keys[key, HALF_PAIR] == 0:
                keys[key, HALF_PAIR] = line
            at = _skip_space(text, at)
            more = text[at] == ord(",")
            if more:
                at = _skip_space(text, at + 1)
        if text[at] != ord("}"):
            return known, line, -1
        at = _skip_space(text, at + 1)
        if text[at] != _NEWLINE:
            return known, line, -1
        at += 1
    return known, line, objects


@loop
def _find(text: bytes, start: int, end: int, keys: Array, known: int, likely: int) -> int:
    """The number of a key, by its hash; `known` if it is not there yet. It is `likely` this number."""
    # Two hashes like FNV-1a, of 32 and of 31 bits: no product has more than 63 bits, so that Python has the same.
    low, high = 0x811C9DC5, 0x4BF29CE4
    for at in range(start, end):
        low = ((low ^ text[at]) * 0x01000193) & 0xFFFFFFFF
        high = ((high ^ text[at]) * 0x5BD1E995) & 0x7FFFFFFF
    wanted = (high << 32) | low
    if likely < known and keys[likely, HASH] == wanted:
        return likely
    for key in range(known):
        if keys[key, HASH] == wanted:
            return key
    if known < keys.shape[0]:
        keys[known, HASH] = wanted
    return known


@loop
def _skip_space(text: bytes, at: int) -> int:
    """The next position that is no space. A line feed ends the line, so it is never skipped."""
    while text[at] == 32 or text[at] == 9 or text[at] == 13:
        at += 1
    return at


@loop
def _skip_text(text: bytes, at: int) -> tuple[int, bool]:
    """The position after the closing quote, -1 if the text is wrong; and whether it has half a surrogate pair."""
    half_pair = False
    while text[at] != _QUOTE:
        if text[at] < 32:
            return -1, half_pair
        if text[at] == _ESCAPE:
            at += 1
            letter = text[at]
            if letter == ord("u"):
                code = _hexadecimal(text, at + 1)
                if code < 0:
                    return -1, half_pair
                at += 4
                if 0xD800 <= code < 0xE000:
                    low = -1
                    if code < 0xDC00 and text[at + 1] == _ESCAPE and text[at + 2] == ord("u"):
                        low = _hexadecimal(text, at + 3)
                    if 0xDC00 <= low < 0xE000:
                        at += 6
                    else:
                        half_pair = True
            elif letter not in _AFTER_ESCAPE:
                return -1, half_pair
        at += 1
    return at + 1, half_pair


@loop
def _hexadecimal(text: bytes, at: int) -> int:
    """The number of four hexadecimal digits; -1 if they are none."""
    code = 0
    for digit in range(at, at + 4):
        byte = text[digit] if digit < len(text) else _NEWLINE
        if 48 <= byte <= 57:
            code = 16 * code + int(byte) - 48
        elif 97 <= byte | 32 <= 102:
            code = 16 * code + int(byte | 32) - 87
        else:
            return -1
    return code


@loop
def _skip_value(text: bytes, at: int) -> tuple[int, int, bool]:
    """The position after a value, -1 if it is wrong; its kind; and whether it is text with half a surrogate pair."""
    byte = text[at]
    if byte == _QUOTE:
        end, half_pair = _skip_text(text, at + 1)
        return end, TEXT, half_pair
    if byte == ord("{") or byte == ord("["):
        return _skip_nested(text, at), NESTED, False
    if byte == ord("-") or 48 <= byte <= 57:
        end, kind = _skip_number(text, at)
        return end, kind, False
    if byte == ord("n"):
        return _skip_word(text, at, (110, 117, 108, 108)), NULL, False
    if byte == ord("t"):
        return _skip_word(text, at, (116, 114, 117, 101)), BOOLEAN, False
    return _skip_word(text, at, (102, 97, 108, 115, 101)), BOOLEAN, False


@loop
def _skip_word(text: bytes, at: int, word: tuple[int, ...]) -> int:
    """The position after a word; -1 if it is not there."""
    for letter in word:
        if text[at] != letter:
            return -1
        at += 1
    return at


@loop
def _skip_nested(text: bytes, at: int) -> int:
    """The position after a nested object or list; -1 if the line ends before."""
    depth = 0
    while True:
        byte = text[at]
        if byte == _NEWLINE:
            return -1
        if byte == _QUOTE:
            at, _ = _skip_text(text, at + 1)
            if at < 0:
                return -1
            continue
        if byte == ord("{") or byte == ord("["):
            depth += 1
        elif byte == ord("}") or byte == ord("]"):
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1


@loop
def _skip_digits(text: bytes, at: int) -> int:
    """The position after some digits."""
    while 48 <= text[at] <= 57:
        at += 1
    return at


@loop
def _skip_number(text: bytes, at: int) -> tuple[int, int]:
    """The position after a number, -1 if it is wrong; and its kind."""
    negative = text[at] == ord("-")
    start = at + 1 if negative else at
    at = _skip_digits(text, start)
    digits = at - start
    if digits == 0 or (digits > 1 and text[start] == 48):
        return -1, WHOLE
    fraction = False
    if text[at] == ord("."):
        fraction = True
        end = _skip_digits(text, at + 1)
        if end == at + 1:
            return -1, WHOLE
        at = end
    if text[at] | 32 == ord("e"):
        fraction = True
        at += 1
        if text[at] == ord("+") or text[at] == ord("-"):
            at += 1
        end = _skip_digits(text, at)
        if end == at:
            return -1, WHOLE
        at = end
    if fraction:
        return at, FRACTION
    if digits <= _EXACT_DIGITS:
        return at, WHOLE
    if digits > _DIGITS_OF_64:
        return at, HUGE if digits <= _DIGITS_OF_128 else ENDLESS
    number = np.uint64(0)
    for digit in range(start, start + digits):
        number = number * np.uint64(10) + np.uint64(text[digit] - 48)
    if number <= _MOST_EXACT:
        return at, WHOLE
    return at, LARGE if number <= (_MOST_NEGATIVE if negative else _MOST_POSITIVE) else HUGE
