"""Files of DuckDB, which need the library `duckdb`."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Final

import polars as pl

from ..errors import require_extra
from ..system import first_line
from .queries import BATCH_ROWS, Database, in_types, open_database, quoted_tables, read_as
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
    """A file of DuckDB."""

    def __init__(self, path: str) -> None:
        self.name = path

    def tables(self) -> dict[str, str]:
        """Return its tables, those of other schemas with their schema; views are not among them."""
        with self._asked(
            "select schema_name = current_schema(), schema_name, table_name from duckdb_tables() where not internal "
            "order by all"
        ) as rows:
            return quoted_tables(rows.fetchall())

    def columns(self, query: str) -> list[str]:
        """Return the names of the columns of a query."""
        with self._asked(f"select * from ({query}\n) limit 0") as rows:
            return list(rows.columns)

    def types(self, query: str) -> dict[str, pl.DataType]:
        """Return the type of each column."""
        with self._asked(f"select * from ({query}\n) limit 0") as rows:
            for name, dtype in zip(rows.columns, rows.types, strict=True):
                if dtype.id in _UNKNOWN_TYPES:
                    said = dtype.id.upper()
                    raise UnsoundError(f"column {name!r} holds {said}; cast it in a query, as in {name}::text")
            return read_as(pl.DataFrame(rows.to_arrow_table()).schema)

    def rows(self, query: str) -> int:
        """Return how many rows a query has."""
        with self._asked(f"select count(*) from ({query}\n)") as rows:
            return int(rows.fetchall()[0][0])

    def batches(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query."""
        with self._asked(query) as rows:
            for batch in rows.to_arrow_reader(BATCH_ROWS):
                yield in_types(pl.DataFrame(batch), schema)

    @contextmanager
    def _asked(self, query: str) -> Iterator[Any]:
        """Ask a query, and give its relation. Nothing can be changed, and no other file can be read."""
        import duckdb  # imported here because it needs the extra `duckdb`

        apart: dict[str, Any] = {
            "enable_external_access": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        try:
            with closing(duckdb.connect(self.name, read_only=True, config=apart)) as connection:
                yield connection.sql(query)
        except duckdb.Error as problem:
            raise UnsoundError(f"it does not answer the query ({first_line(problem)})") from problem
