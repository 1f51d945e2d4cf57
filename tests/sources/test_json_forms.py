"""JSON that is no lines: arrays of objects, and objects of objects as peerannot and LeWiDi write them."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.crowd.read_options import ReadOptions
from crowdwise.sources import json_stream, unpacking
from crowdwise.sources.paths import inputs_of
from crowdwise.sources.rows import open_rows
from tests.support.cases import examples
from tests.support.crowds import votes

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@examples(60)
@given(
    st.dictionaries(st.tuples(TEXTS, TEXTS), TEXTS, min_size=1, max_size=8),
    st.sampled_from([None, 0, 3]),
    st.booleans(),
)
def test_an_array_of_objects_is_a_long_table(
    tmp_path_factory: pytest.TempPathFactory, said: dict[tuple[str, str], str], indent: int | None, escaped: bool
) -> None:
    rows = [
        {"item": item, "worker": worker, "label": label, "note": [1, "]"]} for (item, worker), label in said.items()
    ]
    path = tmp_path_factory.mktemp("array") / "votes.json"
    path.write_text(json.dumps(rows, indent=indent, ensure_ascii=escaped), encoding="utf-8")
    assert set(votes(cw.read_labels(path))) == {(item, worker, label) for (item, worker), label in said.items()}


def test_an_array_on_one_line_larger_than_a_line_may_be(tmp_path: Path) -> None:
    rows = [
        {"item": number // 5, "worker": f"w{number % 5}", "label": "x", "text": "," * 90} for number in range(160_000)
    ]
    path = tmp_path / "votes.json.gz"
    path.write_bytes(gzip.compress(json.dumps(rows).encode(), 1))
    for engine in ("memory", "disk"):
        labels = cw.read_labels(path, engine=engine)
        assert (labels.n_labels, labels.n_items) == (160_000, 32_000)
        labels.close()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"item":1,"worker":1,"label":1},]', "element 2 is not one JSON object"),
        ('[{"item":1,"worker":1,"label":1},,{"item":1,"worker":1,"label":1}]', "element 2 is not one JSON object"),
        ('[{"item":1,"worker":1,"label":1}', "is not closed at the end"),
        ('[{"item":1,"worker":1,"label":1}] {}', "text after the end of the array"),
        ("[]", "has no elements"),
        ("[1, 2]", "element 1 is not one JSON object"),
        ('["a"]', "element 1 is not one JSON object"),
        ('[{"item":1,"worker":1,"label":1},{"item":"1","worker":1,"label":1}]', "text in element 2"),
        ('[{"item":1,"worker":1,"label":1}}]', "after element 1 is '}', and no comma"),
        ('[{"item":1,"item":2,"worker":1,"label":1}]', "element 1 has the key 'item' twice"),
        ('{"0": {"3": 1, "3": 0}}', "has the key '3' twice"),
        ('{"0": {"3": 1}, "1": 5}', "not one JSON object|has no column|no object"),
        ('{"0": {"3": 1}, "1": {"3": "1"}}', "'label' has mixed types: a whole number in label 1, text in label 2"),
        ('{"0": {"3": 1}', "is not JSON"),
        ('{"0": {"3": 1}} {"1": {"3": 1}}', "is not JSON"),
        ('{"0": {"annotators": "a,b", "annotations": "1"}}', "not equally many"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    path.write_text(text)
    with pytest.raises(cw.DataError, match=message) as problem:
        cw.read_labels(path)
    assert "\n" not in str(problem.value)


def test_peerannot(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text('{"0": {"3": 1, "4": 0}, "1": {"3": 1}}')
    assert set(votes(cw.read_labels(path))) == {(0, 3, 1), (0, 4, 0), (1, 3, 1)}
    assert set(votes(cw.read_labels(path, transposed=True))) == {(3, 0, 1), (4, 0, 0), (3, 1, 1)}
    names = tmp_path / "labelNames.txt"
    names.write_text("cat\ndog\n")
    assert cw.read_labels(path, label_names=names).names.classes.to_list() == ["cat", "dog"]
    names.write_text("cat\n")
    with pytest.raises(cw.DataError, match="the label 1 has no name: there are names for 0 to 0"):
        cw.read_labels(path, label_names=names)
    names.write_text("cat\ncat\n")
    with pytest.raises(cw.DataError, match="all different"):
        cw.read_labels(path, label_names=names)


def test_lewidi(tmp_path: Path) -> None:
    path = tmp_path / "MD-Agreement_train.json"
    one = {"text": "so", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "0", "Ann2": "1"}, "hard_label": "0"}
    path.write_text(json.dumps({"17": one}))
    assert set(votes(cw.read_labels(path))) == {(17, "Ann1", 0), (17, "Ann2", 1)}
    path.write_text(json.dumps({"17": {**one, "annotations": "0, 1"}}, indent=2))
    assert set(votes(cw.read_labels(path))) == {(17, "Ann1", 0), (17, "Ann2", 1)}


@pytest.mark.parametrize(
    "text",
    [
        '{"answers": %s}',
        '[{"id": %s, "data": {}, "annotations": []}]',
        '{"1": {"2": %s}}',
        '{"testCases": [%s]}',
        '{"eval": {"model": "m"}, "samples": [%s]}',
    ],
)
@pytest.mark.slow
def test_endless_numbers_are_refused_and_end_no_program(text: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(text % ("9" * 20_000))
    code = (
        "import sys, crowdwise as cw\ntry:\n    cw.read_labels(sys.argv[1])\nexcept cw.DataError as no:\n    print(no)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(path) in done.stdout


ROWS = st.lists(
    st.sampled_from(
        [
            '{"item": 1, "worker": "a", "label": "x"}',
            '{"item":2,"worker":"b","label":"y","meta":{"item":3,"label":[1,"},{"]}}',
            '{"label":"label","worker":"item","item":3}',
            '{"worker":"c","item":4}',
            '{"item":null,"worker":"d","label":"\\"item\\": 5"}',
            '{"item":9007199254740993,"worker":"é","label":"x"}',
            '{"item":9223372036854775808,"worker":"e","label":"x","late":1}',
            '{"item":0.5,"worker":"f","label":"x"}',
            '{"item":6,"worker":"g","label":"x","item":7}',
            '{"item":6,"worker":"g","label":"x","i\\u0074em":7}',
            '{"item":"8","worker":"h","label":"x"}',
            '{"item":9,"worker":"i","label":"\\ud800"}',
            '{"item":9,"worker":"j","label":"x","note":"\\ud800"}',
            '{"item":NaN,"worker":"k","label":"x"}',
            '{"item":1e400,"worker":"k","label":"x"}',
            '{"item":10,"worker":"k","label":"x"',
        ]
    ),
    min_size=1,
    max_size=5,
)


@examples(200)
@given(ROWS, st.booleans(), st.integers(1, 3))
def test_json_is_read_the_same_in_pieces_of_any_size(rows: list[str], array: bool, times: int) -> None:
    """Most pieces are checked by msgspec against what the pieces before had, and the first by the standard library."""
    rows = [row for row in rows for _ in range(times)]
    text = (f"[{', '.join(rows)}]" if array else "\n".join(rows)).encode()

    def read() -> pl.DataFrame | str:
        try:
            (one,) = inputs_of(io.BytesIO(text), ReadOptions())
            return open_rows(one, dict.fromkeys(("item", "worker", "label")), ReadOptions()).collect()
        except cw.DataError as problem:
            return str(problem)

    whole = read()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unpacking, "_PIECE", 10)
        patch.setattr(json_stream, "_PIECE", 10)
        in_pieces = read()
    if isinstance(whole, pl.DataFrame) and isinstance(in_pieces, pl.DataFrame):
        assert whole.equals(in_pieces)
    else:
        assert isinstance(whole, str)
        assert whole == in_pieces
    unlike = ("NaN", "e400", '"item":7', 'em":7', '"x"\n', '"label":"\\ud800"')
    assert isinstance(whole, str) or not any(sign in row + "\n" for sign in unlike for row in rows)
