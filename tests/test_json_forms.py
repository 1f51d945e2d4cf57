"""JSON that is no lines: arrays of objects, and objects of objects as peerannot and LeWiDi write them."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw

from .cases import examples
from .crowds import votes

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
