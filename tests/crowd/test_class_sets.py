"""Reading several classes at once: rows, lists, cells, JSON and exports mean the same sets."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from tests.support.exports import annotation, result

ANSWERS = [
    ("7", "ann", ["cat", "dog"]),
    ("7", "bob", ["dog"]),
    ("8", "ann", []),
    ("8", "bob", ["owl"]),
    ("9", "cy", []),
]
FRAME = pl.DataFrame(ANSWERS, schema=["item", "worker", "labels"], orient="row")


def said(labels: cw.Labels) -> list[tuple[str, str, str]]:
    """Who answers which question how."""
    columns = (labels.names.items.gather(labels.item_of), labels.names.workers.gather(labels.workers))
    return sorted(zip(*columns, labels.names.classes.gather(labels.labels), strict=True))


EXPECTED = [
    ("7: cat", "ann", "yes"),
    ("7: cat", "bob", "no"),
    ("7: dog", "ann", "yes"),
    ("7: dog", "bob", "yes"),
    ("8: owl", "ann", "no"),
    ("8: owl", "bob", "yes"),
]


def cells(join: Any) -> str:
    return "".join(f"{item},{worker},{join(named)}\n" for item, worker, named in ANSWERS)


FORMS = {
    "separator.csv": "item,worker,tags\n" + cells(" ; ".join),
    "json.csv": "item,worker,label\n" + cells(lambda named: '"' + json.dumps(named).replace('"', '""') + '"'),
    "python.csv": "item,worker,label\n" + cells(lambda named: f'"{named}"'),
    "numpy.csv": "item,worker,label\n" + cells(lambda named: f'"{np.array(named, dtype=object)}"'),
    "tuple.csv": "item,worker,label\n" + cells(lambda named: f'"{tuple(named)}"'),
    "set.csv": "item,worker,label\n" + cells(lambda named: f'"{set(named)}"'),
    "rows.csv": "item,worker,label\n7,ann,cat\n7,ann,dog\n7,bob,dog\n8,ann,[]\n8,bob,owl\n9,cy,[]\n",
    "lists.jsonl": "\n".join(json.dumps(dict(zip(FRAME.columns, answer, strict=True))) for answer in ANSWERS),
}


@pytest.mark.parametrize("name", FORMS)
def test_all_forms_mean_the_same_sets(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name])
    more: Any = {"separator": ";"} if name.startswith("separator") else {}
    labels = cw.read_labels(path, multi="each", **more)
    assert said(labels) == EXPECTED
    assert labels.sets is not None
    assert list(map(str, labels.sets.items)) == ["7", "8", "9"]
    assert labels.sets.empty_answers == 2
    assert labels.report.missing == 0


def test_tables_and_exports_mean_the_same_sets(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "lists.parquet")
    tasks = [
        {
            "id": item,
            "data": {"text": "x"},
            "annotations": [annotation(worker, result(named)) for other, worker, named in ANSWERS if other == item],
        }
        for item in ("7", "8", "9")
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    sources = (FRAME, FRAME.to_pandas(), tmp_path / "lists.parquet", tmp_path / "tasks.json")
    for source in sources:
        assert said(cw.read_labels(source, multi="each")) == EXPECTED


@pytest.mark.parametrize("cell", ["[cat, dog]", "['cat' ... 'owl']", "['cat', dog]"])
def test_lists_that_cannot_be_read_are_refused(cell: str) -> None:
    table = pl.DataFrame({"item": [1, 2], "worker": ["ann", "bob"], "label": ["cat", cell]})
    with pytest.raises(cw.DataError, match="looks like a list and is none"):
        cw.read_labels(table, multi="each")


def test_a_class_may_have_brackets() -> None:
    table = pl.DataFrame({"item": [1, 2], "worker": ["ann", "bob"], "label": ["[unclear]", "(none of these)"]})
    sets = cw.read_labels(table, multi="each").sets
    assert sets is not None
    assert sets.classes.to_list() == ["(none of these)", "[unclear]"]


def test_an_empty_list_is_an_answer_and_null_is_none() -> None:
    frame = FRAME.vstack(FRAME.head(1).with_columns(pl.lit("dan").alias("worker"), labels=None))
    labels = cw.read_labels(frame, multi="each")
    assert said(labels) == EXPECTED
    assert labels.report.missing == 1
    assert "2 of 5 answers name no class, which is a no to every class." in labels.report.understood


def test_declared_classes_are_checked_and_repeats_counted() -> None:
    long = FRAME.explode("labels").drop_nulls().rename({"labels": "label"})
    assert cw.read_labels(pl.concat([long, long.head(1)]), multi="each").report.repeated == 1
    with pytest.raises(cw.DataError, match="'owl', which is none of the declared classes"):
        cw.read_labels(FRAME, multi="each", classes=["cat", "dog"])
    labels = cw.read_labels(FRAME, multi="each", classes=["cat", "dog", "owl", "yak"])
    assert labels.sets is not None
    assert labels.sets.classes.to_list() == ["cat", "dog", "owl", "yak"]


def test_what_cannot_be_done_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(cw.CallError, match="in memory or on disk"):
        cw.read_labels(FRAME, multi="each", engine="spark")
    with pytest.raises(cw.CallError, match=r"may not fit.*engine=.disk"):
        cw.read_labels(FRAME, multi="each", engine="auto", memory="1")
    with pytest.raises(cw.CallError, match=r"duplicates='first' .* does nothing with multi"):
        cw.read_labels(FRAME, multi="each", duplicates="first")
    with pytest.raises(cw.CallError, match=r"\(--multi each\) beside it"):
        cw.read_labels(FRAME, separator=";")
    with pytest.raises(cw.DataError, match="names a class: column 'labels' has empty sets only"):
        cw.read_labels(FRAME.with_columns(labels=pl.lit([], dtype=pl.List(pl.String))), multi="each")
    with pytest.raises(cw.DataError, match="both written '1: a: b'"):
        cw.read_labels(
            pl.DataFrame({"item": ["1", "1: a"], "worker": ["x", "x"], "label": [["a: b"], ["b"]]}), multi="each"
        )
    (tmp_path / "cells.csv").write_text("item,worker,label\n1,a,x;y\n1,b,x\n2,a,y\n2,b,y\n")
    with pytest.raises(cw.DataError, match=r"--multi each\) and separator=\";\" \(--separator ';'\)"):
        cw.read_labels(tmp_path / "cells.csv")


def test_pairs_that_may_be_written_the_same_are_refused_on_disk() -> None:
    frame = pl.DataFrame({"item": ["1", "1: a"], "worker": ["x", "x"], "label": [["a: b"], ["b"]]})
    with pytest.raises(cw.DataError, match="item '1: a' and the class 'a: b' both have"):
        cw.read_labels(frame, multi="each", engine="disk")
    with pytest.raises(cw.DataError, match="names a class: column 'label' has empty sets only"):
        cw.read_labels(frame.with_columns(label=pl.lit([], dtype=pl.List(pl.String))), multi="each", engine="disk")
