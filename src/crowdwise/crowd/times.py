"""Times of labels: as numbers, for `duplicates="latest"`, and as dates; and labels that tie."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

import numpy as np
import polars as pl

from ..errors import DataError, shortened
from ..numerics import Array
from .encoding import starts_pair

# How ISO 8601 is written most often; polars reads these many times as fast as Python.
_USUAL: Final = ("%Y-%m-%dT%H:%M:%S%.f%:z", "%Y-%m-%dT%H:%M:%S%.fZ", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f")
# How Mechanical Turk writes a time: Tue May 03 10:12:25 PDT 2022. The zones are hours from UTC.
_OF_MTURK: Final = re.compile(r"\w{3} (\w{3} \d{1,2} \d\d:\d\d:\d\d) ([A-Z]{3}) (\d{4})")
_ZONES: Final = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6} | {
    "PST": -8,
    "PDT": -7,
}
# Numbers above it are milliseconds since 1970, and dates before it are something else than dates.
_LARGEST_SECONDS: Final = 1e11
_FIRST_YEAR: Final = 1990


def moments(times: pl.Series) -> Array:
    """Return times as numbers, of which the later is the larger. A time without a zone is in UTC.

    Raises:
        DataError: A value is no time: neither a number, nor a date or time as ISO 8601 writes it.

    >>> moments(pl.Series(["2024-05-01T10:00:00Z", "2024-05-01T11:30:00+02:00"])).argmax()
    np.int64(0)
    """
    if times.dtype == pl.String:
        found = _in_text(times)
    elif times.dtype.is_float():
        found = times.fill_nan(None)
    else:
        found = times.to_physical()
    if found.null_count():
        first = times.filter(found.is_null())[0]
        what = "no value" if first is None else shortened(repr(first), 60)
        raise DataError(
            f"{found.null_count():,} of {len(times):,} labels have no time that can be read; first: {what}. "
            'duplicates="latest" (--duplicates latest) needs a time for every label: a number, or a date and time such '
            "as 2024-05-31T14:30:00+02:00."
        )
    return found.to_numpy()


def dates(times: pl.Series) -> pl.Series:
    """Return times as dates and times in UTC; numbers are seconds or milliseconds since 1970.

    Raises:
        DataError: A value is no time.

    >>> dates(pl.Series(["2024-05-01T00:30:00+02:00", "2024-05-02"])).dt.date().to_list()
    [datetime.date(2024, 4, 30), datetime.date(2024, 5, 2)]
    >>> dates(pl.Series([1_714_521_600])).dt.year().to_list()
    [2024]
    """
    if isinstance(times.dtype, pl.Datetime):
        found = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if times.dtype.time_zone else times
        found = found.cast(pl.Datetime("us"))
    elif times.dtype == pl.Date:
        found = times.cast(pl.Datetime("us"))
    else:
        if times.dtype == pl.String:
            number = times.str.strip_chars().cast(pl.Float64, strict=False)
            is_number = number.is_not_null().all()
        else:
            number, is_number = times.cast(pl.Float64, strict=False), True
        if is_number:
            seconds = number.fill_nan(None)
            factor = 1e3 if float(seconds.abs().median() or 0) > _LARGEST_SECONDS else 1e6  # type: ignore[arg-type]  # a number
            found = (seconds * factor).cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
        else:
            found = _in_text(times).cast(pl.Datetime("us"))
    bad = found.is_null() | (found.dt.year() < _FIRST_YEAR)
    if bad.any():
        first = times.filter(bad)[0]
        what = "no value" if first is None else shortened(repr(first), 60)
        raise DataError(
            f"{bad.sum():,} of {len(times):,} votes have no date that can be read; first: {what}. Write a date and "
            "time such as 2024-05-31T14:30:00+02:00, or seconds since 1970."
        )
    return found


def _in_text(times: pl.Series) -> pl.Series:
    """Return times that are written as text as numbers; null where that is no time."""
    text = times.str.strip_chars()
    for dtype in (pl.Int64, pl.Float64):
        numbers = text.cast(dtype, strict=False)
        if numbers.is_finite().all() and not numbers.null_count():
            return numbers
    for usual in _USUAL:
        read = text.str.to_datetime(usual, time_unit="us", strict=False)
        if not read.null_count():
            return read.to_physical()
    distinct = text.drop_nulls().unique()
    known = [_microseconds(one) for one in distinct.to_list()]
    return text.replace_strict(distinct, pl.Series(known, dtype=pl.Int64), default=None, return_dtype=pl.Int64)


def _microseconds(text: str) -> int | None:
    """Return the microseconds since 1970 of a date and time; None if it is none."""
    of_mturk = _OF_MTURK.fullmatch(text)
    try:
        if of_mturk:
            zone = timezone(timedelta(hours=_ZONES[of_mturk[2]]))
            time = datetime.strptime(f"{of_mturk[1]} {of_mturk[3]}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone)
        else:
            time = datetime.fromisoformat(text)
    except (ValueError, KeyError):
        return None
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1)


def tied_labels(item: Array, worker: Array, label: Array, times: Array) -> tuple[int, int, Array]:
    """Find workers who gave an item several labels at the latest time.

    The rows are sorted by item, worker and time.

    Returns:
        The number of such (item, worker) pairs, the last row of the first of them, and the labels of that one at the
        latest time; 0, -1 and no label if there is none.
    """
    ends = np.flatnonzero(np.roll(starts_pair(item, worker), -1))
    last = np.repeat(ends, np.diff(ends, prepend=-1))
    tied = (times == times[last]) & (label != label[last])
    pairs = np.unique(last[tied])
    if not len(pairs):
        return 0, -1, label[:0]
    said = label[(last == pairs[0]) & (times == times[pairs[0]])]
    return len(pairs), int(pairs[0]), np.unique(said)
