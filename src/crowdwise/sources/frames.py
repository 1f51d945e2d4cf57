"""Tables and sequences of other libraries as those of polars."""

from typing import Any, Protocol

import polars as pl

from ..crowd.ids import require_frame
from ..errors import DataError
from ..system import first_line
from .table import Table


class Tabular(Protocol):
    """A table of polars, pandas, pyarrow or another library with the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Give the rows as a capsule of Arrow."""
        ...


def _as_table(frame: Any) -> pl.DataFrame:
    """Convert any table with the Arrow C stream interface to polars, without copying data where possible."""
    if isinstance(frame, pl.DataFrame):
        return frame
    require_frame(frame)
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
    """Return what is in memory as a table: a `Tabular`, a LazyFrame of polars, or a dataset of the library `datasets`.

    Raises:
        DataError: It is no such table, or its library cannot convert it to Arrow.
    """
    features: Any = {}
    if type(frame).__module__.partition(".")[0] == "datasets":
        if not hasattr(frame, "to_polars"):
            raise DataError(
                f"A {type(frame).__name__} is no single table: name one split of it, such as data['train']."
            )
        described: Any = getattr(frame, "features", None)
        features = described.to_dict() if hasattr(described, "to_dict") else {}
        frame = frame.to_polars()
    if isinstance(frame, pl.LazyFrame):
        return Table.of(frame, 0, features=features)
    table = _as_table(_with_index(frame))
    return Table.of(table.lazy(), int(table.estimated_size()), features=features)


def _with_index(frame: Any) -> Any:
    """Return a table of pandas with its index as columns, unless it only numbers the rows; Arrow leaves it out."""
    index: Any = getattr(frame, "index", None)
    is_pandas = type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns")  # a series has none
    if not is_pandas or type(index).__name__ == "RangeIndex":
        return frame
    names = [name or f"__index_level_{level}__" for level, name in enumerate(index.names)]
    return frame if set(names) & set(frame.columns) else frame.reset_index(names=names)
