"""Tests of reading every file format, and of files that cannot be read; test_writing.py has the way out."""

import gzip
import io
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pytest

import crowdwise as cw
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.output import writers
from crowdwise.platforms import PLATFORMS, REFUSED
from crowdwise.platforms.platform import Platform
from crowdwise.reading import registry
from crowdwise.sources import formats
from crowdwise.sources.input import Input
from crowdwise.sources.paths import inputs_of
from crowdwise.sources.rows import Rows, open_rows
from crowdwise.sources.unpacking import Compression
from tests.support.commands import run

ROWS = pl.DataFrame({"item": ["007", "007", "8"], "worker": ["a", "b", "a"], "label": ["x", "y", "x"]})

WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "labels.csv": lambda frame, path: frame.write_csv(path),
    "labels.tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "semicolons.csv": lambda frame, path: frame.write_csv(path, separator=";"),
    "labels.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.write_csv().encode())),
    "labels.csv.zst": lambda frame, path: frame.write_csv(path, compression="zstd"),
    "labels.jsonl": lambda frame, path: frame.write_ndjson(path),
    "labels.jsonl.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.write_ndjson().encode())),
    "labels.ndjson.zst": lambda frame, path: frame.write_ndjson(path, compression="zstd"),
    "labels.parquet": lambda frame, path: frame.write_parquet(path),
    "labels.arrow": lambda frame, path: frame.write_ipc(path),
    "stream.arrow": lambda frame, path: frame.write_ipc_stream(path),
    "no_extension_stream": lambda frame, path: frame.write_ipc_stream(path),
    "empty_lines.csv": lambda frame, path: path.write_text(frame.write_csv().replace("\n8", "\n\n8") + "\n\n"),
    "no_extension_csv": lambda frame, path: frame.write_csv(path),
    "no_extension_parquet": lambda frame, path: frame.write_parquet(path),
    "no_extension_arrow": lambda frame, path: frame.write_ipc(path),
    "no_extension_json": lambda frame, path: frame.write_ndjson(path),
}


def scan(source: Any, roles: Any) -> Rows:
    (one,) = inputs_of(source, ReadOptions())
    return open_rows(one, roles, ReadOptions())


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_read_alike(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](ROWS, path)
    labels = cw.read_labels(path)
    assert labels.names.items.to_list() == ["007", "8"]
    assert labels.names.classes.to_list() == ["x", "y"]
    with path.open("rb") as file:
        assert cw.read_labels(file).n_labels == 3


def test_columns_are_recognised_in_any_case_or_given(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("note,Rater,VALUE,Question ID\nn,a,x,1\nn,b,y,1\n")
    assert cw.read_labels(path).report.columns == {"item": "Question ID", "worker": "Rater", "label": "VALUE"}
    assert cw.read_labels(path, item="note").names.items.to_list() == ["n"]


def test_integers_in_text_become_integers_only_if_all_are(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,worker,label\n10,007,1\n9,7,0\n9223372036854775807,8,10\n")
    names = cw.read_labels(path).names
    assert names.items.to_list() == [10, 9, 2**63 - 1]
    assert names.workers.to_list() == ["007", "7", "8"]
    assert names.classes.to_list() == [0, 1, 10]
    path.write_text("item,worker,label\n9223372036854775808,1,x\n1,1,x\n")
    assert cw.read_labels(path).names.items.to_list() == ["9223372036854775808", "1"]


def test_quotes_newlines_byte_order_mark_and_empty_labels(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b'\xef\xbb\xbfitem,worker,label\r\n"a, ""b""",w1,x\r\n"two\nlines",w1,\r\n"two\nlines",w2,y\r\n')
    labels = cw.read_labels(path)
    assert labels.names.items.to_list() == ['a, "b"', "two\nlines"]
    assert labels.report.missing == 1


def test_several_files_and_a_glob_are_one_crowd(tmp_path: Path) -> None:
    ROWS.head(1).write_csv(tmp_path / "part1.csv")
    ROWS.tail(2).write_csv(tmp_path / "part2.csv", separator=";")
    whole = cw.Labels.from_frame(ROWS)
    for source in (str(tmp_path / "part*.csv"), [tmp_path / "part1.csv", tmp_path / "part2.csv"]):
        labels = cw.read_labels(source)
        assert labels.n_labels == 3
        assert labels.names.items.to_list() == whole.names.items.to_list()
    numbers = pl.DataFrame({"item": [1, 2], "worker": [1, 1], "label": [0, 1]})
    numbers.write_parquet(tmp_path / "a.parquet")
    numbers.with_columns(worker=2).cast(pl.Int32).write_parquet(tmp_path / "b.parquet")
    numbers.with_columns(worker=3).write_csv(tmp_path / "c.csv")
    mixed = cw.read_labels([tmp_path / name for name in ("a.parquet", "b.parquet", "c.csv")])
    assert mixed.names.workers.to_list() == [1, 2, 3]
    numbers.rename({"item": "task"}).with_columns(worker=4).write_csv(tmp_path / "d.csv")
    assert cw.read_labels([tmp_path / "c.csv", tmp_path / "d.csv"]).report.columns["item"] == "item or task"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "There is no file"),
        ("none*.csv", None, "There is no file"),
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"item,worker,label\n", "has no rows"),
        ("nulls.csv", b"item,worker,label\n1,a,\n2,b,\n", "All 2 rows are without a label"),
        (
            "other.csv",
            b"a,b,c\n1,2,3\n",
            "has no column that looks like the item, the worker or the label; its columns are 'a', 'b', 'c'",
        ),
        ("ragged.csv", b"item,worker,label\n1,a,x\n2,b,y,z\n", "does not read as CSV"),
        (
            "latin.csv",
            "item,worker,label\n1,a,caf\xe9\n".encode("latin-1"),
            "line 2 has the byte 0xE9, which is not",
        ),
        ("not.parquet", b"item,worker,label\n1,a,x\n", "does not read as Parquet"),
        ("not.arrow", b"item,worker,label\n1,a,x\n", "does not read as Arrow IPC"),
        ("not.jsonl", b"item,worker,label\n1,a,x\n", "does not read as JSON lines"),
        ("broken.jsonl", b'{"item":1,"worker":1,"label":1}\n{"item":2,"wor', "does not read as JSON lines"),
        ("broken.csv.gz", b"\x1f\x8b\x08\x00broken", "its gzip data are damaged or cut off"),
        ("array.json", b'[{"item":1,"worker":1,"label":1}', "its array is not closed at the end; it may be cut off"),
        (
            "mixed.jsonl",
            b'{"item":"a","worker":1,"label":"x"}\n{"item":7,"worker":1,"label":"y"}\n',
            "'item' has mixed types: text in line 1, a whole number in line 2",
        ),
    ],
)
def test_bad_files_get_one_sentence(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(cw.DataError, match=message) as problem:
        cw.read_labels(path)
    assert "\n" not in str(problem.value)


def test_a_truncated_parquet_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    cw.simulate(1000, 10, seed=1).rows.write_parquet(path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(cw.DataError, match="does not read as Parquet"):
        cw.read_labels(path)


def test_a_folder_is_the_tables_in_it(tmp_path: Path) -> None:
    with pytest.raises(cw.DataError, match="has no file whose extension says a format that we read"):
        cw.read_labels(tmp_path)
    for name in ("b.csv", "a.csv", "_SUCCESS", ".hidden.csv", "notes"):
        (tmp_path / name).write_text(f"item,worker,label\n{name},w,x\n")
    assert cw.read_labels(tmp_path).names.items.to_list() == ["a.csv", "b.csv"]


def test_mixed_types_between_files_are_said(tmp_path: Path) -> None:
    pl.DataFrame({"item": [1], "worker": [1], "label": [1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"item": ["x"], "worker": [1], "label": [1]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(cw.DataError, match=r"The item is of mixed types: whole numbers in .*a\.parquet, text in"):
        cw.read_labels(str(tmp_path / "*.parquet"))


def test_truth_is_read_from_files_tables_and_mappings(tmp_path: Path) -> None:
    expected = [(1, "x"), (2, "y")]
    path = tmp_path / "truth.csv"
    path.write_text("Item,Gold\n1,x\n2,y\n2,y\n3,\n")
    assert [(int(i), k) for i, k in cw.read_truth(path).rows()] == expected
    assert cw.read_truth(pl.DataFrame({"task": [1, 2], "label": ["x", "y"]})).rows() == expected
    assert cw.read_truth({1: "x", 2: "y"}).rows() == expected
    assert cw.read_truth(io.BytesIO(path.read_bytes())).height == 2
    with pytest.raises(cw.DataError, match="more than one truth for 1 item; first: item '2' is 'y' and 'z'"):
        cw.read_truth(pl.DataFrame({"item": [1, 2, 2], "truth": ["x", "y", "z"]}))
    with pytest.raises(cw.DataError, match="has no truth in it"):
        cw.read_truth(pl.DataFrame({"item": [1], "truth": [None]}))
    (tmp_path / "other.csv").write_text("item,truth\n1,z\n")  # each file is sound, and both together are not
    with pytest.raises(cw.DataError, match=re.escape(f"{tmp_path} has more than one truth for 1 item")):
        cw.read_truth(tmp_path)


def read_hex(one: Input) -> pl.LazyFrame:
    content = Path(one.content).read_bytes() if isinstance(one.content, str) else one.content
    return pl.read_parquet(io.BytesIO(bytes.fromhex(content.removeprefix(b"HEX:").decode()))).lazy()


def write_hex(table: pl.LazyFrame, file: IO[bytes], compression: Compression) -> None:
    assert compression == "uncompressed"
    parquet = io.BytesIO()
    table.collect().write_parquet(parquet)
    file.write(b"HEX:" + parquet.getvalue().hex().encode())


@pytest.mark.usefixtures("workdir")
def test_a_format_is_added_as_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = formats.Format("Hex", (".hex",), read_hex, lambda one: one.stored_head.startswith(b"HEX:"))
    monkeypatch.setattr(formats, "FORMATS", (row, *formats.FORMATS))
    monkeypatch.setattr(registry, "READERS", (row, *registry.READERS))
    monkeypatch.setitem(writers.WRITERS, row, writers.Writer(write_hex))
    labels, truth = tmp_path / "labels.hex", tmp_path / "truth.hex"
    cw.write({labels: ROWS})
    assert labels.read_bytes().startswith(b"HEX:")
    no_extension = labels.with_suffix("")
    no_extension.write_bytes(labels.read_bytes())
    for source in (labels, no_extension, io.BytesIO(labels.read_bytes()), tmp_path):
        assert cw.read_labels(source).names.items.to_list() == ["007", "8"]
    for engine in ("auto", "disk"):
        assert cw.read_labels(labels, engine=engine).n_labels == 3
    cw.write({truth: cw.MajorityVote().fit(cw.read_labels(labels)).to_frame()})
    assert cw.read_truth(truth, truth="label").rows() == [("007", "x"), ("8", "x")]
    with pytest.raises(cw.CallError, match=r"end it in \.csv, .*\.feather, .*\.hex; text may be compressed"):
        cw.write({tmp_path / "labels.hex.gz": ROWS})
    with pytest.raises(cw.CallError, match=r"Spark reads and writes Parquet, JSON lines, TSV, CSV\.$"):
        formats.spark_format_of("s3a://crowd/labels.hex")
    labels.write_bytes(b"HEX:00")
    with pytest.raises(cw.DataError, match="does not read as Hex"):
        cw.read_labels(labels)


def test_an_extension_means_one_format_and_every_reader_is_in_one_list() -> None:
    names = [name for row in formats.FORMATS for name in (row.name, *row.extensions)]
    assert len(set(names)) == len(names)
    keys = [one.key if isinstance(one, Platform) else one.name for one in registry.READERS]
    assert len(set(keys)) == len(keys) == len(formats.FORMATS) + len(PLATFORMS) + len(REFUSED) + 1  # and cloud storages
    assert registry.READERS[-1] is formats.CSV  # takes any text


def test_a_tsv_file_that_does_not_read_is_called_csv_because_its_delimiter_is_found_out(tmp_path: Path) -> None:
    path = tmp_path / "ragged.tsv"
    path.write_text("item,worker,label\n1,a,x\n2,b,y,z\n")
    with pytest.raises(cw.DataError, match="does not read as CSV"):
        cw.read_labels(path)


@pytest.mark.parametrize("name", ["m[1].jsonl", "m[1].csv", "m?.parquet", "m*.arrow"])
def test_a_path_that_exists_is_that_path_and_no_pattern(name: str, tmp_path: Path) -> None:
    rows = cw.simulate(10, 5, 2, seed=1).rows
    cw.write(
        {tmp_path / name: rows, tmp_path / name.replace("[1]", "1").replace("?", "2").replace("*", "3"): rows.head(5)}
    )
    assert cw.read_labels(tmp_path / name).report.rows == rows.height


def test_truth_in_several_files_is_read_from_all(tmp_path: Path) -> None:
    truth = cw.simulate(10, 5, 2, seed=1).truth
    cw.write({tmp_path / "a.csv": truth.head(4), tmp_path / "b.csv": truth.tail(6)})
    for source in (tmp_path, str(tmp_path / "*.csv")):
        assert cw.read_truth(source).sort("item").equals(truth.sort("item"))


def refuse(*_: Any) -> Any:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        pytest.param("dangling.csv", "dangling.csv is a link to .*nowhere, which does not exist", id="dangling link"),
        pytest.param("*ling.csv", "dangling.csv is a link to .*nowhere, which does not exist", id="matched link"),
        pytest.param("loop", "loop cannot be read: Too many levels of symbolic links", id="loop"),
        pytest.param("long" * 1000, r"^.{90,}\.\.\..{90,} cannot be read: File name too long", id="long name"),
        pytest.param("long" * 100 + "*", "There is no file", id="long pattern"),
        pytest.param("a\0b", "cannot be read: embedded null byte", id="NUL"),
        pytest.param("socket", "socket is a device or a socket", id="socket"),
        pytest.param("/dev/zero", "/dev/zero is a device or a socket", id="endless device"),
        pytest.param("/dev/null", "/dev/null is a device or a socket", id="null device"),
        pytest.param("secret.csv", "secret.csv may not be read: permission denied", id="unreadable file"),
        pytest.param("s*.csv", "secret.csv may not be read: permission denied", id="unreadable match"),
        pytest.param("locked", "locked cannot be read: Permission denied", id="unreadable folder"),
        pytest.param("secret.csv/", "There is no file .*secret.csv/", id="file with a slash"),
        pytest.param("caf\udce9.csv", r"There is no file .*caf\\xe9.csv", id="not UTF-8"),
    ],
)
def test_a_path_that_cannot_be_read_gets_one_sentence(
    path: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "locked").mkdir()
    (tmp_path / "secret.csv").write_text("item,worker,label\n1,a,x\n")
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        monkeypatch.setattr(Path, "iterdir", refuse)
        monkeypatch.setattr(os, "access", lambda *_: False)
        for read in (cw.read_labels, cw.read_truth):
            with pytest.raises(cw.DataError, match=message) as problem:
                read(f"{tmp_path}/{path}" if path[0] != "/" else path)
            assert len(str(problem.value)) < 500


@pytest.mark.parametrize(
    ("source", "message"),
    [
        pytest.param(None, "A NoneType is no input", id="nothing"),
        pytest.param([b"a.csv"], "A bytes is no input", id="bytes"),
        pytest.param([], "No file was given", id="no file"),
        pytest.param(io.StringIO("item,worker,label"), "open it in binary mode", id="text"),
    ],
)
def test_what_is_no_source_gets_one_sentence(source: Any, message: str) -> None:
    with pytest.raises(cw.CallError, match=message):
        cw.read_labels(source)


@pytest.mark.parametrize(
    ("pattern", "items"),
    [("x*", ["0", "1"]), ("**", ["0", "1", "2"]), ("**/*.csv", ["0", "1", "2"]), ("xfolder/", ["1"])],
)
def test_a_pattern_is_its_files_and_the_tables_in_its_folders_each_once(
    pattern: str, items: list[str], tmp_path: Path
) -> None:
    for number, name in enumerate(["x.csv", "xfolder/1.csv", "y/z/2.csv"]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"item,worker,label\n{number},a,x\n")
    labels = cw.read_labels(f"{tmp_path}/{pattern}")
    assert sorted(map(str, labels.names.items)) == items
    assert labels.report.repeated == 0


@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("engine", ["memory", "auto", "disk"])
def test_pipes_and_names_that_are_not_utf8_are_read_as_standard_input_is(engine: str, tmp_path: Path) -> None:
    pipe, strange = tmp_path / "pipe", Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    os.mkfifo(pipe)
    WRITERS["labels.csv.gz"](ROWS, strange)
    writer = threading.Thread(target=lambda: pipe.write_bytes(strange.read_bytes()))
    writer.start()
    assert cw.read_labels(pipe, engine=engine).names.workers.to_list() == ["a", "b"]
    assert cw.read_labels(strange, engine=engine).names.workers.to_list() == ["a", "b"]
    writer.join()


def test_a_stream_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdwise.sources.paths.available_memory", lambda: 1 << 22)
    with Path("/dev/zero").open("rb") as zeros, pytest.raises(cw.DataError, match="The input is a device"):
        cw.read_labels(zeros)
    with pytest.raises(cw.DataError, match=r"The input has more than 2\.1 MB, half of the free memory"):
        cw.read_labels(io.BytesIO(bytes(1 << 22)))


@pytest.mark.parametrize("change", [lambda path: path.write_text("item\n"), Path.unlink], ids=["written", "removed"])
def test_a_file_that_changes_while_it_is_read_is_refused(change: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    ROWS.write_csv(path)
    opened = scan(path, {"item": None, "worker": None, "label": None})
    batches = opened.batches(1)
    assert next(batches).height
    change(path)
    with pytest.raises(cw.DataError, match=r"was changed while it was read|cannot be read: No such file"):
        list(batches)


# Each of these is a value by which one and the same id is written in two files, and the type in which they are read.
TYPES: dict[str, tuple[pl.Series, pl.Series, Any]] = {
    "enums": (
        pl.Series(["a"], dtype=pl.Enum(["a", "b"])),
        pl.Series(["a"], dtype=pl.Enum(["c", "a"])),
        pl.String(),
    ),
    "category and text": (pl.Series(["a"], dtype=pl.Categorical), pl.Series(["a"]), pl.String()),
    "decimals": (
        pl.Series(["1.50"]).cast(pl.Decimal(5, 2)),
        pl.Series(["1.5"]).cast(pl.Decimal(9, 1)),
        pl.Decimal(38, 2),
    ),
    "units": (
        pl.Series([datetime(2020, 1, 1)]).cast(pl.Datetime("ms")),
        pl.Series([datetime(2020, 1, 1)]).cast(pl.Datetime("ns")),
        pl.Datetime("ns"),
    ),
    "integers": (pl.Series([1], dtype=pl.UInt64), pl.Series([1], dtype=pl.Int8), pl.Int128()),
}


@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("name", TYPES)
def test_types_that_differ_between_files_have_a_common_one(name: str, engine: str, tmp_path: Path) -> None:
    first, second, common = TYPES[name]
    for number, item in enumerate((first, second)):
        pl.DataFrame({"item": item, "worker": [number], "label": ["x"]}).write_parquet(tmp_path / f"{number}.parquet")
    labels = cw.read_labels(tmp_path, engine=engine)
    assert labels.n_items == 1
    if engine == "memory":
        assert labels.names.items.dtype == common


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        pytest.param(pl.Float32, pl.Float64, "mixed types: Float32 in .*0.parquet, Float64 in", id="floats"),
        pytest.param(pl.Date, pl.Datetime("us"), "mixed types: Date in .* times without a zone in", id="dates"),
        pytest.param(pl.Int64, pl.Boolean, "mixed types: whole numbers in .* Boolean in", id="booleans"),
        pytest.param(
            pl.Datetime("us", "UTC"),
            pl.Datetime("us", "Asia/Tokyo"),
            "times in UTC in .* times in Asia/Tok",
            id="zones",
        ),
    ],
)
def test_types_that_cannot_be_mixed_are_said(first: Any, second: Any, message: str, tmp_path: Path) -> None:
    for number, dtype in enumerate((first, second)):
        item = pl.Series([1]).cast(dtype)
        pl.DataFrame({"item": item, "worker": ["a"], "label": ["x"]}).write_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(cw.DataError, match=message):
        cw.read_labels(tmp_path)


@pytest.mark.parametrize(
    "values",
    [[[1]], [{"a": 1}], [b"\xff"], [timedelta(1)], pl.Series([[1]], dtype=pl.Array(pl.Int64, 1))],
    ids=["list", "struct", "binary", "duration", "array"],
)
@pytest.mark.parametrize("role", ["item", "worker", "label"])
def test_types_that_are_no_ids_are_said_before_anything_is_read(role: str, values: Any, tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    pl.DataFrame({"item": [1], "worker": [1], "label": [1]} | {role: values}).write_parquet(path)
    with pytest.raises(cw.DataError, match=f"holds .* in column '{role}'; ids and labels are text, numbers"):
        cw.read_labels(path, missing=["x"])
    if role != "worker":
        with pytest.raises(cw.DataError, match=f"holds .* in column '{role}'; ids and labels are text, numbers"):
            cw.read_truth(path)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(pl.DataFrame.write_parquet, id="Parquet"),
        pytest.param(pl.DataFrame.write_ipc, id="Arrow file"),
        pytest.param(partial(pl.DataFrame.write_ipc_stream, compression="zstd"), id="Arrow stream"),
    ],
)
def test_a_damaged_file_is_read_or_refused_and_the_command_line_prints_no_panic(
    write: Callable[[pl.DataFrame, Any], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    buffer = io.BytesIO()
    write(cw.simulate(20, 5, 3, seed=1).rows.cast(pl.String), buffer)
    content, random = buffer.getvalue(), Random(5)  # of which each format has some that panic
    path = tmp_path / ("labels.parquet" if content.startswith(b"PAR1") else "labels.arrow")
    panics = None
    for _ in range(150):
        damaged = bytearray(content)
        damaged[random.randrange(len(content))] ^= 1 << random.randrange(8)
        path.write_bytes(damaged)
        with suppress(cw.DataError):
            cw.read_labels(path, duplicates="first")
        panics = bytes(damaged) if "panicked at" in capfd.readouterr().err else panics
    if panics is None:
        pytest.skip(f"polars {pl.__version__} does not panic on these")
    path.write_bytes(panics)
    done = run("aggregate", path, "--duplicates", "first", "-m", "mv")
    assert done.returncode in (0, 1)
    assert "panicked" not in done.stderr


def test_reading_leaves_standard_error_as_it_is() -> None:
    """A notebook or a log must get whatever is printed meanwhile, the last words of a crash among it."""
    seen = []

    class Watched(io.BytesIO):
        def read(self, *size: Any) -> bytes:
            seen.append((os.fstat(2), sys.stderr))
            return super().read(*size)

    before = (os.fstat(2), sys.stderr)
    cw.read_labels(Watched(b"item,worker,label\nx,1,a\n"))
    assert seen == [before] * len(seen) != []


def damaged_count(path: Path, count: bytes) -> None:
    # 100 rows: the number is the first field of the header of a page of data, as 200 in two bytes of seven bits.
    pl.DataFrame({"item": range(100), "worker": ["a"] * 100, "label": ["x"] * 100}).write_parquet(
        path, compression="uncompressed", statistics=False
    )
    content = path.read_bytes()
    where = content.index(b"\x2c\x15\xc8\x01")
    path.write_bytes(content[: where + 2] + b"\xc9" + count + content[where + 4 :])


@pytest.mark.parametrize("count", [b"\x9f", b"\x01"], ids=["huge", "negative"])
def test_a_count_in_a_parquet_page_that_cannot_be_is_refused(count: bytes, tmp_path: Path) -> None:
    damaged_count(tmp_path / "labels.parquet", count)
    with pytest.raises(cw.DataError, match="does not read as Parquet: the header of a page is damaged"):
        cw.read_labels(tmp_path / "labels.parquet")


@pytest.mark.slow
def test_polars_alone_ends_the_program_on_a_negative_count_in_a_parquet_page(tmp_path: Path) -> None:
    """If this fails, polars has mended it: parquet_pages.py can go, once that version is the oldest that we take."""
    damaged_count(tmp_path / "labels.parquet", b"\x01")
    code = "import sys, polars\ntry:\n    polars.read_parquet(sys.argv[1])\nexcept BaseException:\n    pass"
    command = [sys.executable, "-c", code, str(tmp_path / "labels.parquet")]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_types_that_polars_does_not_read_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "votes.arrow"
    wide = pa.array([Decimal("1.5")], pa.decimal256(50, 2))
    table = pa.table([pa.array([1]), pa.array(["a"]), wide, wide], names=["item", "worker", "label", "label"])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write(table)
    with pytest.raises(cw.DataError, match="or has a column of a type that polars does not read"):
        cw.read_labels(path)
    with pytest.raises(cw.DataError, match="Give each column a name of its own, and one type"):
        cw.read_labels(table)
