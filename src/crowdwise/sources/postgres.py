"""Tables in Postgres, read through ADBC in batches, so that any number of rows needs little memory."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import polars as pl

from ..addresses import shown_address, without_password
from ..errors import CallError, require_extra
from .queries import Database, empty, open_database
from .table import Table
from .unpacking import UnsoundError

# The size of a batch, as a hint for the driver.
_BATCH_BYTES: Final = 4 * 2**20


def open_postgres(address: str, query: str | None, table: str | None) -> Table:
    """Return the rows of a query, or of a table, of a Postgres server; see `queries.open_database`."""
    require_extra("sql", "Reading from Postgres")
    _require_sound(address)
    return open_database(_Server(address), query, table)


def _require_sound(address: str) -> None:
    """Raise `CallError` if an address has a character in user or password that ends them: parts of it would be printed.

    Libpq takes what is before a slash, a question mark or a hash for the host, and names it in its messages.
    """
    rest = address.partition("://")[2]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    broken_off = "@" not in authority and "@" in rest and not re.fullmatch(r"[^:]*(:\d*)?", authority)
    if broken_off or authority.count("@") > 1 or re.search(r"\s", rest):
        raise CallError(
            f"{shown_address(address)}: the user or the password has a character that must be encoded: write / as %2F, "
            "? as %3F, # as %23, @ as %40, and a space as %20."
        )


class _Server(Database):
    # Views are among its tables; those outside of the search path have their schema.
    list_tables = (
        "select pg_table_is_visible(c.oid), n.nspname, c.relname "
        "from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname not like 'pg_toast%' "
        "and n.nspname not in ('pg_catalog', 'information_schema') order by 2, 3"
    )

    def __init__(self, address: str) -> None:
        self._address = address
        self.name = shown_address(address)

    def schema(self, query: str) -> Mapping[str, pl.DataType]:
        with self.ask(empty(query)) as rows:
            return _as_table(rows.fetch_arrow_table()).schema

    def batches(self, query: str, _: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self.ask(query) as rows:
            yield from map(_as_table, rows.fetch_record_batch())

    @contextmanager
    def ask(self, query: str) -> Iterator[Any]:
        import adbc_driver_manager  # imported here because they need the extra `sql`
        from adbc_driver_postgresql import StatementOptions, dbapi

        try:
            with dbapi.connect(self._address) as connection, connection.cursor() as rows:
                rows.execute("set transaction read only")
                rows.adbc_statement.set_options(**{StatementOptions.BATCH_SIZE_HINT_BYTES.value: str(_BATCH_BYTES)})
                rows.execute(query)
                yield rows
        except (adbc_driver_manager.Error, OSError) as problem:
            raise UnsoundError(self._reason(problem)) from None  # whose stack may show the password

    def _reason(self, problem: BaseException) -> str:
        """Return why the server did not answer, in a line and without a password."""
        text = str(problem)
        for start in ("ERROR:  ", "FATAL:  ", "Failed to connect: ", "[libpq] "):
            if start in text:
                text = text.rpartition(start)[2]
                break
        lines = text.strip().splitlines() or [type(problem).__name__]
        said = without_password(lines[0].strip().rstrip(".:"), self._address)
        return f"the server does not answer the query ({said})"


def _as_table(arrow: Any) -> pl.DataFrame:
    """Return a table or batch of Arrow in polars; of types that Arrow does not know itself, what they are stored as."""
    import pyarrow

    columns = {}
    for name, column in zip(arrow.schema.names, arrow.columns, strict=True):
        stored = column.cast(column.type.storage_type) if isinstance(column.type, pyarrow.BaseExtensionType) else column
        columns[name] = pl.Series(name, stored)
    return pl.DataFrame(columns)
