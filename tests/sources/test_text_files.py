"""Text files are read as the standard library reads them, or refused: CSV against `csv`, JSON lines against `json`."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import crowdwise as cw
from crowdwise.cli.app import app
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.sources import unpacking
from crowdwise.sources.paths import inputs_of
from crowdwise.sources.rows import Rows, open_rows
from tests.support.cases import examples

ROLES = {"item": None, "worker": None, "label": None}
HEAD = b"item,worker,label\n"

# What text files stumble over: quotes, delimiters, line ends, spaces, escapes, letters of several bytes.
LETTERS = st.sampled_from([*"ab107", '"', '""', *",;\t|", "\n", "\r", "\r\n", " ", "é", "😀", "\\", "#"])
FIELDS = st.lists(LETTERS, max_size=4).map("".join)
DAMAGE = st.tuples(st.integers(0), st.sampled_from(["", '"', ",", "\n", "\r", "\r\n", "a", '"a', "\0"]), st.booleans())


def scan(source: Any, roles: Any) -> Rows:
    (one,) = inputs_of(source, ReadOptions())
    return open_rows(one, roles, ReadOptions())


def damaged(text: str, damages: list[tuple[int, str, bool]]) -> str:
    """Put something in the text, in the place of a letter or between two."""
    for number, instead, replaced in damages:
        at = number % (len(text) + 1)
        text = text[:at] + instead + text[at + replaced :]
    return text


def read(content: bytes | Path) -> list[tuple[Any, ...]] | str:
    """Every row of a file, read whole and in batches; or the sentence that refuses it."""
    try:
        source = scan(io.BytesIO(content) if isinstance(content, bytes) else content, ROLES)
        rows = source.collect().rows()
        in_batches = [row for batch in source.batches(2) for row in batch.rows()]
    except cw.DataError as problem:
        said = str(problem)
    else:
        assert in_batches == rows
        return rows
    assert len(said) < 500
    assert "\n" not in said
    return said


def by_csv(text: str, delimiter: str) -> list[list[str]] | None:
    """The rows as the standard library reads them; None if it refuses them."""
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error:
        return None


@examples(150)
@given(
    st.lists(st.tuples(FIELDS, FIELDS, FIELDS, FIELDS), max_size=5),
    st.sampled_from(",\t;|"),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(DAMAGE, max_size=2),
)
def test_csv_is_read_as_the_standard_library_reads_it_or_refused(
    rows: list[Any], delimiter: str, quoting: Any, line_end: str, damages: list[Any]
) -> None:
    written = io.StringIO(newline="")
    writer = csv.writer(written, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerows([[*ROLES, "note"], *rows])
    text = damaged(written.getvalue(), damages)
    found = read(text.encode())
    expected = by_csv(text, delimiter)
    if isinstance(found, str):
        # The writer does not quote every CR. Without damage and CR, nothing is refused but a table without rows.
        assert damages or "carriage return" in found or "has no rows" in found
        return
    names = [name.strip().lower() for name in expected[0]] if expected else []
    if expected is None or not set(ROLES) <= set(names):  # damage made another delimiter of it
        return
    assert {len(row) for row in expected} == {len(names)}
    wanted = [[row[names.index(role)] for role in ROLES] for row in expected[1:]]
    assert [[value or "" for value in row] for row in found if any(row)] == [row for row in wanted if any(row)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(b'item,worker,label\n1,a,"x\n2,b,y\n', "the quote that opens in line 2 is not closed", id="open"),
        pytest.param(b'item,"worker,label\n1,a,x\n', "the quote that opens in line 1 is not closed", id="open header"),
        pytest.param(HEAD + b'1,"a"b,x\n', "line 2 has text after a closing quote", id="text after a quote"),
        pytest.param(HEAD + b'1,"a" ,x\n', "line 2 has text after a closing quote", id="space after a quote"),
        pytest.param(HEAD + b'1,5" nail,x\n2,6",y\n', [("1", '5" nail', "x"), ("2", '6"', "y")], id="no quoting"),
        pytest.param(HEAD + b'1,a,x\n2,5" nail,"x"\n', "line 3 has a quote in a field that does not", id="both"),
        pytest.param(HEAD + b'1,a,""\n2,b,\n', [("1", "a", ""), ("2", "b", None)], id="empty"),
        pytest.param(HEAD + b'1,a,""""\n', [("1", "a", '"')], id="a quote alone"),
        pytest.param(HEAD + b'"1\r",a,x\n1,b,x\n', [("1\r", "a", "x"), ("1", "b", "x")], id="quoted CR"),
        pytest.param(HEAD + b"1\r,a,x\n1,b,x\n", "line 2 has a carriage return", id="lone CR"),
        pytest.param(b"item,worker,label\r1,a,x\r", "line 1 has a carriage return", id="CR only"),
        pytest.param(HEAD + b"1,a,x\r\n\r\n\n2,b,y", [("1", "a", "x"), ("2", "b", "y")], id="ends"),
        pytest.param(b"\n\r\n\n", "only empty lines", id="newlines"),
        pytest.param(b'\xef\xbb\xbf"item",worker,label\n1,a,x\n', [("1", "a", "x")], id="byte order mark"),
        pytest.param("item,worker,label\n1,a,x\n".encode("utf-16"), "it is text in UTF-16", id="UTF-16"),
        pytest.param(HEAD + b"1,a,x\n2,b,y\0\n", "line 3 has a NUL byte", id="NUL"),
        pytest.param(HEAD + b"1,a,x\n2,b,\xe9\n", "line 3 has the byte 0xE9", id="Latin-1"),
        pytest.param(HEAD + b"1,a,x\n2,b\n", "line 3 has 2 fields, and the first line has 3", id="short"),
        pytest.param(HEAD + b"1,a\n2,b,y,z\n", "line 2 has 2 fields", id="short and long"),
        pytest.param(HEAD + b'"a\nb",a,x\n1,2,3,4\n', "line 4 has 4 fields", id="long, after a row of two lines"),
        pytest.param(b"item,item,worker,label\n1,2,a,x\n", "has 2 columns 'item'; rename all but one", id="name twice"),
        pytest.param(b"item,n,n,worker,label\n1,,,a,x\n", [("1", "a", "x")], id="another name twice"),
        pytest.param(b'item;"worker, id";label\n1;a;x\n', "no column that looks like the worker", id="delimiters"),
        pytest.param(b" item ,worker, label\n 1 , a, x\n", [(" 1 ", " a", " x")], id="spaces"),
    ],
)
def test_csv_by_hand(content: bytes, expected: Any) -> None:
    found = read(content)
    assert expected in found if isinstance(expected, str) else found == expected


def test_a_doubled_quote_in_a_name_is_one_quote(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('item,worker,"lab""el",lab(el\n1,a,x,y\n')
    for name, expected in (('lab"el', "x"), ("lab(el", "y")):
        assert cw.read_labels(path, label=name).names.classes.to_list() == [expected]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b'7,a,"x\n', "the quote that opens in line 100,002 is not closed"),
        (b"7,a\n", "line 100,002 has 2 fields"),
        (b"7\r,a,x\n", "line 100,002 has a carriage return"),
        (b"7,\xff,x\n", "line 100,002 has the byte 0xFF"),
        (b"7,a,x,y\n1,b\n", "line 100,002 has 4 fields"),
    ],
)
def test_the_line_is_counted_over_all_pieces(row: bytes, message: str) -> None:
    found = read(HEAD + b"1,a,x\n" * 100_000 + row + b"2,b,y\r\n" * 50_000)
    assert isinstance(found, str)
    assert message in found


def test_a_short_and_a_long_row_are_refused_although_only_other_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = "1,a,y,note\n" * 100_000
    path.write_text(f"item,worker,label,note\n{rows}2,x,n\n2,b,extra,more,\n{rows}")
    with pytest.raises(cw.DataError, match="line 100,002 has 3 fields, and the first line has 4"):
        cw.read_labels(path)


def test_rows_over_several_lines_are_read_in_any_piece() -> None:
    values = ['a\n"b', "plain", "", "1,2", "\r\n", "é\n"]
    rows = [(str(number), values[number % 5], values[number % 6]) for number in range(30_000)]
    written = io.StringIO(newline="")
    csv.writer(written).writerows([list(ROLES), *rows])
    found = scan(io.BytesIO(written.getvalue().encode()), ROLES)
    assert [tuple(value or "" for value in row) for row in found.collect().rows()] == rows
    assert found.size() == (30_000, len(written.getvalue().encode()))


WHOLE = ["0", "-0", "1", "9007199254740992"]
VALUES = {
    "text": ['"a"', '"1"', '""', '"\\u00e9"', '"é"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\\\"', '"\\""', '"true"'],
    "whole": WHOLE,
    "large": [*WHOLE, "9007199254740993", "9223372036854775807", "-9223372036854775808"],
    "huge": [*WHOLE, "9223372036854775808", "-18446744073709551616"],
    "numbers": [*WHOLE, "1.0", "0.10", "1e5", "-2.5E-3", "5e-324"],
    "large numbers": ["9007199254740993", "1.0"],
    "booleans": ["true", "false"],
    "mixed": ['"1"', "1", "1.0", "true", "{}", "[1]"],
    "wrong": [
        "NaN",
        "Infinity",
        "01",
        "1.",
        ".5",
        "+1",
        "1e400",
        '"\\ud800"',
        '"\\udc00"',
        '"\\x"',
        "tru",
        '"\t"',
        "9" * 39,
    ],
}
OBJECTS = st.sampled_from(list(VALUES)).flatmap(
    lambda kind: st.lists(st.sampled_from([*VALUES[kind], "null"]), min_size=1, max_size=5)
)


def by_json(text: str) -> list[dict[str, Any]] | None:
    """The objects as the standard library reads them; None if it refuses them, or a key is there twice."""

    def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError(pairs)
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    lines = [line for line in text.split("\n") if line.strip()]
    try:
        objects = [json.loads(line, object_pairs_hook=no_key_twice, parse_constant=refuse) for line in lines]
    except ValueError:
        return None
    return objects if all(isinstance(one, dict) for one in objects) else None


@examples(150)
@given(OBJECTS, st.sampled_from(["\n", "\r\n", "\n\n", " \n"]), st.lists(DAMAGE, max_size=1))
def test_json_lines_are_read_as_the_standard_library_reads_them_or_refused(
    values: list[str], line_end: str, damages: list[Any]
) -> None:
    lines = [f'{{"item": {value}, "worker":"a" ,"note": [{value}],"label":"x"}}' for value in values]
    text = damaged(line_end.join(lines), damages)
    found = read(text.encode())
    if isinstance(found, str):
        # What is sound and of one type is not refused.
        sound = any(set(values) <= {*VALUES[kind], "null"} for kind in ("text", "large", "huge", "numbers", "booleans"))
        assert damages or not sound
        return
    expected = by_json(text)
    if not text.startswith("{"):  # damage made CSV of it
        return
    assert expected is not None
    wanted = [[one.get(role) for role in ROLES] for one in expected]
    # `repr` tells 1, True and "1" apart; numbers of a column with a fraction are all floats.
    assert [list(row) for row in found] == wanted
    kinds = [
        {type(row[role]) for row in rows if row[role] is not None} for rows in (found, wanted) for role in range(3)
    ]
    assert all(len(kind) <= 1 for kind in kinds[:3])
    assert all(kind in ({int, float}, other) for kind, other in zip(kinds[3:], kinds[:3], strict=True))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(
            ["9007199254740992", "9007199254740993", "1.5"], "whole number of more than 53 bits in line 2", id="53"
        ),
        pytest.param(["9007199254740992", "9007199254740993"], [9007199254740992, 9007199254740993], id="integers"),
        pytest.param(["1", "2.5"], [1.0, 2.5], id="numbers"),
        pytest.param(["1", '"1"'], "mixed types: a whole number in line 1, text in line 2", id="text and number"),
        pytest.param(["true", "1"], "mixed types: true or false in line 1, a whole number in line 2", id="true and 1"),
        pytest.param(['{"a":1}'], "'item' has an object or a list in line 1", id="object"),
        pytest.param(["9" * 400], "a whole number of more than 38 digits in line 1", id="400 digits"),
        pytest.param(['"\\ud800"'], "line 1 has half of a surrogate pair in 'item'", id="half a pair"),
        pytest.param(['"\\u00e9"', '"é"'], ["é", "é"], id="escape"),
        pytest.param(['1,"item":2'], "line 1 has the key 'item' twice", id="twice"),
        pytest.param(["1", "2,"], "line 2 is not one JSON object", id="comma"),
        pytest.param(["1", "2} {"], "line 2 is not one JSON object", id="garbage"),
        pytest.param(["1", "NaN"], "line 2 is not one JSON object", id="NaN"),
        pytest.param(['"a"'] * 12_000 + ["5"], "text in line 1, a whole number in line 12,001", id="late"),
        pytest.param(["0.5"] * 12_000 + ["9007199254740993"], "more than 53 bits in line 12,001", id="late 53"),
        pytest.param(["9223372036854775808"] * 12_000 + ["9" * 39], "38 digits in line 12,001", id="late 39 digits"),
    ],
)
def test_json_ids_by_hand(lines: list[str], expected: Any) -> None:
    found = read("".join(f'{{"worker":"a","label":"x","item":{line}}}\n' for line in lines).encode())
    assert expected in found if isinstance(expected, str) else [row[0] for row in found] == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[\n{"item":1,"worker":1,"label":1}\n,]', "element 2 is not one JSON object"),
        (b'{\n"item":1,"worker":1,"label":1}\n', "line 1 is not one JSON object"),
        (b'\xef\xbb\xbf{"item":1,"worker":1,"label":1}\n', "it starts with a byte order mark"),
        (b'{"item":1,"worker":1,"label":1,"i\\u0074em":1}\n', "line 1 has the key 'item' twice"),
        (b"\n\n", "it has only empty lines"),
        (
            b"".join(b'{"%d":1}\n' % number for number in range(2000)),
            "more than 1,024 different keys, from line 1,025",
        ),
    ],
)
def test_json_files_by_hand(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(content)
    found = read(path)
    assert isinstance(found, str)
    assert message in found


def test_a_key_may_have_any_name_and_appear_late(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text('{"item":1,"worker":1}\n' * 2 + '{"item":1,"worker":2,"lab(el":"x"}\n')
    assert cw.read_labels(path, label="lab(el").names.classes.to_list() == ["x"]


def zstd(text: bytes) -> bytes:
    packed = io.BytesIO()
    table = pl.DataFrame({"text": text.decode().splitlines()})
    table.write_csv(packed, compression="zstd", include_header=False, quote_style="never")
    return packed.getvalue()


TABLE = HEAD + b"".join(b"%d,a,x\n" % number for number in range(5000))


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_compressed_files_are_measured_or_refused(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = pack(TABLE)
    assert scan(io.BytesIO(packed), ROLES).size() == (5000, len(TABLE))
    assert scan(io.BytesIO(packed + pack(b"7,b,y\n")), ROLES).size()[0] == 5001
    assert isinstance(read(packed + pack(b"7,b,y\n")), list)
    for damaged_file in (packed[:-500], packed[:-1], packed + b"garbage"):
        found = read(damaged_file)
        assert isinstance(found, str)
        assert "data are damaged or cut off" in found
    monkeypatch.setattr(unpacking, "LONGEST_LINE", 2**20)
    found = read(pack(HEAD + b"1,a," + b"x" * 2**23))
    assert isinstance(found, str)
    assert "a line of more than 1 MB" in found


def test_text_in_another_encoding_is_unpacked_only_as_far_as_it_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(TABLE + b"7,caf\xe9,y\n")
    assert cw.read_labels(io.BytesIO(packed), encoding="cp1252").n_labels > 0
    monkeypatch.setattr(unpacking, "available_memory", lambda: len(TABLE))
    with pytest.raises(cw.DataError, match="a quarter of the free memory; save it in UTF-8"):
        cw.read_labels(io.BytesIO(packed), encoding="cp1252")


def test_the_engine_is_chosen_by_what_a_file_unpacks_to(tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "votes.csv.gz"
    rows = b"".join(b"%d,a,x\n" % number for number in range(1000))
    path.write_bytes(gzip.compress(HEAD + rows * 100))
    assert path.stat().st_size < 50_000
    labels = cw.read_labels(path, engine="auto", memory="5MB")
    assert (labels.place, labels.n_labels) == ("disk", 1000)
    labels.close()
    assert cw.read_labels(path, engine="auto", memory="20MB").place == "memory"


@pytest.mark.parametrize(("encoding", "engine"), [("cp1252", "memory"), ("utf-16", "memory"), ("cp1252", "disk")])
def test_text_in_other_encodings_is_refused_with_what_to_give_and_then_read(
    encoding: str, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes("item,worker,label\n1,René,oui\n1,Zoë,non\n".encode(encoding))
    with pytest.raises(cw.DataError, match=f"--encoding {encoding}"):
        cw.read_labels(path)
    labels = cw.read_labels(path, encoding=encoding, engine=engine, workdir=tmp_path if engine == "disk" else None)
    assert sorted(labels.names.workers.to_list()) == ["René", "Zoë"]
    labels.close()


def test_an_encoding_that_is_none_or_wrong_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"item,worker,label\n1,Ren\xe9,oui\n")
    with pytest.raises(cw.CallError, match="There is no encoding 'typo'"):
        cw.read_labels(path, encoding="typo")
    with pytest.raises(cw.DataError, match="it is not text in utf-8"):
        cw.read_labels(path, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_truth_is_in_utf_8_or_as_the_user_says(encoding: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """One encoding is given for all files, and the truth may be stored in another way than the labels."""
    truth = tmp_path / "truth.csv"
    truth.write_bytes(pack("item,truth\n1,größe\n".encode(encoding)))
    other = encoding if not encoding.startswith("utf-8") else "cp1252"
    assert cw.read_truth(truth, encoding=other).rows() == [("1", "größe")]
    pl.DataFrame({"item": ["1"], "truth": ["größe"]}).write_parquet(tmp_path / "truth.parquet")
    assert cw.read_truth(tmp_path / "truth.parquet", encoding=other).rows() == [("1", "größe")]


def test_the_encoding_of_the_command_is_for_truth_and_gold_too(tmp_path: Path) -> None:
    rows = [f"{item},{worker},{'größe' if item % 2 else 'klein'}" for item in range(6) for worker in "abc"]
    truth = [f"{item},{'größe' if item % 2 else 'klein'}" for item in range(6)]
    for name, head, lines in (("labels", "item,worker,label", rows), ("truth", "item,truth", truth)):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *lines]), encoding="cp1252")
    labels, known = str(tmp_path / "labels.csv"), str(tmp_path / "truth.csv")
    command = ["aggregate", labels, "-m", "mv", "--encoding", "cp1252", "--json"]
    said = CliRunner().invoke(app, [*command, "--truth", known])
    assert json.loads(said.stdout)["accuracy"]["mv"] == 1.0
    said = CliRunner().invoke(app, [*command, "--gold", known])
    assert {row["label"] for row in json.loads(said.stdout)["labels"]} == {"größe", "klein"}
    refused = CliRunner().invoke(app, ["aggregate", labels, "--truth", known])
    assert isinstance(refused.exception, cw.DataError)
    assert "--encoding cp1252" in str(refused.exception)
