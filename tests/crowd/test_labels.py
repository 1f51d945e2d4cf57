"""Tests of `Labels`: encoding of names, repair of rows, and slices."""

import datetime
import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields
from datetime import date
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.crowd import encoding
from crowdwise.crowd.read_options import Duplicates, ReadKeywords, ReadOptions
from crowdwise.parallel import runs
from tests.support.cases import examples

BASE = {"item": [1, 1, 2, 2], "worker": ["a", "b", "a", "b"], "label": ["x", "y", "x", "x"]}


def conflicting() -> pl.DataFrame:
    """Return labels with a conflict and repetitions: worker b says y, x and y again about item 1; w8 repeats itself."""
    rows = [(1, "a", "x"), (1, "b", "y"), (1, "b", "x"), (1, "b", "y"), (2, "w8", "x"), (2, "w8", "x"), (3, "b", "x")]
    return pl.DataFrame(rows, schema=["item", "worker", "label"], orient="row")


def spelled(labels: cw.Labels) -> list[tuple[Any, Any, Any]]:
    items = np.repeat(np.arange(labels.n_items), np.diff(labels.item_starts))
    names = labels.names
    return [
        (names.items[int(i)], names.workers[int(j)], names.classes[int(k)])
        for i, j, k in zip(items, labels.workers, labels.labels, strict=True)
    ]


@pytest.mark.parametrize(
    "make",
    [
        pl.DataFrame,
        pl.LazyFrame,
        pd.DataFrame,
        pa.table,
        lambda columns: duckdb.from_arrow(pa.table(columns)),
    ],
    ids=["polars", "lazy polars", "pandas", "pyarrow", "duckdb"],
)
def test_any_arrow_table_is_read(make: Any) -> None:
    labels = cw.Labels.from_frame(make(BASE))
    assert spelled(labels) == [(1, "a", "x"), (1, "b", "y"), (2, "a", "x"), (2, "b", "x")]


def test_pandas_categories_and_other_columns_do_no_harm() -> None:
    frame = pd.DataFrame({**BASE, "label": pd.Categorical(BASE["label"]), "note": ["?", None, "!", ""]})
    assert spelled(cw.Labels.from_frame(frame))[1] == (1, "b", "y")


@examples(50)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40, unique=True
    )
)
def test_encoding_loses_nothing(rows: list[tuple[int, int, int]]) -> None:
    labels = cw.Labels.from_arrays(*zip(*rows, strict=True), duplicates="all")
    assert sorted(spelled(labels)) == sorted(rows)
    assert labels.names.items.to_list() == list(dict.fromkeys(i for i, _, _ in rows))
    assert labels.names.workers.to_list() == list(dict.fromkeys(j for _, j, _ in rows))
    assert labels.names.classes.to_list() == sorted({k for _, _, k in rows})


@pytest.mark.parametrize(
    "values",
    [
        [2**63 - 1, -(2**63), 0],
        ["007", "7", "é✓"],
        [True, False, True],
        [datetime.date(2026, 1, 1), datetime.date(1969, 12, 31), datetime.date(2026, 1, 1)],
        [datetime.datetime(2026, 1, 1, 12), datetime.datetime(2025, 1, 1), datetime.datetime(2024, 1, 1)],
        [0.5, -0.0, 0.0],
    ],
    ids=["integers", "text", "booleans", "dates", "times", "floats"],
)
def test_ids_keep_their_type_and_value(values: list[Any]) -> None:
    series = pl.Series(values)
    labels = cw.Labels.from_arrays(series, [1, 2, 3], series)
    assert labels.names.items.dtype == series.dtype
    assert labels.names.items.to_list() == list(dict.fromkeys(values))
    table = cw.MajorityVote().fit(labels).to_frame()
    assert table["item"].dtype == table["label"].dtype == series.dtype


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt64, pl.Int128, pl.Decimal(10, 2), pl.Categorical, pl.Enum(["1", "2"])]
)
def test_unusual_types_of_ids(dtype: Any) -> None:
    series = pl.Series(["1", "2", "1"]).cast(dtype)
    labels = cw.Labels.from_arrays(series, ["a", "b", "c"], ["x", "y", "x"])
    assert labels.names.items.equals(series.unique(maintain_order=True).alias("item"))


def test_more_than_256_and_65536_classes_fit() -> None:
    for count in (300, 70_000):
        labels = cw.Labels.from_arrays(np.arange(count), np.zeros(count, int), np.arange(count)[::-1])
        assert labels.labels.dtype == (np.uint16 if count == 300 else np.uint32)
        assert labels.names.classes[int(labels.labels[0])] == count - 1


def test_many_labels_of_one_item_are_sorted_by_worker() -> None:
    workers = np.random.default_rng(0).permutation(1000)
    labels = cw.Labels.from_arrays(np.zeros(1000, int), workers, workers % 3)
    assert (np.diff(labels.workers) > 0).all()
    assert all(worker % 3 == said for _, worker, said in spelled(labels))


@pytest.mark.parametrize(
    ("duplicates", "kept", "items"),
    [
        ("first", [(1, "a", "x"), (1, "b", "y"), (2, "w8", "x"), (3, "b", "x")], 3),
        ("last", [(1, "a", "x"), (1, "b", "y"), (2, "w8", "x"), (3, "b", "x")], 3),
        ("all", [(1, "a", "x"), (1, "b", "y"), (1, "b", "x"), (2, "w8", "x"), (3, "b", "x")], 3),
        ("set", [(1, "a", "x"), (1, "b", "y"), (1, "b", "x"), (2, "w8", "x"), (3, "b", "x")], 3),
        ("drop", [(1, "a", "x"), (2, "w8", "x"), (3, "b", "x")], 3),
    ],
)
def test_policies_for_duplicates(duplicates: Duplicates, kept: list[Any], items: int) -> None:
    labels = cw.Labels.from_frame(conflicting(), duplicates=duplicates)
    assert spelled(labels) == kept
    assert labels.n_items == items
    assert labels.set_valued == (duplicates == "set")
    assert labels.report.repeated == 2
    assert labels.report.conflicts == 1


def test_the_last_label_is_the_last_row() -> None:
    rows = ([1, 1, 1], ["a", "a", "a"], ["x", "y", "x"])
    assert spelled(cw.Labels.from_arrays(*rows, duplicates="last")) == [(1, "a", "x")]
    assert spelled(cw.Labels.from_arrays(*rows, duplicates="first")) == [(1, "a", "x")]
    assert spelled(cw.Labels.from_arrays([1, 1], ["a", "a"], ["x", "y"], duplicates="last")) == [(1, "a", "y")]


def test_conflicts_are_an_error_that_names_the_first() -> None:
    with pytest.raises(cw.DataError) as problem:
        cw.Labels.from_frame(conflicting())
    assert str(problem.value) == (
        "1 (item, worker) pair has more than one label; first: item '1', worker 'b' said 'y' and 'x'. "
        "Say what to do with these with duplicates= "
        '(--duplicates): first, last, latest, all, samples, set or drop; or multi="each" (--multi each) if an item '
        "may have several classes."
    )


def test_an_item_left_without_labels_is_counted() -> None:
    rows = ([1, 1, 2, 3], ["a", "a", "a", "a"], ["x", "y", "x", None])
    labels = cw.Labels.from_arrays(*rows, duplicates="drop")
    assert labels.names.items.to_list() == [2]
    assert labels.report.unlabelled == 2
    assert labels.report.repairs == [
        "1 row without a label was dropped.",
        "1 (item, worker) pair had more than one label: all were dropped.",
        "2 items were left without any label and have no answer.",
    ]


@pytest.mark.parametrize(
    ("labels", "missing", "kept"),
    [
        ([1.0, -1.0, 2.0], [-1], 2),
        ([1.0, -1.0, 2.0], ["-1"], 2),
        ([1, -1, 2], -1, 2),
        ([True, False, None], [False], 1),
        (pl.Series(["1.50", "2.25", "3.00"]).cast(pl.Decimal(9, 2)), "1.5", 2),
        (pl.Series([2**64 - 1, 1, 2], dtype=pl.UInt64), [2**64 - 1, "-1", 10**50], 2),
        (pl.Series(["a", "b", "a"], dtype=pl.Enum(["a", "b", "c"])), "a", 1),
        ([date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1)], ["2020-01-01", date(2021, 1, 1)], 1),
        (["N", "A", "NA"], "NA", 2),
        (["N", "A", "NA"], ["NA"], 2),
        (["-1.0", "-1", "1"], [-1], 1),
        (["1.5", "x", "1.50"], "1.50", 1),
        (["007", "7", "x"], 7, 2),
        (pl.Series(["-1.0", "x", ""], dtype=pl.Categorical), "-1", 1),
    ],
)
def test_missing_values_are_compared_as_what_they_are(labels: Any, missing: Any, kept: int) -> None:
    read = cw.Labels.from_arrays([1, 2, 3], ["a", "b", "c"], labels, missing=missing)
    assert read.n_labels == kept


def test_missing_labels_are_dropped_and_counted() -> None:
    labels = cw.Labels.from_arrays([1, 2, 3, 4, 5], list("abcde"), ["x", None, "", "NA", "y"], missing=["NA"])
    assert labels.names.classes.to_list() == ["x", "y"]
    assert labels.report.missing == 3
    assert cw.Labels.from_arrays([1, 2], ["a", "b"], [0, -1], missing=[-1]).names.classes.to_list() == [0]
    assert cw.Labels.from_arrays([1, 2], ["a", "b"], [0.0, float("nan")]).report.missing == 1


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["", " ", "Yes ", "yes", "n/a"])])
def test_categories_are_tidied_as_text_is(dtype: Any) -> None:
    said = pl.Series(["Yes ", "yes", "", " ", "n/a"], dtype=dtype)
    table = pl.DataFrame({"item": range(5), "worker": list("abcde"), "label": said})
    assert cw.Labels.from_frame(table).report.missing == 1
    labels = cw.read_labels(table, strip=True, fold_case=True, missing="N/A")
    assert [name.lower() for name in labels.names.classes] == ["yes"]
    assert labels.report.missing == 3


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([1, 1], ["a", "a"], ["x", "x"]), "1 row repeats an earlier one exactly"),
        (([1, 2], ["a", "a"], ["x", None]), "1 of 2 rows have no label"),
    ],
)
def test_strict_turns_repairs_into_errors(rows: Any, message: str) -> None:
    cw.Labels.from_arrays(*rows, duplicates="first")
    with pytest.raises(cw.DataError, match=message):
        cw.Labels.from_arrays(*rows, duplicates="first", strict=True)


def test_strict_leaves_what_was_chosen() -> None:
    rows = ([1, 1, 2], ["a", "a", "a"], ["x", "y", "NA"])
    labels = cw.Labels.from_arrays(*rows, duplicates="last", missing=["NA"], strict=True)
    assert spelled(labels) == [(1, "a", "y")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([], [], []), "There are no rows"),
        (
            ([b"a"], ["a"], ["x"]),
            "holds Binary in column 'item'; ids and labels are text, numbers, booleans, dates or times",
        ),
        (([1], ["a"], [None]), "All 1 rows are without a label"),
        (([1, None], ["a", "b"], ["x", "y"]), r"1 of 2 rows have no item; first: row 2 \(worker 'b', label 'y'\)"),
        (([1, 2], ["a", ""], ["x", "y"]), "1 of 2 rows have no worker"),
        (([1, "b"], ["a", "b"], ["x", "y"]), "The item values are of mixed types"),
        (([1, 2], ["a"], ["x", "y"]), "differ in length"),
        (([[1], [2]], ["a", "b"], ["x", "y"]), "ids and labels are text, numbers, booleans, dates or times"),
    ],
)
def test_bad_data_get_one_sentence(rows: Any, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.Labels.from_arrays(*rows)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ([object()], "holds Object in column 'item'"),
        ([10**50], "The item values are of mixed types: int value too large"),
        (5, "The item values are of mixed types"),
        (pl.Series([2**60]).cast(pl.Datetime("ms")), "'item' has dates or times outside of the years 1 to 9999"),
        (pl.Series([2**60]).cast(pl.Datetime("us", "Asia/Tokyo")), "outside of the years 1 to 9999"),
        ([float("inf")], "'item' has an infinite number; ids and labels are finite, or text"),
    ],
)
def test_what_is_no_id_gets_one_sentence(item: Any, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.Labels.from_arrays(item, ["a"], ["x"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pl.LazyFrame(BASE).with_columns(item=pl.col("none")), "The table cannot be made: .*none"),
        (pl.LazyFrame(BASE).with_columns(item=pl.col("worker").cast(pl.Int64)), "The table cannot be made: conversion"),
        (pl.LazyFrame(BASE).with_columns(item=pl.concat_list("item")), "The table holds List in column 'item'"),
        (pd.DataFrame([[1, 2, 3, 4]], columns=["item", "item", "worker", "label"]), "does not convert to Arrow"),
        (pd.DataFrame({**BASE, "item": pd.to_timedelta([1, 2, 3, 4])}), "holds Duration in column 'item'"),
    ],
)
def test_tables_that_cannot_be_used_get_one_sentence(table: Any, message: str) -> None:
    with pytest.raises(cw.DataError, match=message):
        cw.Labels.from_frame(table)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([1, 2, 3, 4], ["a"] * 4, ["x"] * 4), "more than 3 rows, too many for one crowd"),
        (([1, 1], ["a"] * 2, ["x"] * 2), None),
    ],
)
def test_more_rows_than_codes_are_refused(rows: Any, message: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOST_CODES", 3)
    with nullcontext() if message is None else pytest.raises(cw.DataError, match=message):
        cw.Labels.from_arrays(*rows)


def test_more_ids_than_codes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOST_CODES", 3)
    workers = encoding.Dictionary()
    workers.encode(pl.Series("worker", ["a", "b", "c", "a"]))
    with pytest.raises(cw.DataError, match="more than 3 different values of the worker"):
        workers.encode(pl.Series("worker", ["a", "d"]))


def test_bad_tables_get_one_sentence() -> None:
    with pytest.raises(cw.DataError, match="has no column that looks like the worker"):
        cw.Labels.from_frame(pl.DataFrame({"item": [1], "label": [1], "who": [1]}))
    with pytest.raises(cw.DataError, match=r"no column 'Itme' for the item.*Did you mean 'item'\?"):
        cw.Labels.from_frame(pl.DataFrame(BASE), item="Itme")
    with pytest.raises(cw.DataError, match=r"looks like the label .* Did you mean 'lable'\?"):
        cw.Labels.from_frame(pl.DataFrame({"item": [1], "worker": [1], "lable": [1]}))
    with pytest.raises(cw.DataError, match="If there is no line of column names, add one"):
        cw.Labels.from_frame(pl.DataFrame({"17": [1], "w3": [1], "cat": [1]}))
    with pytest.raises(cw.DataError, match="one column 'item' for both the item and the label"):
        cw.Labels.from_frame(pl.DataFrame(BASE), label="item")
    # A column that is named is not taken for another role too, as the usual name of labels is here.
    logged = pl.DataFrame({"answer_id": [1, 1], "judge": ["a", "b"], "verdict": ["x", "y"]})
    assert cw.Labels.from_frame(logged, item="answer_id").names.classes.to_list() == ["x", "y"]
    with pytest.raises(cw.DataError, match="A list is not a table"):
        cw.Labels.from_frame([1, 2])
    with pytest.raises(cw.DataError, match="Give each column a name of its own, and one type"):
        cw.Labels.from_frame(pd.DataFrame({"item": [1, "x"], "worker": ["a", "b"], "label": ["x", "y"]}))
    with pytest.raises(cw.CallError, match="duplicates='no' is not one of 'error', 'first'"):
        cw.Labels.from_frame(pl.DataFrame(BASE), duplicates="no")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(cw.CallError, match="query does nothing for arrays; duplicates, missing, strict, strip"):
        cw.Labels.from_arrays([1], ["ann"], ["x"], query="select 1")  # type: ignore[call-arg]  # wrong on purpose


def test_help_shows_every_option_with_its_default() -> None:
    shown = inspect.signature(cw.read_labels).parameters
    assert shown["duplicates"].default is None
    assert shown["multi"].default == "refuse"
    assert set(shown) >= {one.name for one in fields(ReadOptions)}
    assert set(inspect.signature(cw.Labels.from_frame).parameters) == {"frame", *ReadKeywords.__annotations__}


def test_a_slice_has_the_same_workers_and_classes() -> None:
    labels = cw.simulate(20, 5, 3, seed=1).labels
    part = labels.slice(5, 9)
    assert part.n_items == 4
    assert (part.n_workers, part.n_classes) == (labels.n_workers, labels.n_classes)
    assert spelled(part) == spelled(labels)[labels.item_starts[5] : labels.item_starts[9]]
    assert [last - first for first, last in runs(labels.item_starts, 10)] == [2] * 10
    assert list(runs(labels.item_starts, 25)) == [(0, 20)]


def test_splitting_rows_between_two_tables_changes_nothing() -> None:
    rows = cw.simulate(50, 8, 3, seed=2).rows
    turned = pl.concat([rows.tail(100), rows.head(rows.height - 100)])
    one, other = (cw.BWA().fit(cw.Labels.from_frame(table)).to_frame().sort("item") for table in (rows, turned))
    assert one.equals(other)


CROWD = cw.Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["x", "y", "x"])
FRAME = pl.DataFrame({"item": [1, 1], "worker": ["a", "b"], "label": ["x", "y"]})
RESULT = cw.MajorityVote().fit(CROWD)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: cw.read_labels(cast(Any, 5)), "A int is no input", id="number"),
        pytest.param(lambda: cw.read_labels(cast(Any, ["a.csv", None])), "There is no file a.csv", id="first of two"),
        pytest.param(lambda: cw.Labels.from_frame(3), "A int is not a table", id="no table"),
        pytest.param(lambda: cw.Labels.from_frame(FRAME, item=cast(Any, 5)), "item is a int, and has to", id="column"),
        pytest.param(lambda: cw.Labels.from_frame(FRAME, strict=cast(Any, "no")), "strict is a str", id="strict"),
        pytest.param(lambda: cw.Labels.from_frame(FRAME, missing="\udcff"), "is not text in UTF-8", id="missing"),
        pytest.param(lambda: cw.explain(RESULT, CROWD, None), "There is no item None", id="no item"),
        pytest.param(
            lambda: cw.explain(RESULT, cast(Any, FRAME), 1),
            "takes labels, and this is a DataFrame",
            id="table, not labels",
        ),
        pytest.param(lambda: cw.explain(cast(Any, CROWD), CROWD, 1), "The result comes first", id="labels, not result"),
        pytest.param(lambda: cw.accuracy(cast(Any, FRAME), {1: "x"}), "result is a DataFrame", id="table, not result"),
        pytest.param(lambda: cw.write(cast(Any, 3)), "tables is a int", id="no mapping"),
        pytest.param(lambda: cw.write({"t.csv": cast(Any, "x")}), "A table to write is a str", id="text, not table"),
        pytest.param(lambda: RESULT.write(cast(Any, 3)), "A int is no path", id="no path"),
        pytest.param(lambda: RESULT.disputed(-1), "count=-1 is not a whole number", id="count"),
        pytest.param(lambda: cw.datasets.load(cast(Any, None)), "The name of a dataset is a NoneType", id="dataset"),
    ],
)
def test_arguments_of_another_type_get_a_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises((cw.CallError, cw.DataError), match=message):
        call()


def test_messages_are_short_however_long_names_are() -> None:
    name = "x" * 2_000_000
    with pytest.raises(cw.DataError) as problem:
        cw.Labels.from_arrays([name, name], ["a", "a"], ["x", "y"])
    assert len(str(problem.value)) < 500
    assert "xxx...xxx" in str(problem.value)
    with pytest.raises(cw.DataError, match=r"Did you mean 'item'\? Name it with label=") as problem:
        cw.Labels.from_frame(FRAME.rename({"label": name}), item="itm")
    assert len(str(problem.value)) < 500


def test_from_frame_takes_what_read_labels_takes() -> None:
    """A table in memory may have its items in a pandas index, a column for each worker, or lists."""
    rows = pd.DataFrame({"item": ["i", "i", "j"], "worker": ["ann", "bob", "ann"], "label": ["x", "y", "x"]})
    long = cw.Labels.from_frame(rows)
    wide = rows.pivot(index="item", columns="worker", values="label")
    nested = pl.DataFrame({"item": ["i", "j"], "workers": [["ann", "bob"], ["ann"]], "labels": [["x", "y"], ["x"]]})
    for table in (rows.set_index("item"), rows.set_index(["item", "worker"]), wide, nested, pl.LazyFrame(rows)):
        same = cw.Labels.from_frame(table, wide=True) if table is wide else cw.Labels.from_frame(table)
        assert same.names.items.to_list() == long.names.items.to_list()
        assert same.names.workers.to_list() == long.names.workers.to_list()
        assert same.labels.tolist() == long.labels.tolist()
    assert cw.Labels.from_wide(wide).labels.tolist() == long.labels.tolist()
