"""`typed_column`: values of Python, as JSON has them, as a column of one dtype; mixed types are refused or become text.

polars would make one dtype of several: 1 and "1" would become one label, and two large whole numbers one float.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import polars as pl

from ..errors import DataError, is_utf_8
from .unpacking import UnsoundError

# The kinds of values, as messages call them.
TEXT: Final = "text"
BOOLEAN: Final = "true or false"
WHOLE: Final = "a whole number"  # which a float holds exactly
LARGE: Final = "a whole number of more than 53 bits"
HUGE: Final = "a whole number of more than 64 bits"
ENDLESS: Final = "a whole number of more than 38 digits"
FRACTION: Final = "a number with a point or an exponent"
NESTED: Final = "an object or a list"
HALF_PAIR: Final = "half of a surrogate pair"
_OF_TYPE: Final = {bool: BOOLEAN, float: FRACTION, dict: NESTED, list: NESTED}
# The dtype of a column is the first whose kinds include all that it has.
_STRICT: Final = (
    (pl.String(), {TEXT}),
    (pl.Boolean(), {BOOLEAN}),
    (pl.Int64(), {WHOLE, LARGE}),
    (pl.Int128(), {WHOLE, LARGE, HUGE}),
    (pl.Float64(), {WHOLE, FRACTION}),
)
# Where a mix becomes text, 1 beside 1.5 stays "1".
_OR_TEXT: Final = (
    (pl.Null(), set[str]()),
    (pl.Boolean(), {BOOLEAN}),
    (pl.Int64(), {WHOLE, LARGE}),
    (pl.Float64(), {FRACTION}),
    (pl.String(), {TEXT, BOOLEAN, WHOLE, LARGE, HUGE, ENDLESS, FRACTION, NESTED, HALF_PAIR}),
)


def kinds_of(values: Sequence[Any]) -> set[str]:
    """Return the kinds of some values; null has none. Of whole numbers, those of the least and of the largest.

    >>> sorted(kinds_of([1, "a", None, 2**60]))
    ['a whole number', 'a whole number of more than 53 bits', 'text']
    """
    types = set(map(type, values)) - {type(None)}
    kinds = {_OF_TYPE.get(of, NESTED) for of in types - {str, int}}
    if str in types:
        texts = [value for value in values if type(value) is str]
        sound = all(map(str.isascii, texts)) or is_utf_8("".join(texts))
        kinds |= {TEXT} if sound else {HALF_PAIR if not is_utf_8(text) else TEXT for text in texts}
    if int in types:
        numbers = [value for value in values if type(value) is int]
        kinds |= {_kind_of_whole(min(numbers)), _kind_of_whole(max(numbers))}
    return kinds


def _kind_of_whole(number: int) -> str:
    if abs(number) <= 2**53:
        return WHOLE
    if -(2**63) <= number < 2**63:
        return LARGE
    return HUGE if abs(number) < 10**38 else ENDLESS


def dtype_of(kinds: set[str]) -> pl.DataType | None:
    """Return the dtype that holds values of all of these kinds as they are; None if there is none."""
    return next((dtype for dtype, its in _STRICT if kinds <= its), None)


def refusal(name: str, values: Iterable[tuple[int, Any]], unit: str) -> UnsoundError:
    """Return the error that says why values are no column: the number of the first of each kind, in units as "line"."""
    first: dict[str, int] = {}
    for number, value in values:
        for kind in kinds_of((value,)):
            first.setdefault(kind, number)
    if HALF_PAIR in first:
        return UnsoundError(f"{unit} {first[HALF_PAIR]:,} has half of a surrogate pair in {name!r}")
    said = ", ".join(f"{kind} in {unit} {number:,}" for kind, number in first.items())
    if len(first) > 1:
        return UnsoundError(f"{name!r} has mixed types: {said}; give it one type, of which text holds any value")
    return UnsoundError(f"{name!r} has {said}; ids and labels are text, numbers, true or false")


def typed_column(name: str, values: Sequence[Any], unit: str) -> pl.Series:
    """Return values as a column of one dtype. `unit` says what they are numbered as in messages, such as "label".

    Raises:
        UnsoundError: No dtype holds all of them as they are; the message has the first value of each kind.
    """
    dtype = dtype_of(kinds_of(values))
    if dtype is None:
        raise refusal(name, enumerate(values, 1), unit)
    return pl.Series(name, values, dtype, strict=False)


def column_or_text(name: str, values: Sequence[Any], dtype: Any = None) -> pl.Series:
    """Return values as a column of this dtype, or of their own; a mix becomes text.

    Raises:
        DataError: A text has half of a surrogate pair, which no file can store.

    >>> column_or_text("item", [1, 2]).dtype, column_or_text("item", [True, "b"]).to_list()
    (Int64, ['true', 'b'])
    """
    if dtype is None:
        kinds = kinds_of(values)
        dtype = next(dtype for dtype, its in _OR_TEXT if kinds <= its)
        if dtype == pl.String and kinds != {TEXT}:
            values = [None if value is None else as_text(value) for value in values]
    try:
        return pl.Series(name, values, dtype)
    except UnicodeEncodeError as problem:
        bad = next(value for value in values if type(value) is str and not is_utf_8(value))
        raise DataError(f"The {name} {bad!r} has half of a surrogate pair, which is no text.") from problem


def as_text(value: Any) -> str:
    """Return a value as the text that JSON has for it.

    >>> as_text(True), as_text(3), as_text("x")
    ('true', '3', 'x')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
