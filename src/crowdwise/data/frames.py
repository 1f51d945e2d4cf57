"""Other libraries' tables and arrays as polars ones."""

from typing import Any

import polars as pl

from ..errors import DataError


def as_table(frame: Any) -> pl.DataFrame:
    """Any Arrow-capable table as a polars one, without copying text where the other side need not."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if not hasattr(frame, "__arrow_c_stream__"):
        raise DataError(
            f"A {type(frame).__name__} is not a table: pass a polars, pandas or pyarrow table, a duckdb relation, "
            "or anything else with the Arrow C stream interface; for arrays there is Labels.from_arrays."
        )
    try:
        return pl.DataFrame(frame)
    except Exception as problem:  # whatever the other library raises while it converts
        raise DataError(
            f"The {type(frame).__name__} does not convert to Arrow: {first_line(problem)}. A column of mixed types "
            "is the usual cause: give each column one type."
        ) from problem


def first_line(problem: BaseException) -> str:
    """The first line of another library's message, without its full stop."""
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return lines[0].rstrip(".:")


def as_series(role: str, values: Any) -> pl.Series:
    """Any sequence as a polars series of one type."""
    try:
        return pl.Series(role, values)
    except (TypeError, pl.exceptions.PolarsError) as problem:
        raise DataError(
            f"The {role} values are of mixed types: {first_line(problem)}. Give them one type."
        ) from problem
