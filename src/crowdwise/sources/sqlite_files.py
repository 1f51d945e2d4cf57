"""Tables in files of SQLite, through Python's own library."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import polars as pl

from ..system import available_memory, first_line, show_size
from .queries import BATCH_ROWS, Database, open_database, quoted
from .table import Table
from .unpacking import LONGEST_LINE, Content, UnsoundError, stored_size

# How each set of SQLite's types is read; values of a column may have any of them.
_TYPES: Final[tuple[tuple[set[str], pl.DataType], ...]] = (
    ({"null"}, pl.Null()),
    ({"null", "integer"}, pl.Int64()),
    ({"null", "integer", "real"}, pl.Float64()),
    ({"null", "text"}, pl.String()),
    ({"null", "blob"}, pl.Binary()),
)
# How many rows are asked for before their bytes are counted, how many bytes a row has besides its text, and how many
# bytes are enough for a batch.
_FEW_ROWS: Final = 16
_ROW_BYTES: Final = 64
_BATCH_BYTES: Final = 2**26
_WORDS: Final = {"integer": "whole numbers", "real": "numbers", "text": "text", "blob": "bytes"}


def open_sqlite(content: Content, query: str | None, table: str | None) -> Table:
    """Return the rows of a query, or of a table, of a file of SQLite; see `queries.open_database`."""
    return open_database(_File(content), query, table)


class _File(Database):
    # Views are not among its tables.
    list_tables = (
        "select true, '', name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'"
    )

    def __init__(self, content: Content) -> None:
        self._content = content
        self.name = content if isinstance(content, str) else "The database"

    def schema(self, query: str) -> dict[str, pl.DataType]:
        """Return the type of each column, by the types of all its values."""
        names = self.columns(query)
        of_each = ", ".join(f"typeof({quoted(name)})" for name in names)
        with self.ask(f"select distinct {of_each} from ({query}\n)") as rows:
            kinds_of = [set(kinds) for kinds in zip(*rows.fetchall(), strict=True)] or [set()] * len(names)
        types: dict[str, pl.DataType] = {}
        for name, kinds in zip(names, kinds_of, strict=True):
            dtype = next((dtype for known, dtype in _TYPES if kinds <= known), None)
            if dtype is None:
                said = " and ".join(_WORDS[kind] for kind in sorted(kinds - {"null"}))
                raise UnsoundError(f"column {name!r} has {said}; give it one type, as in cast({name} as text)")
            types[name] = dtype
        return types

    def batches(self, query: str, schema: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self.ask(query) as rows:
            texts = [at for at, dtype in enumerate(schema.values()) if dtype in (pl.String, pl.Binary)]
            for some in self._bounded(rows, texts):
                columns = zip(schema.items(), zip(*some, strict=True), strict=True)
                yield pl.DataFrame([pl.Series(name, values, dtype, strict=False) for (name, dtype), values in columns])

    def _bounded(self, rows: Any, texts: Sequence[int]) -> Iterator[list[Any]]:
        """Yield some rows at a time, with text or bytes in these columns. Raises `UnsoundError` if they do not fit.

        A column may be computed from others, so that a file of some kilobytes has gigabytes to read.
        """
        room = max(stored_size(self._content), available_memory() // 4)
        some: list[Any] = []
        size = total = 0
        while few := rows.fetchmany(_FEW_ROWS):
            some += few
            size += _ROW_BYTES * len(few)
            size += sum(len(row[at]) for at in texts for row in few if row[at] is not None)
            if total + size > room:
                raise UnsoundError(f"its rows have more than {show_size(room)}; write what is needed to a file")
            if len(some) >= BATCH_ROWS or size > _BATCH_BYTES:
                yield some
                some, total, size = [], total + size, 0
        if some:
            yield some

    @contextmanager
    def ask(self, query: str) -> Iterator[Any]:
        try:
            with closing(self._connect()) as connection:
                for setting in ("query_only = on", "trusted_schema = off"):
                    connection.execute(f"pragma {setting}")
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
                yield connection.execute(query)
        except sqlite3.DataError as problem:
            raise UnsoundError(f"it has a value of more than {show_size(LONGEST_LINE)}") from problem
        except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as problem:
            raise UnsoundError(f"it does not answer the query ({first_line(problem)})") from problem

    def _connect(self) -> sqlite3.Connection:
        """Open the file for reading only.

        SQLite writes files beside one with a write-ahead log, unless it is told that the file does not change. That
        would leave out what only a log or a journal beside it has, so it is told so only where there is none.
        """
        if isinstance(self._content, str):
            path = Path(self._content).absolute()
            logs = [path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-journal")]
            settled = not any(log.exists() and log.stat().st_size for log in logs)
            mode = "mode=ro&immutable=1" if settled else "mode=ro"
            return sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, check_same_thread=False)
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        # The two bytes say that there is a write-ahead log, which bytes cannot have.
        whole = self._content[18:20] != b"\2\2"
        connection.deserialize(self._content if whole else self._content[:18] + b"\1\1" + self._content[20:])
        return connection
