"""Convert tables and sequences of other libraries to polars."""

from typing import Any

import polars as pl

from ..errors import DataError


def as_table(frame: Any) -> pl.DataFrame:
    """Convert any table with the Arrow C stream interface to polars, without copying data where possible.

    Raises:
        DataError: The object is not such a table, or its library cannot convert it to Arrow.
    """
    if isinstance(frame, pl.DataFrame):
        return frame
    if not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"A {type(frame).__name__} is not a table: pass a polars, pandas or pyarrow table, a duckdb relation, "
            "or anything else with the Arrow C stream interface; for arrays there is Labels.from_arrays."
        )
    try:
        return pl.DataFrame(frame)
    except Exception as problem:  # the other library may raise anything while it converts
        raise DataError(
            f"The {type(frame).__name__} does not convert to Arrow: {first_line(problem)}. A column of mixed types "
            "is the usual cause: give each column one type."
        ) from problem


def first_line(problem: BaseException) -> str:
    """Return the first line of another library's error message, without the full stop at the end."""
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0].rstrip(".:")


def as_series(role: str, values: Any) -> pl.Series:
    """Convert any sequence to a polars series named `role`. Raises `DataError` if its values are of mixed types."""
    try:
        return pl.Series(role, values)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise DataError(
            f"The {role} values are of mixed types: {first_line(problem)}. Give them one type."
        ) from problem
