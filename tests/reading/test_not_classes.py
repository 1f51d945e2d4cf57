"""Labels that are not one class per vote are refused in a sentence that says what they look like and what to do."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from tests.support.commands import Command
from tests.support.engines import Engine

DRAW = np.random.default_rng(1)
OTHER_LABELS = {
    "numbers": (DRAW.random(500).round(4).tolist(), "numeric=True (--numeric)"),
    "numbers in text": ([f"{one:.4f}" for one in DRAW.random(500)], "numeric=True (--numeric)"),
    "free text": ([f"a sentence about {one}" for one in range(120)], "look like free text"),
    "lists": (["cat", "dog", "cat;dog"] * 4, "'cat;dog', which looks like several classes in one cell"),
    "lists alone": (["a|b", "b|c", "a|c"] * 4, "'a|b', which looks like several classes in one cell"),
    "lists with commas": (["cat", "dog", "cat, dog"] * 4, "'cat, dog', which looks like several classes"),
    "lists of JSON": (['["cat"]', '["cat", "dog"]'] * 4, "several classes in one cell"),
}
CLASSES = {
    "many classes": [f"class {one}" for one in DRAW.integers(0, 500, 3000)],
    "ids of classes": DRAW.integers(0, 10**6, 400).tolist(),
    "ids of classes in text": [str(one) for one in DRAW.integers(0, 10**6, 200)],
    "half points": [one / 2 for one in range(10)] * 3,
    "sentences": ["yes, surely", "no, never", "no", "New York, NY", "Albany, NY", "and/or"] * 3,
    "few labels": [f"text {one}" for one in range(20)],
}


def table_of(labels: list[Any]) -> pl.DataFrame:
    """Return a table of labels by three workers."""
    count = len(labels)
    return pl.DataFrame({"item": np.arange(count) // 3, "worker": np.arange(count) % 3, "label": labels})


@pytest.mark.parametrize("kind", OTHER_LABELS)
def test_labels_that_are_no_classes_are_refused(kind: str, engine: Engine) -> None:
    labels, sentence = OTHER_LABELS[kind]
    with pytest.raises(cw.DataError) as problem:
        engine.read(table_of(labels))
    assert "Column 'label' has " in str(problem.value)
    assert sentence in str(problem.value)
    assert "classes= (--classes)" in str(problem.value)


@pytest.mark.parametrize("kind", OTHER_LABELS)
def test_declared_classes_are_not_refused(kind: str) -> None:
    labels, _ = OTHER_LABELS[kind]
    classes = list(dict.fromkeys(labels))
    assert cw.Labels.from_frame(table_of(labels), classes=classes).n_classes == len(classes)


@pytest.mark.parametrize("kind", CLASSES)
def test_classes_are_read(kind: str) -> None:
    labels = CLASSES[kind]
    assert cw.Labels.from_frame(table_of(labels)).n_classes == len(set(labels))


def test_the_command_line_refuses_the_same(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    table_of(OTHER_LABELS["numbers"][0]).write_csv(path)
    done = run("aggregate", path)
    assert done.returncode == 1
    assert "look like measurements and not like classes: --numeric takes them as numbers" in done.stderr
    assert run("aggregate", path, "--numeric").returncode == 0


SPANS = {"doc": [1, 1], "annotator": ["a", "a"], "start": [0, 9], "end": [4, 12], "label": ["PER", "LOC"]}
COMPARED = {"prompt": [1], "model_a": ["x"], "model_b": ["y"], "judge": ["j"], "winner": ["x"]}
PAIRS = {"id": [1], "prompt": [1], "left": ["x"], "right": ["y"], "worker": ["w"], "winner": ["x"]}


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (SPANS, "looks like spans, which begin and end where columns 'start' and 'end' say"),
        (COMPARED, "looks like comparisons of two things, in columns 'model_a' and 'model_b'"),
        (COMPARED | {"label": ["a"]}, "looks like comparisons of two things, in columns 'model_a' and 'model_b'"),
        (PAIRS, "looks like comparisons of two things, in columns 'left' and 'right'"),
    ],
)
def test_tables_of_other_kinds_are_refused(columns: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    table, path = pl.DataFrame(columns), tmp_path / "votes.csv"
    table.write_csv(path)
    for source in (table, path):
        with pytest.raises(cw.DataError, match=sentence):
            cw.read_labels(source)
    with pytest.raises(cw.DataError, match=sentence):
        cw.Labels.from_frame(table)


def test_spans_are_refused_on_every_engine(engine: Engine) -> None:
    with pytest.raises(cw.DataError, match="looks like spans"):
        engine.read(pl.DataFrame(SPANS))


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (SPANS | {"doc": [1, 2]}, {"label": "label"}),
        (COMPARED, {"item": "prompt", "label": "winner"}),
        ({"item": [1], "worker": ["w"], "label": ["x"], "left": [3], "right": [9]}, {}),  # a box in an image
        ({"item": [1], "worker": ["w"], "label": ["x"], "start": ["2024-05-01"], "end": ["2024-05-02"]}, {}),
        ({"item": [1], "worker": ["w"], "label": ["x"], "start": [1714557600], "end": [1714557660]}, {}),
        ({"item": [1], "worker": ["w"], "label": ["x"], "start": [None], "end": [None]}, {}),
    ],
)
def test_other_tables_are_read(columns: dict[str, Any], named: dict[str, Any]) -> None:
    table = pl.DataFrame(columns)
    assert cw.read_labels(table, **named).n_labels == table.height
