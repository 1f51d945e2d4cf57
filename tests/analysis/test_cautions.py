"""Tests that Python says what the command line says: `result.cautions`, the warnings, `--json` and the screen."""

import json
import logging
import pickle
import warnings
from dataclasses import fields
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import get_type_hints

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis import aggregation
from crowdwise.analysis.recommendation import recommend
from crowdwise.caution import in_order, raise_once
from crowdwise.cli.advice import for_this_command
from crowdwise.crowd.read_options import ReadOptions
from tests.analysis.test_deciders import panel
from tests.support.commands import run


def panel_with_a_copy(names: tuple[str, str] = ("no", "yes")) -> pl.DataFrame:
    """Seven workers who are right 80 % of the time, and w7, who copies w0 in 97 % of 300 items."""
    rows, _ = panel([0.8] * 7, 300, 1, copy_of_first=0.97)
    return rows.with_columns(pl.col("label").replace_strict({0: names[0], 1: names[1]}))


def raised(rows: object, **options: object) -> tuple[tuple[cw.Caution, ...], list[cw.Caution]]:
    """The cautions of a result, and those that were raised as warnings while it was made."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = cw.aggregate(rows, **options)  # type: ignore[call-overload]
    return result.cautions, [one.message for one in caught if isinstance(one.message, cw.Caution)]


def test_dropped_rows_numbers_and_iterations_that_ran_out_are_raised_once() -> None:
    crowd = cw.simulate(60, 6, 4, seed=2)
    rows = crowd.rows.with_columns(pl.col("label").str.slice(1).cast(pl.Int64))
    rows = pl.concat([rows, rows.head(3), rows.head(2).with_columns(label=None, item=pl.lit("x"))])
    found, said = raised(rows, method=cw.BWA(max_iterations=2))
    kinds = [one.kind for one in found]
    assert [kind for kind in kinds if kind in ("iterations", "dropped", "numbers")] == [
        "iterations",
        *["dropped"] * 3,
        "numbers",
    ]
    assert sorted(map(str, said)) == sorted(map(str, found)), "each is raised, and none twice"
    assert raised(rows, method=cw.BWA(max_iterations=2), warn=False) == (found, [])
    assert "numbers" not in [one.kind for one in raised(rows, ordinal=True)[0]]


def test_fit_says_what_it_knows_by_itself() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2], ["a", "b", "a"], ["x", "x", "x"])
    with pytest.warns(cw.Caution, match="All labels name one class, 'x'"):
        result = cw.MajorityVote().fit(labels)
    assert [one.kind for one in result.cautions] == ["one class"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cw.MajorityVote().fit(labels, warn=False)


def test_texts_of_items_are_not_called_good_answers() -> None:
    items = np.repeat(np.arange(60), 3)
    workers = np.tile(np.arange(3), 60)
    labels = cw.Labels.from_arrays(items, workers, [f"Text of item {item}" for item in items])
    result = cw.aggregate(labels, warn=False)
    assert [one.kind for one in result.cautions] == ["one class"]
    assert "No two of the 60 items have the same answer" in str(result.cautions[0])
    assert "look like texts" in str(recommend(result, labels))
    few = cw.Labels.from_arrays(items[:30], workers[:30], [f"Text of item {item}" for item in items[:30]])
    assert "one class" not in [one.kind for one in cw.aggregate(few, warn=False).cautions]


def test_exact_copies_are_said_by_fit() -> None:
    rows = cw.simulate(300, 8, labels_per_item=8, accuracy=0.8, seed=1).rows
    copy = rows.filter(pl.col("worker") == "w1").with_columns(worker=pl.lit("copy"))
    (caution,) = cw.Adjudicator().fit(cw.Labels.from_frame(pl.concat([rows, copy]))).cautions
    assert caution.kind == "copies"
    assert set(caution.workers) == {"w1", "copy"}


def test_the_first_sentence_says_that_answers_may_be_wrong_and_who_decides(tmp_path: Path) -> None:
    rows = panel_with_a_copy()
    rows.write_csv(tmp_path / "votes.csv")
    found, said = raised(rows, method=cw.Adjudicator(copies="separate"))
    assert found[0].kind == "rivals"
    assert found[0].sentence.startswith("The answers themselves may be wrong")
    assert found[0].workers == ("w0", "w7")
    assert len(found[0].items) == 10
    assert said == list(found)
    done = run("aggregate", tmp_path / "votes.csv", "--set", "copies=separate", "--json")
    told = json.loads(done.stdout)
    assert told["cautions"] == [one.to_dict() for one in found]
    assert next(iter(told)) == "cautions"
    after = done.stderr.split("Read 2,400 rows: item = 'item', worker = 'worker', label = 'label'.\n")[1]
    said_after = [line for line in after.splitlines() if not line.startswith("Compiling;")]
    assert said_after[0] == for_this_command(str(found[0])), "the first sentence after the reading"


def test_a_caution_is_data_and_a_warning() -> None:
    one = cw.Caution("blocks", "Two agree.", "Look.", workers=("a", 7))
    assert str(one) == "Two agree. Look."
    assert pickle.loads(pickle.dumps(one)) == one
    assert json.loads(json.dumps(one.to_dict()))["workers"] == ["a", 7]
    assert in_order([one, cw.Caution("rivals", "x"), one]) == (cw.Caution("rivals", "x"), one)
    with pytest.warns(cw.Caution, match=r"^Two agree\. Look\.$") as caught:
        raise_once([one])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raise_once([one])  # only once
        with pytest.raises(cw.Caution, match="again"):
            raise_once([cw.Caution("gold", "again")])


def test_numbers_have_cautions_too() -> None:
    numbers = cw.Numbers.from_arrays([1, 1, 2, 2], ["ann", "Ann", "ann", "Ann"], [1.0, np.nan, 5.0, 5.0])
    found = cw.aggregate(numbers, warn=False).cautions
    assert [one.kind for one in found] == ["dropped", "spelling"]


def test_aggregate_takes_every_argument_of_read_labels(tmp_path: Path) -> None:
    taken = set(get_type_hints(aggregation._Options)) | {"numeric"}
    known = set(signature(cw.read_labels).parameters) - {"source", "options"}
    known |= {one.name for one in fields(ReadOptions)}
    assert known <= taken
    (tmp_path / "votes.csv").write_text("item,worker,label\n1,ann,Yes\n1,bob,yes\n2,ann,no\n")
    result = cw.aggregate(tmp_path / "votes.csv", fold_case=True, method="mv", warn=False)
    assert len(result.names.classes) == 2
    on_disk = cw.aggregate(tmp_path / "votes.csv", engine="disk", workdir=tmp_path, method="mv", warn=False)
    assert on_disk.to_frame().height == 2
    with pytest.raises(cw.CallError, match=r"aggregate has no argument 'fold_cse'.*'fold_case'"):
        cw.aggregate(tmp_path / "votes.csv", fold_cse=True)  # type: ignore[call-overload]
    with pytest.raises(cw.CallError, match="fold_case is for a path or a table, and these labels are read already"):
        cw.aggregate(cw.simulate(10, 5, seed=1).labels, fold_case=True)


def test_fit_and_alpha_take_a_table() -> None:
    crowd = cw.simulate(40, 5, 3, seed=1)
    for rows in (crowd.rows, crowd.rows.to_pandas(), crowd.rows.to_arrow()):
        assert cw.MajorityVote().fit(rows).to_frame().equals(cw.MajorityVote().fit(crowd.labels).to_frame())
        assert cw.alpha(rows) == cw.alpha(crowd.labels)
    numbers = pl.DataFrame({"item": [1, 1], "worker": ["a", "b"], "label": [1.0, 3.0]})
    assert cw.NumericMean().fit(numbers).to_frame()["value"].to_list() == [2.0]
    with pytest.raises(cw.CallError, match="takes labels, and this is a list"):
        cw.MajorityVote().fit([1, 2])  # type: ignore[call-overload]


def test_the_logger_tells_what_is_read_and_fitted_and_numba_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        cw.aggregate(cw.simulate(40, 5, 3, seed=1).rows, method="bwa", warn=False)
    told = [record.getMessage() for record in caplog.records if record.name == "crowdwise"]
    assert any(line.startswith("Read Labels(200 labels of 40 items") for line in told)
    assert any(line.startswith("Fitting BWA(") for line in told)
    assert any(line.startswith("Iteration 1 changed") for line in told)
    assert any(line.startswith("BWA converged after") for line in told)
    assert not [record for record in caplog.records if record.name.startswith("numba")]
    import_module("crowdwise.numerics.compilation")  # a crowd as small as this needs no kernels
    assert logging.getLogger("numba").level == logging.WARNING
