"""Tests of labels that look like slips: said with counts, merged only if that is asked for."""

from pathlib import Path

import polars as pl
import pytest

import crowdwise as cw
from crowdwise.data.slips import slips

from .engines import Engine
from .test_cli import run

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
    first, second = labels.remarks
    assert first == (
        "' yes' (2), 'Yes' (2) and 'yes' (2) differ only in spaces and the case of letters; --strip --fold-case make "
        "one class of them."
    )
    assert (
        second
        == "'NA' (2) and 'n/a' (2) are classes here; if that means no label, --missing NA --missing n/a leave them out."
    )
    assert labels.n_classes == 6, "nothing is merged in silence"


def test_numbers_written_in_two_ways_are_said() -> None:
    labels = cw.Labels.from_arrays([1, 1, 1], ["a", "b", "c"], ["3", "3.0", "x"])
    assert labels.remarks == ["'3' (1) and '3.0' (1) are the same number, written in several ways; write it in one."]


@pytest.mark.parametrize("label", [["a", "b"], [1, 2], [True, False], ["a1", "a2"]])
def test_honest_classes_are_not_remarked(label: list[object]) -> None:
    assert cw.Labels.from_arrays([1, 1], ["a", "b"], label).remarks == []


def test_options_merge_them(engine: Engine, tmp_path: Path, workdir: Path) -> None:
    path = tmp_path / "votes.csv"
    ROWS.write_csv(path)
    options = ["--strip", "--fold-case", "--missing", "NA", "--missing", "n/a"]
    done = run("aggregate", str(path), *options, "-o", str(tmp_path / "out.csv"), *engine.options)
    if engine.name == "spark":
        assert done.returncode == 2
        assert "A cluster takes labels as they are" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert pl.read_csv(tmp_path / "out.csv").select("label", "runner_up", "votes").rows() == [("yes", "no", 4)] * 2
    frame = cw.Labels.from_frame(ROWS, strip=True, fold_case=True, missing=["NA", "n/a"])
    assert frame.names.classes.to_list() == ["no", "yes"]


def test_spaces_and_case_that_differ_together_take_both_options() -> None:
    (sentence,) = slips(pl.DataFrame({"label": ["No ", "no", "yes"], "len": [1, 6, 9]}))
    assert "'no' (6) and 'No ' (1) differ only in spaces and the case of letters; --strip --fold-case make" in sentence
