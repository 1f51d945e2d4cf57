"""Tests of accuracy, of simulated crowds and of the comparison of methods."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import crowdwise as cw
from crowdwise.analysis.comparison import compare
from crowdwise.analysis.evaluation import match


def tied() -> cw.Result:
    return cw.MajorityVote().fit(
        cw.Labels.from_arrays([1, 1, 2, 3, 3, 3], list("ababca"), ["x", "y", "x", "x", "y", "z"], duplicates="all")
    )


def test_ties_are_reported_and_split() -> None:
    result = tied()
    assert result.ties.tolist() == [True, False, True]
    assert result.labels.to_list() == ["x", "x", "x"]
    assert cw.accuracy(result, {1: "y", 2: "x", 3: "z"}) == pytest.approx((1 / 2 + 1 + 1 / 3) / 3)


def test_rounding_does_not_break_a_tie() -> None:
    labels = cw.Labels.from_arrays([1, 1], ["a", "b"], ["x", "y"])
    scores = np.array([[0.1 + 0.2, 0.3]])
    result = cw.Result.build(cw.MajorityVote(), labels, scores, "weight", convergence=tied().convergence)
    assert scores[0, 0] != scores[0, 1]
    assert result.ties.tolist() == [True]
    assert result.winners().tolist() == [[True, True]]


def test_rounding_does_not_choose_a_runner_up() -> None:
    labels = cw.Labels.from_arrays([1, 1, 1], ["a", "b", "c"], ["x", "y", "z"])
    for scores in ([[0.1 + 0.2, 0.3, 0.5]], [[0.3, 0.1 + 0.2, 0.5]]):
        result = cw.Result.build(cw.MajorityVote(), labels, np.array(scores), "weight", convergence=tied().convergence)
        assert result.ties.tolist() == [False]
        assert result.to_frame()["runner_up"].to_list() == ["x"]


def test_scores_that_are_not_finite_are_refused() -> None:
    labels = cw.Labels.from_arrays([7, 8], ["a", "a"], ["x", "y"])
    with pytest.raises(cw.DataError, match="gave no finite score for item 8"):
        cw.Result.build(
            cw.MajorityVote(), labels, np.array([[1, 0], [np.nan, 1]]), "weight", convergence=tied().convergence
        )


def test_items_and_classes_match_across_types() -> None:
    result = tied()
    for truth in (
        pl.DataFrame({"item": ["2"], "truth": ["x"]}),
        pl.DataFrame({"item": pl.Series([2], dtype=pl.UInt8), "truth": pl.Series(["x"], dtype=pl.Categorical)}),
    ):
        assert cw.accuracy(result, truth) == 1.0
    assert cw.accuracy(result, {2: "x", 99: "y"}) == 1.0


def test_a_truth_of_something_else_is_said() -> None:
    with pytest.raises(
        cw.DataError, match="shares no item with the labels: it has 'no', for example, the labels have '1'"
    ):
        cw.accuracy(tied(), {"no": "x"})
    with pytest.raises(cw.DataError, match="shares no class with the labels"):
        cw.accuracy(tied(), {1: "no"})


def test_simulated_crowds_are_what_was_asked_for() -> None:
    crowd = cw.simulate(2000, 50, 4, labels_per_item=3.5, accuracy=0.8, concentration=1e6, balance=[1, 0, 0, 3], seed=1)
    assert crowd.rows.height == 7000
    assert crowd.rows.select("item", "worker").is_duplicated().sum() == 0
    assert crowd.rows.group_by("item").len()["len"].value_counts().height == 2
    right = crowd.rows.join(crowd.truth, on="item").select((pl.col("label") == pl.col("truth")).mean()).item()
    assert right == pytest.approx(0.8, abs=0.02)
    assert set(crowd.truth["truth"]) == {"c1", "c4"}
    assert crowd.workers["labels"].sum() == 7000
    assert cw.simulate(2000, 50, 4, seed=1).rows.equals(cw.simulate(2000, 50, 4, seed=1).rows)
    assert not cw.simulate(2000, 50, 4, seed=1).rows.equals(cw.simulate(2000, 50, 4, seed=2).rows)


def test_traps_mislead_workers_to_the_same_error() -> None:
    plain, misled = (cw.simulate(3000, 60, 4, accuracy=0.9, traps=traps, seed=1) for traps in (0.0, 0.3))
    assert misled.truth.equals(plain.truth)
    changed = (misled.rows["label"] != plain.rows["label"]).to_numpy()
    assert 0.15 < changed.mean() < 0.2  # six answers of ten, on three items of ten
    wrong = misled.rows.filter(changed).group_by("item").agg(pl.col("label").n_unique())
    assert wrong["label"].max() == 1
    # Nobody can know what most workers were misled about.
    found = [cw.accuracy(cw.MajorityVote().fit(crowd.labels), crowd.truth) for crowd in (plain, misled)]
    assert found[1] < found[0] - 0.1


def test_workloads_can_be_heavy_tailed_and_everybody_can_label_everything() -> None:
    even, uneven = (cw.simulate(5000, 100, 2, workload=load, seed=1).workers["labels"].to_numpy() for load in (0, 1))
    assert uneven.max() > 4 * even.max()
    full = cw.simulate(30, 6, 2, labels_per_item=6, workload=3, seed=1).rows
    assert full.select("item", "worker").n_unique() == 180


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items": 0}, "items=0 is not a whole number from 1 up to"),
        ({"labels_per_item": 11}, "labels_per_item=11 is not a number from 1 up to 10"),
        ({"accuracy": 1.5}, "accuracy=1.5 is not a number from 1e-06 up to 0.999999"),
        ({"traps": 1.5}, "traps=1.5 is not a number from 0 up to 1"),
        ({"balance": [1]}, "balance needs 2 numbers"),
        ({"balance": [1, float("inf")]}, "balance needs 2 numbers"),
        ({"balance": "even"}, "balance needs 2 numbers"),
        ({"classes": 2.5}, "classes=2.5 is not a whole number"),
        ({"classes": None}, "classes=None is not a whole number"),
        ({"seed": -1}, "seed=-1 is not a whole number from 0"),
        ({"workers": 10**50}, "is not a whole number from 1 up to 2,147,483,647"),
        ({"concentration": float("nan")}, "concentration=nan is not a number"),
    ],
)
def test_impossible_crowds_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(cw.CallError, match=message):
        cw.simulate(**({"items": 10, "workers": 10} | arguments))  # type: ignore[arg-type]  # wrong on purpose


def test_compare_has_a_row_for_every_method_and_the_reason_of_a_refusal() -> None:
    labels = cw.Labels.from_arrays([1, 1, 2], ["a", "a", "b"], ["x", "y", "x"], duplicates="set")
    refused, fitted = compare(labels, {"mv": cw.MajorityVote(), "bwa": cw.BWA()}, {1: "x", 2: "x"})
    assert refused["accuracy"] is None
    assert "takes one class a vote" in refused["ending"]
    assert fitted["accuracy"] in (0.5, 0.75, 1)
    assert fitted["seconds"] > 0


@pytest.mark.parametrize(
    ("items", "known"),
    [
        pytest.param([1, 2], ["1", "2"], id="text"),
        pytest.param([1, 2], [1.0, 2.0], id="floats"),
        pytest.param(["1.50", "2.0"], [1.5, 2.0], id="text of floats"),
        pytest.param(pl.Series(["1.50", "2.25"]).cast(pl.Decimal(9, 2)), [1.5, 2.25], id="decimals"),
        pytest.param(pl.Series([0.1, 0.2], dtype=pl.Float32), [0.1, 0.2], id="short floats"),
        pytest.param(pl.Series([2**64 - 1, 2], dtype=pl.UInt64), [str(2**64 - 1), "2"], id="long text"),
        pytest.param(
            pl.Series([2**64 - 1, 2], dtype=pl.UInt64), pl.Series([2**64 - 1, 2], dtype=pl.Int128), id="long integers"
        ),
        pytest.param(["1", "1.0"], pl.Series(["1", "1.0"], dtype=pl.Categorical), id="different text stays different"),
        pytest.param([True, False], ["true", "false"], id="booleans"),
    ],
)
def test_truth_and_labels_are_compared_across_types(items: Any, known: Any) -> None:
    labels = cw.Labels.from_arrays(items, ["a", "a"], ["x", "y"])
    matched = match(cw.MajorityVote().fit(labels), pl.DataFrame({"item": known, "truth": ["x", "y"]}))
    assert matched.items.tolist() == [0, 1]
