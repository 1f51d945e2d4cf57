"""Labels from databases: Postgres on a real server, files of SQLite and DuckDB."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.addresses import shown_address, without_password
from crowdwise.cli.app import app
from crowdwise.sources.queries import checked

ROWS = [("007", "a", 1), ("007", "b", 2), ("8", "a", 1), ("8", "b", None)]
WORKER = UUID("6f1c0fb2-6b6f-4c7e-9f27-0c7a3f5d2b11")


@pytest.fixture(scope="module")
def server() -> str:
    """The address of a Postgres server. Tests are skipped if CROWDWISE_POSTGRES does not name one; `.ci/run` does."""
    address = os.environ.get("CROWDWISE_POSTGRES")
    if not address:
        pytest.skip("CROWDWISE_POSTGRES does not name a Postgres server")
    return address


@pytest.fixture(scope="module")
def votes(server: str) -> Iterator[str]:
    """The name of a table of the server, which is dropped afterwards."""
    from adbc_driver_postgresql import dbapi

    name = f"votes_{os.getpid()}"
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"create table {name} (item text, worker uuid, label numeric, note jsonb, time timestamptz)")
        for item, worker, label in ROWS:
            who = str(WORKER) if worker == "a" else str(UUID(int=7))
            said = "null" if label is None else label
            cursor.execute(f"insert into {name} values ('{item}', '{who}', {said}, '{{}}', now())")
        cursor.execute(f"create schema s{name}")
        cursor.execute(f"create table s{name}.more as select * from {name}")
        connection.commit()
    yield name
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(f"drop schema s{name} cascade")
        cursor.execute(f"drop table {name}")
        connection.commit()


@pytest.mark.parametrize("engine", ["memory", "auto", "disk"])
def test_postgres_by_table_and_by_query(server: str, votes: str, engine: str) -> None:
    asked: list[dict[str, Any]] = [{"table": votes}, {"query": f"select * from {votes};"}, {"table": f"s{votes}.more"}]
    for how in asked:
        labels = cw.read_labels(server, engine=engine, **how)
        assert labels.n_labels == 3
        assert labels.report.missing == 1
        assert sorted(labels.names.workers) == sorted([str(WORKER), str(UUID(int=7))])  # 16 bytes are a UUID
        assert labels.names.classes.to_list() == ["1", "2"]  # a number of any size comes as its text
        assert cw.MajorityVote().fit(labels).to_frame()["item"].sort().to_list() == ["007", "8"]
        labels.close()


def test_a_query_cannot_change_anything(server: str, votes: str) -> None:
    for query in (
        f"with gone as (delete from {votes} returning *) select * from gone",
        f"select item, worker::text, label from {votes}, lateral (select nextval('nowhere')) as x",
    ):
        with pytest.raises(cw.DataError, match="does not answer the query"):
            cw.read_labels(server, query=query)
    for query in (f"delete from {votes}", f"select 1; drop table {votes}", "", "explain analyze select 1"):
        with pytest.raises(cw.CallError, match="The query"):
            cw.read_labels(server, query=query)
    assert cw.read_labels(server, table=votes).n_labels == 3


def test_what_is_missing_is_said_in_a_sentence_without_the_password(server: str, votes: str) -> None:
    password = server.partition("://")[2].partition(":")[2].rpartition("@")[0]
    host = server.rpartition("@")[2]
    cases: list[tuple[str, dict[str, Any], str]] = [
        (server, {"table": "vots"}, f"has no table 'vots'; its tables are .*'{votes}'"),
        (server, {"query": f"select nope from {votes}"}, 'column "nope" does not exist'),
        (server, {"query": f"select item, item as worker from {votes}"}, "has no column that looks like the label"),
        (server, {}, "has the tables .*: name one with table"),
        (f"postgresql://crowd:{password}x@{host}", {"table": votes}, "password authentication failed"),
        (f"postgresql://crowd:{password}@127.0.0.1:1/db", {"table": votes}, "Connection refused"),
        (f"postgresql://crowd:{password}@nowhere.invalid/db", {"table": votes}, "nowhere.invalid"),
        (f"mysql://crowd:{password}@host/db", {"table": votes}, "no address that we read"),
    ]
    for address, how, message in cases:
        with pytest.raises((cw.DataError, cw.CallError), match=message) as problem:
            cw.read_labels(address, **how)
        assert password not in str(problem.value)
        assert problem.value.__cause__ is None or password not in str(problem.value.__cause__)


def test_bytes_that_are_no_uuid_are_refused(server: str) -> None:
    with pytest.raises(cw.DataError, match="Column 'worker' has bytes"):
        cw.read_labels(server, query="select 1 as item, '\\x00'::bytea as worker, 2 as label")


def test_the_command_line_shows_no_password(server: str, votes: str, tmp_path: Path, monkeypatch: Any) -> None:
    password = server.partition("://")[2].partition(":")[2].rpartition("@")[0]
    page = tmp_path / "report.html"
    words = ["report", server, "--table", votes, "-o", str(page)]
    monkeypatch.setattr("sys.argv", ["crowdwise", *words])
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert password not in done.output
    assert password not in page.read_text()
    assert ":***@" in page.read_text()


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    """A file of SQLite whose name says nothing."""
    path = tmp_path / "crowd.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table votes (item, worker, label)")
        connection.executemany("insert into votes values (?, ?, ?)", ROWS)
    connection.close()
    return path


@pytest.mark.parametrize("engine", ["memory", "auto", "disk"])
def test_sqlite_is_recognised_and_its_only_table_is_read(sqlite: Path, engine: str) -> None:
    labels = cw.read_labels(sqlite, engine=engine)
    assert (labels.n_labels, labels.n_items) == (3, 2)
    assert labels.names.classes.to_list() == [1, 2]
    assert "Read the only table" in labels.report.understood[0]
    assert cw.MajorityVote().fit(labels).to_frame()["item"].sort().to_list() == ["007", "8"]
    labels.close()


def test_sqlite_from_bytes_and_by_query(sqlite: Path) -> None:
    with sqlite.open("rb") as file:
        assert cw.read_labels(file).n_labels == 3
    assert cw.read_labels(sqlite, query='select item as "it""em", worker, label from votes', item='it"em').n_labels == 3
    done = CliRunner().invoke(app, ["aggregate", str(sqlite), "-m", "mv", "--json"])
    assert done.exit_code == 0
    assert '"items": 2' in done.output


def test_what_sqlite_cannot_give_is_refused(sqlite: Path) -> None:
    with sqlite3.connect(sqlite) as connection:
        connection.execute("insert into votes values (9, 'a', 1)")
        connection.execute("create table other (x)")
    connection.close()
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "has the tables 'votes', 'other': name one"),
        ({"table": "vote"}, "has no table 'vote'"),
        ({"table": "votes"}, "column 'item' has whole numbers and text; give it one type"),
        ({"query": "select * from nope"}, "no such table: nope"),
        ({"query": "pragma user_version"}, "The query starts with 'PRAGMA'"),
        ({"query": "select 1", "table": "votes"}, "either a query or a table"),
    ]
    for how, message in cases:
        with pytest.raises((cw.DataError, cw.CallError), match=message):
            cw.read_labels(sqlite, **how)
    cast = "select cast(item as text) as item, worker, label from votes"
    assert cw.read_labels(sqlite, query=cast).n_items == 3


def test_ids_of_16_bytes_in_sqlite_are_uuids(tmp_path: Path) -> None:
    path = tmp_path / "crowd.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table votes (item, worker, label)")
        connection.execute("insert into votes values (1, ?, 'x')", [WORKER.bytes])
    connection.close()
    assert cw.read_labels(path).names.workers.to_list() == [str(WORKER)]


@pytest.mark.parametrize("name", ["crowd.duckdb", "crowd"])
def test_duckdb_is_recognised_and_reads_nothing_else(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    (tmp_path / "secret.csv").write_text("item,worker,label\n1,a,x\n")
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table votes (item text, worker uuid, label int)")
        connection.executemany(
            "insert into votes values (?, ?, ?)", [("007", str(WORKER), 1), ("8", str(WORKER), None)]
        )
    for engine in ("memory", "disk"):
        labels = cw.read_labels(path, engine=engine)
        assert (labels.n_labels, labels.names.workers.to_list()) == (1, [str(WORKER)])
        labels.close()
    assert cw.read_labels(path, query="from votes").report.missing == 1
    with pytest.raises(cw.DataError, match="file system operations are disabled"):
        cw.read_labels(path, query=f"select * from read_csv('{tmp_path}/secret.csv')")
    with pytest.raises(cw.CallError, match="DELETE"):
        cw.read_labels(path, query="delete from votes")


def test_options_of_databases_are_refused_for_files(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("item,worker,label\n1,a,x\n")
    with pytest.raises(cw.CallError, match=r"table \(--table\) is for a database"):
        cw.read_labels(path, table="votes")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select ';' as item", ""),
        ("-- ; comment\nselect 1 /* ; */ ;", ""),
        ("(select 1)", ""),
        ("values (1)", ""),
        ("select $a$ ; $a$", ""),
        ("/* select */ drop table x", "DROP"),
        ("select 1; ; select 2", "several statements"),
        ("; select 1", "several statements"),
        ("selectx", "SELECTX"),
        (" ", "is empty"),
    ],
)
def test_only_one_query_is_asked(query: str, message: str) -> None:
    if not message:
        assert not checked(query).rstrip().endswith(";")
        return
    with pytest.raises(cw.CallError, match=message):
        checked(query)


@given(st.text("abc%40:/?#@ ", min_size=1), st.text("xyz", min_size=1))
def test_no_password_is_shown(password: str, user: str) -> None:
    secret = f"Q{password}Q"
    address = f"postgresql://{user}:{secret}@host/db?sslpassword={secret}"
    assert secret not in shown_address(address)
    assert secret not in without_password(f"cannot reach {address} ({secret})", address)


def test_a_quiet_command_on_a_duckdb_file_says_nothing_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "crowd.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table labels as select 1 as item, 'a' as worker, 'x' as label")
    command = [sys.executable, "-m", "crowdwise", "aggregate", str(path), "-o", str(tmp_path / "out.csv"), "--quiet"]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_sqlite_file_with_a_write_ahead_log_is_read_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "crowd.sqlite"
    writer = sqlite3.connect(path)
    writer.execute("pragma journal_mode = wal")
    writer.execute("create table votes (item, worker, label)")
    writer.executemany("insert into votes values (?, ?, ?)", ROWS)
    writer.commit()
    assert cw.read_labels(path).n_labels == 3  # which are only in the log so far
    writer.close()
    assert list(tmp_path.iterdir()) == [path]
    assert cw.read_labels(path).n_labels == 3
    with path.open("rb") as file:
        assert cw.read_labels(file).n_labels == 3
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("label", "rows", "message"),
    [
        ("hex(zeroblob(item * 10000000))", 1, "a value of more than 17 MB"),
        ("hex(zeroblob(2000000))", 40, "its rows have more than 17 MB"),
    ],
    ids=["one large value", "many values"],
)
def test_columns_of_sqlite_that_are_computed_are_bounded(
    label: str, rows: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdwise.sources.sqlite_files.available_memory", lambda: 2**26)
    path = tmp_path / "crowd.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table votes (item int, worker, label as ({label}))")
        connection.executemany("insert into votes values (?, 'a')", [(number,) for number in range(1, rows + 1)])
    connection.close()
    with pytest.raises(cw.DataError, match=message):
        cw.read_labels(path)


def test_tables_may_have_points_in_their_names_and_be_in_other_schemas(tmp_path: Path) -> None:
    files = tmp_path / "crowd.sqlite", tmp_path / "crowd.duckdb"
    libraries: tuple[Any, ...] = sqlite3, duckdb
    for path, library in zip(files, libraries, strict=True):
        connection = library.connect(str(path))
        connection.execute('create table "a.b" (item int, worker varchar, label varchar)')
        connection.execute("insert into \"a.b\" values (1, 'w', 'x')")
        if path.suffix == ".duckdb":
            connection.execute('create schema "old one"')
            connection.execute('create table "old one".votes as select item, worker, \'y\' as label from "a.b"')
        connection.commit()
        connection.close()
        assert cw.read_labels(path, table="a.b").names.classes.to_list() == ["x"]
    assert cw.read_labels(files[1], table="old one.votes").names.classes.to_list() == ["y"]
    with pytest.raises(cw.CallError, match=r"has the tables 'a\.b', 'old one\.votes': name one"):
        cw.read_labels(files[1])


def test_types_of_duckdb_that_are_no_labels_are_named(tmp_path: Path) -> None:
    path = tmp_path / "crowd.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table votes (item int, worker text, span interval, either union(n int, t text))")
        connection.execute("insert into votes values (1, 'a', interval 1 day, 3)")
    for label, dtype in (("span", "INTERVAL"), ("either", "UNION")):
        with pytest.raises(cw.DataError, match=f"column '{label}' holds {dtype}; cast it in a query, as in {label}::"):
            cw.read_labels(path, label=label)
    assert cw.read_labels(path, query="select item, worker, span::text as label from votes").n_labels == 1
