"""Tests of labels that look like slips: said with counts, merged only if that is asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.crowd.label_cautions import alike_classes
from tests.support.commands import run
from tests.support.engines import Engine

ROWS = pl.DataFrame(
    [
        (item, f"w{j}", label)
        for item in ("i1", "i2")
        for j, label in enumerate(["yes", "Yes", " yes", "no", "n/a", "NA"])
    ],
    schema=["item", "worker", "label"],
    orient="row",
)


def test_slips_are_said_with_counts_and_what_merges_them() -> None:
    labels = cw.Labels.from_frame(ROWS)
    first, second = map(str, labels.slips)
    assert first == (
        "' yes' (2), 'Yes' (2) and 'yes' (2) differ only in spaces and the case of letters. strip=True (--strip) and "
        "fold_case=True (--fold-case) make one class of them."
    )
    assert second == (
        "'NA' (2) and 'n/a' (2) are classes here. If that means no label, missing=['NA', 'n/a'] (--missing NA "
        "--missing n/a) leaves them out."
    )
    assert labels.n_classes == 6, "nothing is merged in silence"


def test_numbers_written_in_two_ways_are_said() -> None:
    labels = cw.Labels.from_arrays([1, 1, 1], ["a", "b", "c"], ["3", "3.0", "x"])
    (slip,) = labels.slips
    assert str(slip) == "'3' (1) and '3.0' (1) are the same number, written in several ways. Write it in one."


@pytest.mark.parametrize("label", [["a", "b"], [1, 2], [True, False], ["a1", "a2"]])
def test_honest_classes_are_not_remarked(label: list[object]) -> None:
    assert cw.Labels.from_arrays([1, 1], ["a", "b"], label).slips == []


def test_options_merge_them(engine: Engine, tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "votes.csv"
    ROWS.write_csv(path)
    options = ["--strip", "--fold-case", "--missing", "NA", "--missing", "n/a"]
    done = run("aggregate", str(path), *options, "-o", str(tmp_path / "out.csv"), *engine.options)
    assert done.returncode == 0, done.stderr
    written = tmp_path / "out.csv"
    written = next(written.glob("*.csv")) if written.is_dir() else written
    assert pl.read_csv(written).select("label", "runner_up", "votes").rows() == [("yes", "no", 4)] * 2
    frame = cw.Labels.from_frame(ROWS, strip=True, fold_case=True, missing=["NA", "n/a"])
    assert frame.names.classes.to_list() == ["no", "yes"]


def test_spaces_and_case_that_differ_together_take_both_options() -> None:
    (slip,) = alike_classes(pl.Series(["No ", "no", "yes"]), pl.Series([1, 6, 9]))
    assert slip.sentence == "'no' (6) and 'No ' (1) differ only in spaces and the case of letters."
    assert slip.advice == "strip=True (--strip) and fold_case=True (--fold-case) make one class of them."


def crowd_of(*workers: str) -> cw.Labels:
    return cw.Labels.from_arrays(
        range(len(workers)), workers, ["a", "b"] * (len(workers) // 2) + ["a"] * (len(workers) % 2)
    )


def test_names_of_workers_that_look_like_slips_are_said_with_counts() -> None:
    labels = crowd_of("ann", "Ann ", "ann", "ANN", "bob")
    (slip,) = labels.slips
    assert str(slip) == (
        "Workers 'ann' (2), 'ANN' (1) and 'Ann ' (1) differ only in spaces and the case of letters, and count as "
        "different workers. If they are one, write the name in one way in the input (strip and fold_case are for "
        "labels alone)."
    )
    assert slip.workers == ("ann", "ANN", "Ann ")
    assert labels.n_workers == 4, "nobody is merged in silence"
    assert (
        cw.Numbers.from_arrays([1, 1], ["ann", " ann"], [1.0, 2.0]).slips[0].sentence.startswith("Workers ' ann' (1)")
    )


@pytest.mark.parametrize(
    "workers", [["ann", "anna", "a nn"], ["7", "07", "7.0"], ["w1", "w 1"], ["na", "n/a"], ["ann"]]
)
def test_workers_whose_names_do_not_collide_are_not_remarked(workers: list[str]) -> None:
    assert crowd_of(*workers).slips == []


def test_many_workers_that_look_like_slips_are_counted() -> None:
    names = [name for one in "abcdefg" for name in (one, one.upper())]
    *first, last = crowd_of(*names).slips
    assert len(first) == 5
    assert str(last) == "2 more names are written in several ways among the workers. Write each in one way."
    assert sorted(last.workers) == ["F", "G", "f", "g"]


def test_python_warns_of_each_slip_once_and_names_the_line_of_the_user(tmp_path: Path) -> None:
    rows = pl.DataFrame({"item": [1, 1, 1], "worker": ["ann", "Ann", "bob"], "label": ["yes", "Yes", "NA"]})
    rows.write_csv(tmp_path / "votes.csv")
    calls: list[Callable[[], Any]] = [
        lambda: cw.read_labels(tmp_path / "votes.csv"),
        lambda: cw.read_labels(rows),
        lambda: cw.aggregate(rows),
        lambda: cw.aggregate(rows.to_pandas().astype("category")),
        lambda: cw.aggregate(str(tmp_path / "votes.csv")),
        lambda: cw.BWA().fit(cw.Labels.from_frame(rows)),
    ]
    for call in calls:
        with pytest.warns(cw.Caution) as caught:
            call()
        slips = [one for one in caught if isinstance(one.message, cw.Caution) and one.message.kind == "spelling"]
        assert [str(one.message).split(" ")[0] for one in slips] == ["'Yes'", "'NA'", "Workers"]
        assert {one.filename for one in slips} == {__file__}


def test_the_command_line_says_slips_once(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,worker,label\n1,ann,yes\n1,Ann,Yes\n1,bob,no\n")
    done = run("aggregate", tmp_path / "votes.csv", "-m", "mv")
    assert done.stderr.count("differ only") == 2, done.stderr
    assert "read_labels" not in done.stderr
