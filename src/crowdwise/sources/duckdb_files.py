"""Tables in files of DuckDB, through the library `duckdb`."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import polars as pl

from ..errors import require_extra
from ..system import first_line
from .queries import BATCH_ROWS, Database, empty, open_database
from .table import Table
from .unpacking import Content, UnsoundError

# Types that polars does not know.
_UNKNOWN_TYPES: Final = ("interval", "union")


def open_duckdb(content: Content, query: str | None, table: str | None) -> Table:
    """Return the rows of a query, or of a table, of a file of DuckDB; see `queries.open_database`."""
    require_extra("duckdb", "Reading files of DuckDB")
    if isinstance(content, bytes):
        raise UnsoundError("it comes without a file; DuckDB reads files by their names")
    return open_database(_File(content), query, table)


class _File(Database):
    # Views are not among its tables.
    list_tables = (
        "select schema_name = current_schema(), schema_name, table_name from duckdb_tables() where not internal "
        "order by all"
    )

    def __init__(self, path: str) -> None:
        self.name = path

    def schema(self, query: str) -> Mapping[str, pl.DataType]:
        with self.ask(empty(query)) as rows:
            for name, dtype in zip(rows.columns, rows.types, strict=True):
                if dtype.id in _UNKNOWN_TYPES:
                    said = dtype.id.upper()
                    raise UnsoundError(f"column {name!r} holds {said}; cast it in a query, as in {name}::text")
            return pl.DataFrame(rows.to_arrow_table()).schema

    def batches(self, query: str, _: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self.ask(query) as rows:
            yield from map(pl.DataFrame, rows.to_arrow_reader(BATCH_ROWS))

    @contextmanager
    def ask(self, query: str) -> Iterator[Any]:
        import duckdb  # imported here because it needs the extra `duckdb`

        no_other_file: dict[str, Any] = {
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        try:
            with closing(duckdb.connect(self.name, read_only=True, config=no_other_file)) as connection:
                yield connection.sql(query)
        except duckdb.Error as problem:
            raise UnsoundError(f"it does not answer the query ({first_line(problem)})") from problem
