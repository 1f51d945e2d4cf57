"""Convert tables and sequences of other libraries to polars."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

import polars as pl

from ..crowd.ids import require_ids
from ..errors import DataError
from ..system import first_line
from .columns import recognise
from .other_tables import refuse_spans
from .table import Table

# So many rows are looked at to find out what a table holds.
_FEW_ROWS: Final = 1_000


class Tabular(Protocol):
    """A table of polars, pandas, pyarrow or another library with the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the rows as a capsule of Arrow."""
        ...


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
    except ImportError as problem:  # pandas converts by way of pyarrow
        raise DataError(
            f"The {type(frame).__name__} does not convert to Arrow: {first_line(problem)}. Run: pip install pyarrow"
        ) from problem
    except (Exception, pl.exceptions.PanicException) as problem:  # the other library may raise anything
        raise DataError(
            f"The {type(frame).__name__} does not convert to Arrow: {first_line(problem)}. Give each column a name "
            "of its own, and one type: text, numbers, booleans, dates or times."
        ) from problem


def frame_table(frame: Any) -> Table:
    """Return a table of any library, as in `as_table`, a polars LazyFrame, or a dataset of the library `datasets`."""
    features: Any = {}
    if type(frame).__module__.partition(".")[0] == "datasets":
        if not hasattr(frame, "to_polars"):
            raise DataError(
                f"A {type(frame).__name__} is no single table: name one split of it, such as data['train']."
            )
        described: Any = getattr(frame, "features", None)
        features = described.to_dict() if hasattr(described, "to_dict") else {}
        frame = frame.to_polars()
    lazy = frame if isinstance(frame, pl.LazyFrame) else as_table(_with_index(frame)).lazy()
    rows = None if isinstance(frame, pl.LazyFrame) else lazy.collect().height
    size = 0 if rows is None else int(lazy.collect().estimated_size())
    return Table.of(lazy, size, lambda: rows or int(lazy.select(pl.len()).collect().item()), features=features)


def _with_index(frame: Any) -> Any:
    """Return a table of pandas with its index as a column, if it has names in it; Arrow leaves the index out."""
    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or type(index).__name__ in ("RangeIndex", "MultiIndex"):
        return frame
    name = getattr(index, "name", None) or "__index_level_0__"
    return frame if name in frame.columns else frame.reset_index(names=name)


def is_frame(source: Any) -> bool:
    """Return whether a source is a table in memory, and neither a file nor a sequence of them."""
    of_datasets = type(source).__module__.partition(".")[0] == "datasets"
    return isinstance(source, pl.LazyFrame) or hasattr(source, "__arrow_c_stream__") or of_datasets


def pick(frame: Any, given: Mapping[str, str | None], where: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Take the columns for some roles out of a table of any library.

    Args:
        frame: A table as in `as_table`, or a polars LazyFrame.
        given: The name of the column for each role; None to recognise it.
        where: The name of the table in error messages.

    Returns:
        A table with the roles as names of its columns, and the name of each of these columns in `frame`.

    Raises:
        DataError: The object is no table, lacks a column, or has one that cannot be ids or labels.
    """
    lazy = frame if isinstance(frame, pl.LazyFrame) else as_table(frame).lazy()
    try:
        found = recognise(lazy.collect_schema().names(), given, where)
        picked = lazy.select(pl.col(found[role]).alias(role) for role in given)
        require_ids(picked.collect_schema(), found, where)
        if "label" in given and given["label"] is None:
            refuse_spans(
                lazy.collect_schema().names(), lambda names: lazy.select(names).head(_FEW_ROWS).collect(), where
            )
        return picked.collect(), found
    except DataError:
        raise
    except (Exception, pl.exceptions.PanicException) as problem:  # a LazyFrame may do anything
        raise DataError(f"{where} cannot be made: {first_line(problem)}.") from problem
