"""Tables as the sheets of a workbook of Excel."""

import json
from collections.abc import Mapping
from typing import IO, Any, Final

import polars as pl

from ..errors import DataError, require_extra
from ..sources.spreadsheets import MOST_COLUMNS, MOST_ROWS

_LONGEST_CELL: Final = 32_767
# Excel keeps numbers as floats, which hold whole numbers up to here.
_MOST_EXACT: Final = 2**53


def write_table(table: pl.LazyFrame, file: IO[bytes], _: Any) -> None:
    """Write a table as the one sheet of a workbook."""
    write_sheets({"Table": table.head(MOST_ROWS + 1).collect()}, file)


def write_sheets(tables: Mapping[str, pl.DataFrame], file: IO[bytes]) -> None:
    """Write tables as sheets of one workbook.

    Text is written as text: an id such as 007 or =1+1 is no number and no formula. Whole numbers that Excel would
    round are written as text too.

    Raises:
        DataError: A table has more rows or columns than a sheet, or a cell would have too much text.
    """
    require_extra("excel", "Writing workbooks of Excel")
    import xlsxwriter  # imported here because it needs the extra `excel`

    for name, table in tables.items():
        _check_sheet(name, table)
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, {**plain, "nan_inf_to_errors": True}) as workbook:
        for name, table in tables.items():
            _exact(table).write_excel(workbook, worksheet=name, autofilter=False, float_precision=4)


def as_json(values: pl.Series) -> str:
    """Return a list as the text that formats without lists have for it: ["a","b"], which is read as a list again."""
    return json.dumps(values.to_list(), ensure_ascii=False, separators=(",", ":"), default=str)


def _check_sheet(name: str, table: pl.DataFrame) -> None:
    if table.height > MOST_ROWS or table.width > MOST_COLUMNS:
        raise DataError(
            f"The sheet {name!r} would have {'more than ' if table.height > MOST_ROWS else ''}"
            f"{min(table.height, MOST_ROWS):,} rows and {table.width:,} columns, and a sheet of Excel has room for "
            f"{MOST_ROWS:,} and {MOST_COLUMNS:,}: write CSV or Parquet."
        )
    for column in table.select(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)):
        longest = column.str.len_chars().max()
        if isinstance(longest, int) and longest > _LONGEST_CELL:
            raise DataError(
                f"Column {column.name!r} has a text of {longest:,} characters, and a cell of Excel has room for "
                f"{_LONGEST_CELL:,}: write CSV or Parquet."
            )


def _exact(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table without what Excel does not keep: large whole numbers and time zones become text."""

    def kept(column: pl.Series) -> pl.Series:
        if column.dtype.is_integer() and not column.is_empty():
            low, high = column.min(), column.max()
            if low is not None and (int(str(low)) < -_MOST_EXACT or int(str(high)) > _MOST_EXACT):
                return column.cast(pl.String)
        if column.dtype.is_decimal() or (isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone):
            return column.cast(pl.String)
        if column.dtype in (pl.Categorical, pl.Enum):
            return column.cast(pl.String)
        if isinstance(column.dtype, pl.List):
            return column.map_elements(as_json, pl.String)
        return column

    return pl.DataFrame([kept(column) for column in table])
