"""Rows of a database as a table: which query is asked, and how its columns are picked."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, ClassVar, Final

import polars as pl

from ..errors import CallError, DataError
from .table import Table, from_batches

# The most rows to have in memory at once while they are read.
BATCH_ROWS: Final = 50_000
_FIRST_WORDS: Final = ("select", "with", "table", "values", "from")
# What a semicolon may be in without ending a statement: text, quoted names, comments.
_QUOTED: Final = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | \$(\w*)\$.*?\$\1\$""", re.DOTALL | re.VERBOSE
)
_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class Database(ABC):
    """A database that is only read.

    Attributes:
        name: What it is called in messages, without a password.
        list_tables: The query for its tables: whether the name alone is enough, the schema, the name.
    """

    name: str
    list_tables: ClassVar[str]

    @abstractmethod
    def ask(self, query: str) -> AbstractContextManager[Any]:
        """Ask a query, which can change nothing, and give its rows. Raises `UnsoundError` if there is no answer."""

    @abstractmethod
    def schema(self, query: str) -> Mapping[str, pl.DataType]:
        """Return the type of each column of a query. Raises `UnsoundError` if a column has none."""

    @abstractmethod
    def batches(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """Yield the rows of a query, some at a time; `schema` is what the method of this name returned."""

    def tables(self) -> dict[str, str]:
        """Return the names of its tables, each with how it is written in SQL."""
        with self.ask(self.list_tables) as rows:
            return quoted_tables(rows.fetchall())

    def columns(self, query: str) -> list[str]:
        """Return the names of the columns of a query."""
        with self.ask(empty(query)) as rows:
            return [column[0] for column in rows.description]

    def count(self, query: str) -> int:
        """Return how many rows a query has."""
        with self.ask(f"select count(*) from ({query}\n) as asked") as rows:
            return int(rows.fetchall()[0][0])


def empty(query: str) -> str:
    """Return a query with the same columns and no rows."""
    return f"select * from ({query}\n) as asked limit 0"


def quoted(name: str) -> str:
    """Return the name of a table or column as it is written in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quoted_tables(rows: Iterable[tuple[bool, str, str]]) -> dict[str, str]:
    """Return the names of tables, each with how it is written in SQL; `rows` are those of `Database.list_tables`.

    >>> quoted_tables([(True, "main", "votes"), (False, "old", "votes")])
    {'votes': '"votes"', 'old.votes': '"old"."votes"'}
    """
    tables: dict[str, str] = {}
    for alone, schema, name in sorted(rows, key=lambda row: not row[0]):
        shown, written = (name, quoted(name)) if alone else (f"{schema}.{name}", f"{quoted(schema)}.{quoted(name)}")
        tables.setdefault(shown, written)
    return tables


def checked(query: str) -> str:
    """Return a query without the semicolon at its end.

    Raises:
        CallError: It is not one query: only SELECT, WITH, TABLE, VALUES and FROM are, because nothing may be changed.

    >>> checked("select 1; ")
    'select 1'
    """
    code = _QUOTED.sub(lambda found: " " * len(found[0]), query).rstrip()
    end = code.rstrip("; \n\t\r")
    if ";" in end:
        raise CallError("The query has several statements: give one SELECT (or WITH, TABLE, VALUES).")
    words = _COMMENT.sub(" ", query).strip().lstrip("( ").split(None, 1)
    first = re.match(r"\w*", words[0])[0].lower() if words else ""  # type: ignore[index]
    if first not in _FIRST_WORDS:
        said = f"starts with {first.upper()[:20]!r}" if first else "is empty"
        raise CallError(f"The query {said}: only queries are asked, which start with SELECT, WITH, TABLE or VALUES.")
    return query[: len(end)].rstrip("; \n\t\r") if len(end) < len(code) else query.strip()


def open_database(database: Database, query: str | None, table: str | None) -> Table:
    """Return the rows of a query, of a table, or of the only table of a database.

    Raises:
        CallError: The query is not one, or there are several tables to choose from.
        DataError: There is no such table.
        UnsoundError: The database does not answer.
    """
    remarks: tuple[str, ...] = ()
    if query is not None:
        asked = checked(query)
    else:
        known = database.tables()
        listed = ", ".join(map(repr, list(known)[:20])) + (" and more" if len(known) > 20 else "")
        if table is None:
            if len(known) != 1:
                has = f"has the tables {listed}" if known else "has no tables"
                raise CallError(f"{database.name} {has}: name one with table (--table), or give a query (--query).")
            (table,) = known
            remarks = (f"Read the only table of {database.name}, {table!r}.",)
        elif table not in known:
            raise DataError(f"{database.name} has no table {table!r}; its tables are {listed or 'none'}.")
        asked = f"select * from {known[table]}"
    names = database.columns(asked)

    def pick(columns: Mapping[str, str]) -> pl.LazyFrame:
        wanted = ", ".join(dict.fromkeys(map(quoted, columns.values())))
        picked = f"select {wanted} from ({asked}\n) as asked"
        schema = database.schema(picked)
        types = {name: pl.String() if dtype == pl.Binary else dtype for name, dtype in schema.items()}

        def read() -> Iterator[pl.DataFrame]:
            for batch in database.batches(picked, schema):
                as_text = batch.with_columns(_uuids(column) for column in batch if column.dtype == pl.Binary)
                yield as_text.cast(pl.Schema(types))

        lazy = from_batches(read, types)
        return lazy.select(pl.col(column).alias(role) for role, column in columns.items())

    # Counted only if somebody asks, because that may take as long as the query. Parts on disk have to fit into memory,
    # so what a planner expects would not do.
    return Table(names, pick, cache(lambda: database.count(asked)), 0, remarks=remarks)


def _uuids(values: pl.Series) -> pl.Series:
    """Return bytes as the text of UUIDs, if all of them have 16 bytes. Raises `DataError` if not."""
    if (values.bin.size() != 16).any():
        raise DataError(
            f"Column {values.name!r} has bytes; ids and labels are text, numbers or times. Cast it in the query."
        )
    digits = values.bin.encode("hex")
    parts = [digits.str.slice(start, size) for start, size in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))]
    return pl.select(pl.concat_str([pl.lit(part) for part in parts], separator="-").alias(values.name)).to_series()
