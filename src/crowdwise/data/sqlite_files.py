"""Files of SQLite, read by Python's own library."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import polars as pl

from .frames import first_line
from .queries import BATCH_ROWS, Database, open_database, quoted, uuids
from .table import Table
from .unpacking import Content, UnsoundError

# How each set of SQLite's types is read; values of a column may have any of them.
_TYPES: Final[tuple[tuple[set[str], pl.DataType], ...]] = (
    ({"null"}, pl.Null()),
    ({"null", "integer"}, pl.Int64()),
    ({"null", "integer", "real"}, pl.Float64()),
    ({"null", "text"}, pl.String()),
    ({"null", "blob"}, pl.Binary()),
)
_WORDS: Final = {"integer": "whole numbers", "real": "numbers", "text": "text", "blob": "bytes"}


def open_sqlite(content: Content, query: str | None, table: str | None) -> Table:
    """Return the rows of a query, or of a table, of a file of SQLite; see `queries.open_database`."""
    return open_database(_File(content), query, table)


class _File(Database):
    """A file of SQLite, or its bytes."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.name = content if isinstance(content, str) else "The database"

    def tables(self) -> list[str]:
        """Return the names of its tables; views are not among them."""
        with self._asked(
            "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'"
        ) as rows:
            return [str(name) for (name,) in rows]

    def columns(self, query: str) -> list[str]:
        """Return the names of the columns of a query."""
        with self._asked(f"select * from ({query}\n) limit 0") as rows:
            return [column[0] for column in rows.description]

    def types(self, query: str) -> dict[str, pl.DataType]:
        """Return the type of each column, by the types of all its values."""
        names = self.columns(query)
        of_each = ", ".join(f"typeof({quoted(name)})" for name in names)
        with self._asked(f"select distinct {of_each} from ({query}\n)") as rows:
            found = [set(kinds) for kinds in zip(*rows.fetchall(), strict=True)] or [set()] * len(names)
        types: dict[str, pl.DataType] = {}
        for name, kinds in zip(names, found, strict=True):
            dtype = next((one for known, one in _TYPES if kinds <= known), None)
            if dtype is None:
                said = " and ".join(_WORDS[kind] for kind in sorted(kinds - {"null"}))
                raise UnsoundError(f"column {name!r} has {said}; give it one type, as in cast({name} as text)")
            types[name] = pl.String() if dtype == pl.Binary else dtype
        return types

    def rows(self, query: str) -> int:
        """Return how many rows a query has."""
        with self._asked(f"select count(*) from ({query}\n)") as rows:
            return int(rows.fetchone()[0])

    def batches(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query."""
        with self._asked(query) as rows:
            while some := rows.fetchmany(BATCH_ROWS):
                columns = dict(zip(schema, zip(*some, strict=True), strict=True))
                yield pl.DataFrame([_column(name, values, schema[name]) for name, values in columns.items()])

    @contextmanager
    def _asked(self, query: str) -> Iterator[Any]:
        """Ask a query, and give the cursor with its rows. Nothing can be changed."""
        try:
            with closing(self._connect()) as connection:
                for setting in ("query_only = on", "trusted_schema = off"):
                    connection.execute(f"pragma {setting}")
                yield connection.execute(query)
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as problem:
            raise UnsoundError(f"it does not answer the query ({first_line(problem)})") from problem

    def _connect(self) -> sqlite3.Connection:
        """Open the file for reading only."""
        if isinstance(self._content, str):
            path = quote(str(Path(self._content).absolute()))
            return sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.deserialize(self._content)
        return connection


def _column(name: str, values: Any, dtype: pl.DataType) -> pl.Series:
    """Return values as a column."""
    if dtype == pl.String and any(isinstance(value, bytes) for value in values):
        return uuids(pl.Series(name, values, pl.Binary))
    return pl.Series(name, values, dtype, strict=False)
