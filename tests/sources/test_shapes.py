"""Tables of other shapes than one label a row: wide ones, matrices, and ones with lists in their rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.sources import matrix_files
from tests.support.cases import examples
from tests.support.crowds import votes

WIDE = pl.DataFrame({"id": ["007", "8", "9"], "r1": ["a", None, None], "r2": ["b", "a", None], "r3": [None, "a", None]})
LONG = [("007", "r1", "a"), ("007", "r2", "b"), ("8", "r2", "a"), ("8", "r3", "a")]


def test_wide_tables_are_read_from_files_and_frames(tmp_path: Path) -> None:
    WIDE.write_csv(tmp_path / "w.csv")
    WIDE.write_parquet(tmp_path / "w.parquet")
    for source in (tmp_path / "w.csv", tmp_path / "w.parquet", WIDE, WIDE.lazy(), WIDE.to_pandas(), WIDE.to_arrow()):
        for wide in (None, True, "r*", ["r1", "r2", "r3"]):
            labels = cw.read_labels(source, wide=wide)
            assert sorted(votes(labels)) == LONG
            assert (labels.report.missing, labels.report.unlabelled) == (1, 1)  # item 9 is counted
            assert bool(labels.report.understood) == (wide is None)
    assert cw.aggregate(WIDE).labels.to_list() == cw.aggregate(cw.read_labels(WIDE)).labels.to_list()
    assert sorted(votes(cw.Labels.from_wide(WIDE, item="id", workers="r*"))) == LONG
    assert votes(cw.Labels.from_wide(WIDE.select("r1", "r2"))) == [(0, "r1", "a"), (0, "r2", "b"), (1, "r2", "a")]
    for engine in ("disk", "auto"):
        with_disk = cw.read_labels(tmp_path / "w.csv", engine=engine)
        assert (with_disk.n_labels, with_disk.n_items, with_disk.report.unlabelled) == (4, 2, 1)
        with_disk.close()


def test_an_index_of_pandas_is_the_item() -> None:
    frame = pd.DataFrame({"ann": [1.0, np.nan], "bob": [0.0, 1.0]}, index=["x", "y"])
    assert votes(cw.Labels.from_wide(frame)) == [("x", "ann", 1.0), ("x", "bob", 0.0), ("y", "bob", 1.0)]


@pytest.mark.parametrize(
    ("table", "is_wide"),
    [
        ({"id": [1, 2], "ann": ["a", "b"], "bob": ["b", "a"]}, True),
        ({"id": [1, 2], "text": ["so", "lo"], "r1": ["a", "b"], "r2": ["b", "a"]}, True),
        ({"id": [1, 2], "text": ["so", "lo"], "ann": ["a", "b"], "bob": ["b", "a"]}, False),
        ({"id": [1, 2], "r1": ["a", "b"], "r2": ["b", "a"], "truth": ["a", "a"]}, True),
        ({"id": [1, 2], "height": [1.7, 1.8], "weight": [70.5, 80.1]}, False),
        ({"id": [1, 2], "label": ["a", "b"], "other": ["b", "a"]}, False),
        ({"item": [1, 2], "worker": ["a", "b"], "lable": ["b", "a"]}, False),
    ],
)
def test_a_wide_table_is_recognised_only_where_it_is_one(table: dict[str, Any], is_wide: bool) -> None:
    frame = pl.DataFrame(table)
    if is_wide:
        labels = cw.read_labels(frame)
        assert labels.n_labels == 4
        assert "is read as a wide table" in labels.report.understood[0]
        return
    with pytest.raises(cw.DataError, match="has no column that looks like"):
        cw.read_labels(frame)


def test_a_column_of_texts_is_no_worker() -> None:
    judges = {name: ["yes", "no"] * 40 for name in ("gpt", "claude", "llama")}
    frame = pl.DataFrame({"id": range(80), "prompt": [f"What is {number}?" for number in range(80)], **judges})
    with pytest.raises(cw.DataError, match=r"of column 'prompt'.*--wide-columns"):
        cw.read_labels(frame, wide=True)
    assert cw.read_labels(frame, wide=["gpt", "claude", "llama"]).n_workers == 3
    # So many classes that a worker hardly says one twice, but others say them, too.
    words = pl.DataFrame({"id": range(80), "ann": map(str, range(80)), "bob": map(str, range(1, 81))})
    assert cw.read_labels(words, wide=True).n_workers == 2


def test_wide_refusals() -> None:
    frame = pl.DataFrame({"id": [1, 2], "ann": ["a", "b"], "bob": [1, 2]})
    with pytest.raises(cw.DataError, match="text in column 'ann' and whole numbers in column 'bob'"):
        cw.read_labels(frame, wide=True)
    with pytest.raises(cw.DataError, match=r"has no column 'x\*'"):
        cw.read_labels(frame, wide="x*")
    with pytest.raises(cw.DataError, match=r"say wide \(--wide"):
        cw.read_labels(pl.DataFrame({"id": [1, 2], "text": ["q", "w"], "ann": ["a", "b"]}))
    with pytest.raises(cw.DataError, match="more than one label"):
        cw.read_labels(pl.DataFrame({"id": [1, 1], "a": ["x", "y"], "b": ["y", "x"]}), wide=True)


def test_several_wide_files_without_items_are_refused(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        WIDE.drop("id").write_csv(tmp_path / name)
    with pytest.raises(cw.DataError, match="Several tables have no column of items"):
        cw.read_labels(tmp_path, wide=True)


@pytest.mark.parametrize("wide", [True, None])
def test_thousands_of_columns_are_read_in_time_in_proportion_to_them(wide: bool | None, tmp_path: Path) -> None:
    """With an expression that names all columns, polars would take minutes and gigabytes to plan."""
    path = tmp_path / "wide.csv"
    workers = [f"w{number}" for number in range(4_000)]
    rows = [[f"i{row}", *(("yes", "no", "")[(row + number) % 3] for number in range(4_000))] for row in range(4)]
    blank = "," * len(workers)
    path.write_text("\n".join([",".join(["item", *workers]), blank, *map(",".join, rows), blank]))
    labels = cw.read_labels(path, wide=wide)
    cells = [(row[0], worker, cell) for row in rows for worker, cell in zip(workers, row[1:], strict=True) if cell]
    assert sorted(votes(labels)) == sorted(cells)


CELLS = st.sampled_from([None, "x", "y", "z"])


@examples(40)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_wide_table_is_the_same_as_the_long_one(rows: list[list[str | None]]) -> None:
    long = [(i, f"w{w}", said) for i, row in enumerate(rows) for w, said in enumerate(row) if said is not None]
    table = pl.DataFrame(rows, schema=["w0", "w1", "w2"], orient="row").cast(pl.String)
    matrix = np.array([["" if cell is None else cell for cell in row] for row in rows])
    if not long:
        with pytest.raises(cw.DataError, match="without a label"):
            cw.Labels.from_wide(table)
        return
    labels = cw.Labels.from_wide(table)
    assert sorted(votes(labels)) == long
    of_matrix = cw.Labels.from_matrix(matrix, workers=["w0", "w1", "w2"])
    assert sorted(votes(of_matrix)) == long
    assert labels.report.rows - labels.report.missing == of_matrix.n_labels == len(long)


MATRIX = np.array([[0, 1, -1], [-1, -1, -1], [1, 1, 2]])
OF_MATRIX = [(0, 0, 0), (0, 1, 1), (2, 0, 1), (2, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize("dtype", [np.int8, ">i4", np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["m.npy", "m.txt", "m"])
def test_matrices_are_read_from_files(dtype: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "m.npy":
        np.save(path, MATRIX.astype(dtype))
    else:
        np.savetxt(path, MATRIX.astype(dtype), fmt="%d" if name == "m" else "%.18e")
    labels = cw.read_labels(path)
    assert votes(labels) == OF_MATRIX
    assert labels.report.unlabelled == 1
    assert "-1 means no label" in labels.report.understood[0]
    swapped = cw.read_labels(path, transposed=True)
    assert sorted((w, i, said) for i, w, said in votes(swapped)) == OF_MATRIX
    assert cw.read_labels(path, missing=["0", "-1"], engine="disk").n_labels == 4
    assert cw.read_labels(path, missing=[2]).n_labels == 8  # then -1 is a class
    assert cw.read_labels(path, label_names=["no", "yes", "maybe"]).names.classes.to_list() == ["maybe", "no", "yes"]
    with path.open("rb") as file:
        assert votes(cw.read_labels(file)) == OF_MATRIX


def test_a_matrix_that_python_2_wrote_is_read_without_a_warning(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", MATRIX)
    content = (tmp_path / "m.npy").read_bytes()
    (tmp_path / "m.npy").write_bytes(content.replace(b"(3, 3), }  ", b"(3L, 3L), }"))
    assert b"3L" in (tmp_path / "m.npy").read_bytes()
    assert votes(cw.read_labels(tmp_path / "m.npy")) == OF_MATRIX


@pytest.mark.parametrize("missing", ["-1", -1, ["-1.0"]])
def test_a_matrix_of_text_leaves_out_what_means_no_label(missing: Any) -> None:
    labels = cw.Labels.from_matrix(np.array([["-1", "a"], ["b", "-1.0"], ["", "-1"]]), missing=missing)
    assert votes(labels) == [(0, 1, "a"), (1, 0, "b")]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0.0, 1.0, None, float("nan")], ["no", "yes"]),
        (["0", "1.0", "", "-1"], ["no", "yes"]),
        ([True, False, None, False], ["no", "yes"]),
        ([0.9, 1.7, 0.0, 1.0], "the label 0.9 has no name"),
        (["0", "1.5", "1", "1"], "the label '1.5' has no name"),
        ([0, 1, 2, 0], "the label 2 has no name"),
    ],
)
def test_names_of_classes_are_for_whole_numbers(labels: list[Any], expected: Any) -> None:
    table = pl.DataFrame({"item": range(4), "worker": ["a"] * 4, "label": labels})
    if isinstance(expected, list):
        found = cw.read_labels(table, label_names=["no", "yes"], missing=[-1])
        assert found.names.classes.to_list() == expected
    else:
        with pytest.raises(cw.DataError, match=expected):
            cw.read_labels(table, label_names=["no", "yes"])


def test_matrices_that_are_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.npy"
    np.save(path, np.array([[1, {}]], object), allow_pickle=True)
    with pytest.raises(cw.DataError, match="holds objects of Python"):
        cw.read_labels(path)
    np.save(path, np.zeros(3))
    with pytest.raises(cw.DataError, match="1 dimensions"):
        cw.read_labels(path)
    np.save(path, np.array([["a", "b\ud800"]]))
    with pytest.raises(cw.DataError, match="half of a surrogate pair"):
        cw.read_labels(path)
    (tmp_path / "m.txt").write_text("1 2 3\n1 2\n")
    with pytest.raises(cw.DataError, match="no matrix"):
        cw.read_labels(tmp_path / "m.txt")
    with pytest.raises(cw.DataError, match="There are 3 items"):
        cw.Labels.from_matrix(MATRIX, items=["a", "b"])
    with pytest.raises(cw.DataError, match="dimensions"):
        cw.Labels.from_matrix([1, 2])
    with pytest.raises(cw.DataError, match=r"The matrix cannot be used: a cell has .* half of a surrogate pair"):
        cw.Labels.from_matrix(np.array([["a", "b\ud800"]]))
    with pytest.raises(cw.DataError, match=r"The worker values have .* half of a surrogate pair"):
        cw.Labels.from_matrix(MATRIX, workers=["a", "b", "\ud800"])
    with pytest.raises(cw.DataError, match="the label 2 has no name"):
        cw.read_labels(
            tmp_path / "n.txt" if (tmp_path / "n.txt").write_text("0 2\n1 1\n") else "", label_names=["a", "b"]
        )


def test_a_matrix_gives_the_rows_that_are_asked_for(tmp_path: Path) -> None:
    """polars leaves it to a source in Python to pick columns, to stop, and to filter only after it has stopped."""
    np.save(tmp_path / "m.npy", np.zeros((1_000_000, 3), np.int8))  # two batches
    rows = matrix_files.open_array(str(tmp_path / "m.npy"), [], False).pick({"item": "item", "worker": "worker"})
    last = pl.col("worker") == 2
    assert rows.head(4).collect().rows() == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert rows.head(4).filter(last).collect().rows() == [(0, 2)]
    assert rows.filter(last).head(2).select("item").collect().rows() == [(0,), (1,)]
    assert rows.head(2_500_000).select(pl.len()).collect().item() == 2_500_000


NESTED = {
    "lists": pl.DataFrame({"id": ["a", "b", "c"], "annotators": [["u", "v"], ["u"], []], "labels": [[0, 1], [1], []]}),
    "structures": pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "annotators": [
                [{"label": 0, "annotator_id": "u"}, {"label": 1, "annotator_id": "v"}],
                [{"label": 1, "annotator_id": "u"}],
                [],
            ],
        }
    ),
    "structure": pl.DataFrame(
        {
            "id": ["a", "b", "c"],
            "votes": [
                {"label": [0, 1], "worker": ["u", "v"]},
                {"label": [1], "worker": ["u"]},
                {"label": [], "worker": []},
            ],
        }
    ),
}
OF_NESTED = [("a", "u", 0), ("a", "v", 1), ("b", "u", 1)]


@pytest.mark.parametrize("kind", NESTED)
def test_nested_tables_are_read(kind: str, tmp_path: Path) -> None:
    table = NESTED[kind]
    table.write_parquet(tmp_path / "n.parquet")
    table.write_ipc(tmp_path / "n.arrow")
    table.write_ndjson(tmp_path / "n.jsonl")
    (tmp_path / "n.json").write_text(json.dumps(table.to_dicts(), indent=2))
    for source in (table, table.lazy(), table.to_arrow(), *tmp_path.glob("n.*")):
        labels = cw.read_labels(source)
        assert votes(labels) == OF_NESTED
        assert "lists in its rows" in labels.report.understood[0]
        assert labels.report.understood[1] == "1 row has an empty list of labels, and is left out."
    on_disk = cw.read_labels(tmp_path / "n.parquet", engine="disk")
    assert on_disk.n_labels == 3
    on_disk.close()


def test_nested_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    uneven: dict[str, list[Any]] = {"id": ["a", "b"], "workers": [["u"], ["u", "v"]], "labels": [[0], [1]]}
    lines = tmp_path / "n.jsonl"
    lines.write_text("\n".join(json.dumps({key: uneven[key][row] for key in uneven}) for row in range(2)))
    for source in (pl.DataFrame(uneven), lines):
        with pytest.raises(cw.DataError, match="row 2 has 2 in 'workers' and 1 in 'labels'"):
            cw.read_labels(source)
    for text, message in (
        ('{"id": 1, "workers": ["u", "v"], "labels": [1, "1"]}', "a whole number in label 1, text in label 2"),
        ('{"id": 1, "workers": ["u"], "labels": [[1]]}', "'label' has an object or a list in label 1"),
        ('{"id": 1, "votes": [{"worker": 1, "worker": 2, "label": 3}]}', "has the key 'worker' twice"),
        ('{"id": 1, "workers": ["u"], "labels": [1]}\n{"id": 2, "workers": 3, "labels": [1]}', "row 2 has no list"),
    ):
        lines.write_text(text)
        with pytest.raises(cw.DataError, match=message):
            cw.read_labels(lines)


def test_names_of_classes_are_in_the_metadata_of_datasets(tmp_path: Path) -> None:
    names = {"names": ["no", "yes"], "_type": "ClassLabel"}
    features = {
        "id": {"dtype": "string", "_type": "Value"},
        "workers": {},
        "labels": {"feature": names, "_type": "List"},
    }
    table = pl.DataFrame({"id": ["a"], "workers": [["u", "v", "w"]], "labels": [[0, 1, -1]]}).to_arrow()
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), tmp_path / "n.parquet")
    labels = cw.read_labels(tmp_path / "n.parquet")
    assert votes(labels) == [("a", "u", "no"), ("a", "v", "yes")]
    assert labels.report.missing == 1  # -1 is no label there
    long = pl.DataFrame({"item": [1, 1], "worker": [1, 2], "label": [1, 0]}).to_arrow()
    metadata = {"huggingface": json.dumps({"info": {"features": {"label": names}}})}
    pa.parquet.write_table(long.replace_schema_metadata(metadata), tmp_path / "l.parquet")
    assert cw.read_labels(tmp_path / "l.parquet").names.classes.to_list() == ["no", "yes"]


def test_a_dataset_of_the_library_datasets_is_read() -> None:
    datasets = pytest.importorskip("datasets", reason="the library datasets is not installed")
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "annotators": datasets.Sequence(datasets.Value("string")),
            "labels": datasets.Sequence(datasets.ClassLabel(names=["no", "yes"])),
        }
    )
    rows = {"id": ["a", "b"], "annotators": [["u", "v"], ["u"]], "labels": [[0, 1], [1]]}
    data = datasets.Dataset.from_dict(rows, features=features)
    assert votes(cw.read_labels(data)) == [("a", "u", "no"), ("a", "v", "yes"), ("b", "u", "yes")]
    assert cw.read_labels(data.select([1])).n_labels == 1
    with pytest.raises(cw.DataError, match="name one split"):
        cw.read_labels(datasets.DatasetDict(train=data))
