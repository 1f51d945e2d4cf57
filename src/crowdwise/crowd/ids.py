"""Which data types ids and labels may have, and how values of different types are compared."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import polars as pl

from ..errors import DataError
from ..numerics import Array
from ..system import first_line

# Data types of text. Categories are compared, tidied and left out as any other text is.
TEXT: Final = (pl.String, pl.Categorical, pl.Enum)
# Every file format that we write can store these. The empty type is of columns without any value, which have a better
# message later.
_ALLOWED: Final = (*TEXT, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null)
_DAY: Final = datetime.timedelta(days=1)
# Python, and so every message and table, knows the years 1 to 9999.
_RANGES: Final[Mapping[Any, tuple[Any, Any]]] = {
    pl.Date: (datetime.date.min, datetime.date.max),
    pl.Datetime: (datetime.datetime.min, datetime.datetime.max),
    pl.Time: (datetime.time.min, datetime.time.max),
}
# The units of times, from the coarsest to the finest.
_UNITS: Final = ("ms", "us", "ns")
# The zeros at the end of a number or a time, which say nothing: 1.50 and 1.0 are 1.5 and 1.
ZEROS: Final = (r"^(-?\d[-:T \d]*\.\d*[1-9])0+$", r"^(-?\d[-:T \d]*)\.0+$")


def require_ids(schema: Mapping[str, pl.DataType], found: Mapping[str, str], where: str) -> None:
    """Raise `DataError` if the column of a role is of a data type that cannot be used for ids or labels.

    `found` has the names of the columns by role, and `where` is the name of the table.
    """
    for role, dtype in schema.items():
        if not (dtype.is_numeric() or dtype in _ALLOWED):
            sets = 'If each list is a set of classes, say multi="each" (--multi each)'
            does = (
                sets if role == "label" and isinstance(dtype, pl.List | pl.Array) else "Turn each value into one first"
            )
            raise DataError(
                f"{where} holds {dtype.base_type()} in column {found.get(role, role)!r}; ids and labels are text, "
                f"numbers, booleans, dates or times. {does}."
            )


def require_values(column: pl.Series, name: str) -> None:
    """Raise `DataError` if a column has values that not every format can store.

    These are infinite numbers, and dates or times that Python does not know, as damaged files have.
    """
    if column.dtype.is_float() and column.is_infinite().any():
        raise DataError(f"Column {name!r} has an infinite number; ids and labels are finite, or text.")
    dtype, known = column.dtype, _RANGES.get(column.dtype.base_type())
    if known is None:
        return
    if isinstance(dtype, pl.Datetime):
        if dtype.time_unit == "ns":  # whose 64 bits are the years 1677 to 2262
            return
        if dtype.time_zone:  # a zone may move a time by most of a day
            known = known[0] + _DAY, known[1] - _DAY
        dtype = pl.Datetime(dtype.time_unit)
    first, last = pl.Series(known).cast(dtype).to_physical()
    if not column.to_physical().is_between(first, last).all():
        raise DataError(f"Column {name!r} has dates or times outside of the years 1 to 9999; write them as text.")


def kind(dtype: pl.DataType, any_text: bool = False) -> str:
    """Return what values of a data type are, in words; columns of one kind can be concatenated.

    With `any_text`, integers count as text, because some file has nothing but text, such as CSV.
    """
    if dtype.is_integer():
        return "text" if any_text else "whole numbers"
    if dtype in TEXT:
        return "text"
    if isinstance(dtype, pl.Datetime):
        return f"times in {dtype.time_zone}" if dtype.time_zone else "times without a zone"
    return "decimal numbers" if dtype.is_decimal() else str(dtype)


def common_type(dtypes: Sequence[pl.DataType], any_text: bool) -> pl.DataType:
    """Return the data type that holds all values of columns of one `kind` without changing any."""
    distinct = [dtype for dtype in dict.fromkeys(dtypes) if dtype != pl.Null]
    if not distinct:
        return pl.Null()
    if len(distinct) == 1 and not (any_text and kind(distinct[0], True) == "text"):
        return distinct[0]
    if kind(distinct[0], any_text) == "text":
        return pl.String()
    if distinct[0].is_decimal():
        return pl.Decimal(38, max(getattr(dtype, "scale", 0) for dtype in distinct))
    times = [dtype for dtype in distinct if isinstance(dtype, pl.Datetime)]
    if times:
        return max(times, key=lambda dtype: _UNITS.index(dtype.time_unit))
    tables = [pl.DataFrame(schema={"": dtype}) for dtype in distinct]
    common = pl.concat(tables, how="vertical_relaxed").schema[""]
    # For UInt64 and signed integers polars 1 says Float64, which changes ids above 2**53.
    return pl.Int128() if distinct[0].is_integer() and common.is_float() else common


def text(values: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return values as text by which those of different data types are compared: 1.50, 1.5 and "1.50" are all 1.5."""
    spelled = values.cast(pl.String)
    if dtype.is_float():
        whole = (values == values.floor()) & (values.abs() < 1e38)
        spelled = pl.when(whole).then(values.cast(pl.Int128, strict=False).cast(pl.String)).otherwise(spelled)
    for zeros in ZEROS:
        spelled = spelled.str.replace(zeros, "$1")
    return spelled


def comparable(one: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return two columns in one data type, in which equal values are equal and different values are not.

    >>> first, second = comparable(pl.Series([1.0, 2.5]), pl.Series(["1", "2.50"]))
    >>> first.to_list(), second.to_list()
    (['1', '2.5'], ['1', '2.5'])
    """
    if one.dtype == other.dtype:
        return one, other
    if kind(one.dtype) == kind(other.dtype):
        dtype = common_type([one.dtype, other.dtype], any_text=False)
        with suppress(pl.exceptions.InvalidOperationError):  # a value is too large for the common type
            return one.cast(dtype), other.cast(dtype)
    return _spelled(one), _spelled(other)


def codes_of(values: pl.Series, names: pl.Series, fold_case: bool = False) -> Array:
    """Return the position of every value among the names, or -1; they may be of different data types.

    With `fold_case`, the case of letters does not matter; no two names may then differ in nothing else.

    >>> codes_of(pl.Series(["2", "7"]), pl.Series([1, 2])).tolist()
    [1, -1]
    """
    values, names = comparable(values, names)
    if fold_case and names.dtype == pl.String:
        values, names = values.str.to_lowercase(), names.str.to_lowercase()
    table = pl.DataFrame({"value": names}).with_row_index("code")
    codes = pl.DataFrame({"value": values}).join(table, on="value", how="left", maintain_order="left")["code"]
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def _spelled(values: pl.Series) -> pl.Series:
    """Return values as `text`, or as they are written if two different ones would become the same."""
    spelled = pl.select(text(pl.lit(values), values.dtype)).to_series()
    return spelled if spelled.n_unique() == values.n_unique() else values.cast(pl.String)


def as_number(value: Any) -> int | float | None:
    """Return the number that a value or its text stands for; None if it is no number."""
    for number in (int, float):
        try:
            return number(str(value))
        except ValueError:
            continue
    return None


def is_any_of(values: pl.Series, wanted: Iterable[Any]) -> pl.Series:
    """Return which values of a column are one of these: -1 and "-1" are also -1.0 and "-1.0".

    >>> is_any_of(pl.Series([1.0, -1.0, None]), ["-1"]).to_list()
    [False, True, False]
    >>> is_any_of(pl.Series(["-1.0", "1", "-1"]), [-1]).to_list()
    [True, False, True]
    """
    sought = [in_text(value, values.dtype) for value in wanted]
    distinct = values.unique() if sought else values.head(0)
    same = distinct.filter(pl.select(text(pl.lit(distinct), distinct.dtype)).to_series().is_in(sought))
    return values.is_in(same.implode()).fill_null(False) if len(same) else pl.repeat(False, len(values), eager=True)


def in_text(value: Any, dtype: pl.DataType) -> str:
    """Return how a value is written as `text`, in a column of a data type: 007 is the number 7, or a text."""
    if dtype == pl.Boolean:
        return str(value).lower()
    number = as_number(value) if dtype.is_numeric() else None
    one = pl.Series([number if isinstance(number, float) else str(value if number is None else number)])
    return str(pl.select(text(pl.lit(one), one.dtype)).item())


def has_value(values: pl.Series) -> pl.Series:
    """Return which values are present: not null, not NaN and not empty text."""
    present = values.is_not_null()
    if values.dtype.is_float():
        present &= values.is_not_nan().fill_null(False)
    if values.dtype in TEXT:
        present &= (values.cast(pl.String) != "").fill_null(False)
    return present


def is_present(values: pl.Series, missing: Iterable[Any]) -> pl.Series:
    """Return which values are present and none of those that mean "no label"."""
    return has_value(values) & ~is_any_of(values, missing)


def half_pair(problem: UnicodeEncodeError) -> str:
    """Return what text cannot be stored in UTF-8, in words."""
    return f"{problem.object[problem.start : problem.end]!r}, half of a surrogate pair, which is no text"


def as_series(role: str, values: Any) -> pl.Series:
    """Convert any sequence to a polars series named `role`.

    Raises:
        DataError: Its values are of mixed types, or some are no text in UTF-8.
    """
    try:
        series = pl.Series(role, values)
    except UnicodeEncodeError as problem:
        raise DataError(f"The {role} values have {half_pair(problem)}.") from problem
    except (Exception, pl.exceptions.PanicException) as problem:  # the values may be anything
        raise DataError(
            f"The {role} values are of mixed types: {first_line(problem)}. Give them one type."
        ) from problem
    require_ids({role: series.dtype}, {}, "The sequence")
    return series


def is_frame(source: Any) -> bool:
    """Return whether a source is a table in memory, and neither a file nor a sequence of them."""
    of_datasets = type(source).__module__.partition(".")[0] == "datasets"
    return isinstance(source, pl.LazyFrame) or hasattr(source, "__arrow_c_stream__") or of_datasets


def require_frame(frame: Any) -> None:
    """Raise `DataError` if this is no table in memory."""
    if not is_frame(frame):
        raise DataError(
            f"A {type(frame).__name__} is not a table: pass a polars, pandas or pyarrow table, a duckdb relation, "
            "or anything else with the Arrow C stream interface; for arrays there is Labels.from_arrays."
        )
