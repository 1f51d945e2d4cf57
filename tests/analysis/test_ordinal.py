"""Tests of ordered classes: which labels are decided, how far they are from the truth, and what cannot be ordered."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.analysis.ordinal import Ordinal, ordinal
from crowdwise.analysis.ordinal_errors import errors
from crowdwise.reporting.blocks import Table, Tiles
from crowdwise.reporting.report_data import ReportData
from crowdwise.reporting.report_page import gather
from tests.support.cases import CASES, examples
from tests.support.commands import run
from tests.support.engines import on_disk

SIZES = ["low", "medium", "high"]


def votes() -> pl.DataFrame:
    """Three votes on each of three items: one that is split between the ends, one that leans, and one that is clear."""
    said = ["low", "low", "medium", "high", "high"] + ["low", "low", "medium", "medium", "low"] + ["high"] * 5
    return pl.DataFrame({"item": np.repeat([1, 2, 3], 5), "worker": list("abcde") * 3, "label": said})


def test_a_split_vote_is_decided_in_the_middle() -> None:
    result = cw.MajorityVote().fit(cw.Labels.from_frame(votes()))
    table = cw.decide(result, order=SIZES).to_frame(probabilities=True)
    assert table["label"].to_list() == ["medium", "low", "high"]
    assert table["most_probable"].to_list()[0] != "medium"
    chances = table.select(f"probability_{size}" for size in SIZES).to_numpy()
    places = np.arange(3)
    expected = [chances[i] @ np.abs(places - SIZES.index(label)) for i, label in enumerate(table["label"])]
    assert table["expected_distance"].to_list() == pytest.approx(expected)
    assert "expected_squared_distance" in cw.decide(result, order=SIZES, distance="squared").to_frame().columns


@examples(30)
@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=7), min_size=1, max_size=8), st.integers(0, 50))
def test_labels_are_medians_and_nearest_to_means(said: list[list[int]], seed: int) -> None:
    """The least expected absolute distance is that of a median, the least squared one that of the class at the mean."""
    rows = [(i, j, 2 * label) for i, labels in enumerate(said) for j, label in enumerate(labels)]
    random = np.random.default_rng(seed)
    shuffled = [rows[at] for at in random.permutation(len(rows))]
    result = cw.MajorityVote().fit(cw.Labels.from_arrays(*map(list, zip(*shuffled, strict=True))))
    places, chances = result.names.classes.to_numpy().astype(float), result.probabilities
    for i, label in enumerate(cw.decide(result, ordinal=True).to_frame()["label"].to_list()):
        assert chances[i, places < label].sum() <= 0.5 + 1e-6
        assert chances[i, places > label].sum() <= 0.5 + 1e-6
    for i, label in enumerate(cw.decide(result, ordinal=True, distance="squared").to_frame()["label"].to_list()):
        away = np.abs(places - chances[i] @ places)
        assert abs(label - chances[i] @ places) <= away.min() + 1e-5


@pytest.mark.parametrize("key", ["mv", "bwa", "kos", "ds", "adjudicator"])
def test_with_two_classes_it_is_the_most_probable_label(key: str) -> None:
    crowd = cw.simulate(60, 8, 2, labels_per_item=5, seed=1)
    result = CASES[key].fit(crowd.labels)
    found = cw.ordinal_errors(result, crowd.truth, order=crowd.labels.names.classes.to_list())
    assert found.items == 60
    assert found.decided.mae == pytest.approx(1 - (result.answers == _codes(result, crowd.truth)).mean())


def _codes(result: cw.Result, truth: Any) -> Any:
    known = dict(truth.iter_rows())
    classes = result.names.classes.to_list()
    return np.array([classes.index(known[item]) for item in result.names.items])


def test_kappa_and_error_are_those_of_all_pairs() -> None:
    random = np.random.default_rng(1)
    labels, truths = random.integers(0, 5, 200).astype(float), random.integers(1, 7, 200).astype(float)
    found = errors(labels, truths)
    by_chance = np.mean((labels[:, None] - truths) ** 2)
    assert found.quadratic_kappa == pytest.approx(1 - np.mean((labels - truths) ** 2) / by_chance)
    assert found.mae == np.abs(labels - truths).mean()
    assert found.rmse == pytest.approx(np.sqrt(np.mean((labels - truths) ** 2)))
    assert errors(np.ones(3), np.ones(3)).quadratic_kappa is None


def test_truths_that_nobody_said_are_as_far_as_they_are() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2, 2], list("abab"), [1, 1, 2, 2])
    result = cw.MajorityVote().fit(labels)
    assert cw.ordinal_errors(result, {1: 9, 2: 2}).most_probable.mae == 4
    with pytest.raises(cw.DataError, match="'huge' of the truth is no number"):
        cw.ordinal_errors(result, pl.DataFrame({"item": [1, 2], "truth": ["huge", "2"]}))


def test_decisions_are_the_same_on_disk(tmp_path: Path) -> None:
    crowd = cw.simulate(80, 10, 4, seed=2)
    path = tmp_path / "labels.csv"
    crowd.rows.write_csv(path)
    order = crowd.labels.names.classes.to_list()
    whole = cw.decide(cw.DawidSkene().fit(cw.read_labels(path)), order=order).to_frame().sort("item")
    parts = cw.decide(cw.DawidSkene().fit(on_disk(path)), order=order).to_frame().sort("item")
    assert parts["label"].to_list() == whole["label"].to_list()
    assert parts["expected_distance"].to_list() == pytest.approx(whole["expected_distance"].to_list(), rel=1e-6)


def test_one_call_takes_a_frame_and_an_order() -> None:
    decided = cw.aggregate(votes(), order=SIZES)
    assert decided.to_frame().columns[:5] == ["item", "label", "confidence", "expected_distance", "most_probable"]
    numbers = votes().with_columns(label=pl.col("label").replace_strict({"low": 1, "medium": 2, "high": 3}))
    same = cw.aggregate(numbers, ordinal=True).to_frame()
    assert [SIZES[label - 1] for label in same["label"]] == decided.to_frame()["label"].to_list()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"ordinal": True}, "The class 'high' of the labels is no number.*order=\\['low'"),
        ({"order": ["low", "high"]}, "The order lacks the class 'medium' of the labels: name all classes in it."),
        ({"order": ["low", "medium", "hihg"]}, "lacks the class 'high'.*Did you mean 'hihg'"),
        ({"order": [*SIZES, "low"]}, "The order names the class 'low' twice."),
        ({"order": "low,high"}, "order is a sequence of all classes"),
        ({"order": ["low", ""]}, "The order has an empty class"),
        ({"distance": "squared"}, "distance=squared is for ordered classes"),
        ({"order": SIZES, "distance": "cubed"}, "distance='cubed' is not one of 'absolute', 'squared'."),
        ({"order": SIZES, "costs": {("low", "high"): 1}}, "Give costs or ordered classes, not both"),
    ],
)
def test_what_cannot_be_ordered_is_refused_in_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises((cw.DataError, cw.CallError), match=sentence):
        cw.aggregate(votes(), **arguments)


def test_neither_costs_nor_order_is_no_decision() -> None:
    with pytest.raises(cw.CallError, match="decide needs costs, or ordered classes"):
        cw.decide(cw.MajorityVote().fit(cw.Labels.from_frame(votes())))


def test_numbers_in_text_are_numbers_and_truth_values_are_not() -> None:
    assert Ordinal().positions(pl.Series(["10", "9.5", "-1e2"])).tolist() == [10, 9.5, -100]
    assert ordinal(order=[1, 2, 3]) == Ordinal((1, 2, 3))
    assert Ordinal((3, 1)).positions(pl.Series(["1", "3"])).tolist() == [1, 0]
    with pytest.raises(cw.DataError, match="True of the labels is no number"):
        Ordinal().positions(pl.Series([True]))


def test_the_commands(tmp_path: Path) -> None:
    votes().write_parquet(tmp_path / "labels.parquet")
    pl.DataFrame({"item": [1, 2, 3], "truth": ["medium", "low", "high"]}).write_csv(tmp_path / "truth.csv")
    given_order = ["--order", "low, medium, high", "--truth", str(tmp_path / "truth.csv")]
    found = run("aggregate", str(tmp_path / "labels.parquet"), "-m", "mv", *given_order, "--json")
    values = json.loads(found.stdout)
    assert values["errors"]["decided"] == {"mae": 0.0, "rmse": 0.0, "quadratic_kappa": 1.0}
    assert values["errors"]["most_probable"]["mae"] == pytest.approx(1 / 3)
    assert [row["label"] for row in values["labels"]] == ["medium", "low", "high"]
    assert values["expected_distance"]["changed"] == 1
    found = run("compare", str(tmp_path / "labels.parquet"), "--methods", "mv", *given_order, "--json")
    row = json.loads(found.stdout)["methods"][0]
    assert (row["mae"], row["quadratic_kappa"]) == (0.0, 1.0)
    found = run("aggregate", str(tmp_path / "labels.parquet"), "-m", "mv", *given_order)
    assert "mean absolute error" in found.stdout
    assert "expected distance" in found.stdout
    refused = run("aggregate", str(tmp_path / "labels.parquet"), "--ordinal", "--engine", "spark")
    assert refused.returncode == 2
    assert "do not go with --engine spark" in refused.stderr


def test_the_report_has_a_section_and_two_more_alphas() -> None:
    labels = cw.Labels.from_frame(votes())
    result = cw.MajorityVote().fit(labels)
    asked = Ordinal(tuple(SIZES))
    truth = pl.DataFrame({"item": [1, 2, 3], "truth": ["medium", "low", "high"]})
    data = ReportData(result, labels, truth, "", cw.decide(result, ordinal=asked), asked)
    sections = {section.id: section for section in gather(data)}
    assert "costs" not in sections
    table = next(block for block in sections["order"].blocks if isinstance(block, Table))
    assert [cell.text for cell in table.rows[0]] == ["Least expected distance", "0.000", "0.000", "1.000"]
    tiles = next(block for block in sections["glance"].blocks if isinstance(block, Tiles))
    names = [tile.name for tile in tiles.tiles]
    assert "Agreement (ordinal alpha)" in names
    assert "Agreement (interval alpha)" in names
