"""Tests of `rank`: golden numbers, recovery of simulated panels, intervals, guards, and the order of rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowdwise as cw
from crowdwise.ranking.simulation import Panel, simulate_comparisons


def _ranked(panel: Panel, seed: int = 0, **options: Any) -> tuple[cw.RankResult, dict[str, Any]]:
    parameters = panel.parameters(seed)
    return cw.rank(simulate_comparisons(panel, parameters, seed + 1), warn=False, **options), parameters


def _votes(*rows: tuple[Any, ...]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["prompt", "judge", "left", "right", "winner"], orient="row")


@pytest.mark.data
def test_golden_numbers_of_real_comparisons(data: Path, golden: Path) -> None:
    source = next((data / "comparisons" / "llmfao").glob("*.csv"))
    found = cw.rank(source, warn=False)
    expected = pl.read_csv(golden / "rank_llmfao_objects.csv")
    both = found.objects.join(expected, on="object", suffix="_golden")
    assert both.height == expected.height == 59
    np.testing.assert_allclose(both["theta"], both["theta_golden"], atol=1e-5)
    np.testing.assert_allclose(both["theta_plain"], both["theta_bt"], atol=1e-5)
    judges = found.judges.join(pl.read_csv(golden / "rank_llmfao_judges.csv"), on="judge", suffix="_golden")
    assert judges.height == 124
    priors = found.fit.priors
    np.testing.assert_allclose(priors, [0.8102, 0.5383, 0.1729, 1.1096, 0.1981, -0.0097], atol=5e-5)
    tie = np.exp(judges["c"].to_numpy())
    np.testing.assert_allclose(judges["ties_of_100"], 100 * tie / (2 + tie), atol=1e-3)
    for name in ("d", "b"):
        np.testing.assert_allclose(judges[name], judges[f"{name}_golden"], atol=1e-4)
    first = found.objects.row(0, named=True)
    assert (first["object"], first["rank_low"], first["rank_high"]) == ("GPT 4", 1, 17)
    np.testing.assert_allclose([first[name] for name in ("se", "low", "high")], [0.3373, 1.1860, 2.6560], atol=1e-4)
    near = found.redundancy
    assert near.correlation == pytest.approx(0.207, abs=0.02)
    assert near.votes == pytest.approx(4.18, abs=0.02)
    assert near.effective == pytest.approx(2.52, abs=0.02)


def test_parameters_of_a_simulated_panel_are_recovered() -> None:
    panel = Panel(prompts=600, judges=12, pairs=8, adversarial=2, one_sided=1, spammers=1)
    found, truth = _ranked(panel)
    theta = found.objects.sort("object")["theta"].to_numpy()
    scale = np.polyfit(truth["theta"], theta, 1)[0]
    np.testing.assert_allclose(theta, scale * truth["theta"], atol=0.12)
    judges = found.judges.sort("judge")
    np.testing.assert_allclose(judges["d"] * scale, truth["d"], atol=0.35)
    # A one-sided judge, and how often others call a tie, are known too.
    np.testing.assert_allclose(judges["b"], truth["b"], atol=0.4)
    ties = 100 * np.exp(truth["c"]) / (2 + np.exp(truth["c"]))
    np.testing.assert_allclose(judges["ties_of_100"], ties, atol=9)
    against = judges.filter(pl.col("flag").str.contains("against"))["judge"].to_list()
    assert against == ["j01", "j02"]


def test_judges_who_are_against_the_panel_can_be_left_out() -> None:
    panel = Panel(judges=10, adversarial=2, prompts=200)
    found, _ = _ranked(panel, drop_against=True)
    assert found.judges["judge"].to_list() == [f"j{number:02}" for number in range(2, 10)]
    assert any("j00 and j01" in remark for remark in found.remarks)


def test_intervals_hold_what_more_prompts_would_give() -> None:
    held = []
    for seed in range(8):
        panel = Panel(item_sd=0.7)
        found, parameters = _ranked(panel, seed)
        more = simulate_comparisons(replace(panel, prompts=2000), parameters, 100 + seed)
        truth = dict(cw.rank(more, warn=False).objects.select("object", "theta").iter_rows())
        pairs = found.pairs
        difference = pl.Series([truth[a] - truth[b] for a, b in pairs.select("a", "b").iter_rows()])
        held.append(((pairs["low"] <= difference) & (difference <= pairs["high"])).to_numpy().mean())
    assert 0.88 <= np.mean(held) <= 0.995  # 360 differences that hang together; nominal 0.95


def test_intervals_are_those_of_prompts_not_of_votes() -> None:
    panel = Panel(item_sd=2.0, votes=20, pairs=3)
    votes = simulate_comparisons(panel, panel.parameters(0), 1)
    by_prompt = cw.rank(votes, warn=False).objects["se"].to_numpy().mean()
    by_vote = cw.rank(votes.drop("prompt"), warn=False).objects["se"].to_numpy().mean()
    assert by_prompt > 2 * by_vote


def test_a_plain_fit_is_that_of_bradley_and_terry() -> None:
    # Without ties, the odds of two objects are the ratio of their wins, but for a prior that hardly counts here.
    votes = _votes(*[(number, "j", "x", "y", "x" if number % 4 else "y") for number in range(4000)])
    found = cw.rank(votes, plain=True, warn=False)
    assert found.objects["object"].to_list() == ["x", "y"]
    np.testing.assert_allclose(np.diff(found.objects["theta"])[0], -np.log(3), atol=0.01)
    assert found.pairs["wins_of_100"][0] == pytest.approx(75, abs=0.2)


@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_the_order_of_rows_changes_nothing(random: Any) -> None:
    panel = Panel(objects=5, judges=4, prompts=20)
    votes = simulate_comparisons(panel, panel.parameters(3), 4)
    order = list(range(votes.height))
    random.shuffle(order)
    one, other = cw.rank(votes, warn=False), cw.rank(votes[order], warn=False)
    assert one.objects.equals(other.objects)
    assert one.judges.equals(other.judges)


def test_swapping_left_and_right_changes_only_positions() -> None:
    panel = Panel(prompts=50)
    votes = simulate_comparisons(panel, panel.parameters(0), 1)
    words = {"left": "right", "right": "left", "tie": "tie"}
    swapped = votes.rename({"left": "right", "right": "left"}).with_columns(pl.col("winner").replace(words))
    one, other = cw.rank(votes, warn=False), cw.rank(swapped, warn=False)
    np.testing.assert_allclose(one.objects.sort("object")["theta"], other.objects.sort("object")["theta"], atol=1e-5)
    np.testing.assert_allclose(one.judges["b"], -other.judges["b"], atol=1e-4)


def test_groups_that_nothing_connects_are_ranked_apart() -> None:
    rows = [(number, "j", "a", "b", "a" if number % 3 else "b") for number in range(30)]
    rows += [(number, "j", "c", "d", "c" if number % 3 else "tie") for number in range(30)]
    found = cw.rank(_votes(*rows), warn=False)
    assert found.objects.select("object", "component", "rank").rows() == [
        ("a", 1, 1),
        ("b", 1, 2),
        ("c", 2, 1),
        ("d", 2, 2),
    ]
    assert set(found.pairs.select("a", "b").rows()) == {("a", "b"), ("c", "d")}
    assert any("2 groups of objects (2, 2)" in one.sentence for one in found.cautions)
    assert found.wins.filter(pl.col("object") == "a")["c"].to_list() == [None]


def test_an_object_that_won_everything_has_one_end_only() -> None:
    rows = [(number, "j", "a", "b", "a" if number % 3 else "b") for number in range(30)]
    rows += [(number, "j", "z", "a", "z") for number in range(10)]
    found = cw.rank(_votes(*rows), warn=False)
    first = found.objects.row(0, named=True)
    assert (first["object"], first["high"], first["flag"]) == ("z", None, "unbounded: won everything")
    assert np.isfinite([first["theta"], first["low"]]).all()
    ends = found.pairs.select("a", "b", pl.col("low", "high", "wins_low", "wins_high").is_null()).rows()
    assert ends[0] == ("z", "a", False, True, False, True)
    assert ends[-1] == ("a", "b", False, False, False, False)
    assert f"(at least {found.pairs['wins_low'][0]:.0f})" in found.summary
    assert found.cautions[0].sentence.startswith("z won everything, so how far ahead is not known")


def test_an_object_that_won_everything_may_be_first_and_one_that_lost_everything_last() -> None:
    rows = [(number, "j", "a", "b", "a" if number % 5 else "b") for number in range(100)]
    rows += [(200, "j", "z", "b", "z"), (201, "j", "b", "y", "b")]
    objects = cw.rank(_votes(*rows), warn=False).objects
    ranks = {name: (low, high) for name, low, high in objects.select("object", "rank_low", "rank_high").iter_rows()}
    assert ranks["z"][0] == 1
    assert ranks["y"][1] == 4


def test_judges_who_all_take_the_first_are_fitted_in_few_iterations() -> None:
    # The likelihood has no maximum: position is bounded, and does not creep there.
    rows = [(number, "j", "a", "b", "tie") for number in range(3)] + [
        (number, "j", "b", "a", "b") for number in range(3)
    ]
    found = cw.rank(_votes(*rows), warn=False)
    assert found.fit.converged
    assert found.fit.iterations < 100
    assert found.judges["first_of_100"][0] > 99


def test_many_judges_with_few_votes_each_are_fitted_in_few_iterations() -> None:
    found, _ = _ranked(Panel(judges=800, prompts=500, pairs=2, votes=2))
    assert found.fit.converged
    assert found.fit.iterations < 300  # where variances crept, 2,000 were not enough


def test_an_almost_strict_order_ends() -> None:
    # The search along the scale goes back and forth here.
    random = np.random.default_rng(53)
    left, ahead = random.integers(7, size=128), random.integers(1, 7, size=128)
    right = (left + ahead) % 7
    surprising = (random.random(128) > 0.97) & (left != 0) & (right != 0)
    winner = np.where((left < right) != surprising, left, right)
    item, judge = random.integers(1, 129, size=128), random.integers(3, size=128)
    rows = zip(item.tolist(), *(one.astype(str).tolist() for one in (judge, left, right, winner)), strict=True)
    assert cw.rank(_votes(*rows), warn=False).fit.converged


def test_what_only_judges_against_the_panel_compared_is_named_when_they_are_left_out() -> None:
    panel = Panel(judges=10, adversarial=1, prompts=200)
    votes = simulate_comparisons(panel, panel.parameters(0), 1)
    more = pl.DataFrame([(0, "j00", "new", "o01", "left")], schema=votes.schema, orient="row")
    found = cw.rank(pl.concat([votes, more]), drop_against=True, warn=False)
    assert "new" not in found.objects["object"].to_list()
    assert any("objects that only they compared: new." in remark for remark in found.remarks)


def test_names_that_differ_only_in_spaces_are_said() -> None:
    rows = [(number, "j", "a", "b ", "left") for number in range(5)] + [(9, "j", "a", "b", "right")]
    said = [str(one) for one in cw.rank(_votes(*rows), warn=False).cautions]
    assert any(
        "Objects 'b ' (5) and 'b' (1) differ only in spaces, and count as different objects" in one for one in said
    )


def test_without_a_decided_vote_there_is_no_ranking() -> None:
    found = cw.rank(_votes(*[(number, "j", "a", "b", "tie") for number in range(30)]), warn=False)
    assert not found.has_order
    assert found.objects["rank"].to_list() == [None, None]
    assert "There is no ranking" in found.summary


def test_judges_who_do_not_agree_give_no_ranking() -> None:
    found, _ = _ranked(Panel(judges=10, adversarial=5, prompts=200))
    assert not found.has_order
    assert found.objects["rank"].is_null().all()
    assert found.cautions[0].sentence.startswith("The judges do not agree on an order")


def test_what_judges_see_first_is_counted() -> None:
    rows = []
    for number in range(40):  # one follows the position, the other the object
        steady = "b" if number % 4 == 0 else "a"
        for left, right in (("a", "b"), ("b", "a")):
            rows += [(number, "first", left, right, left), (number, "steady", left, right, steady)]
    found = cw.rank(_votes(*rows), warn=False)
    counted = {row["judge"]: row for row in found.positions.to_dicts()}
    assert [counted["first"][name] for name in ("first", "second", "in_both_orders", "flips", "to_first")] == [
        80,
        0,
        40,
        40,
        40,
    ]
    assert [counted["steady"][name] for name in ("first_share", "in_both_orders", "flips")] == [0.5, 40, 0]
    bias = dict(found.judges.select("judge", "first_of_100").iter_rows())
    assert bias["first"] > 80
    assert bias["steady"] == pytest.approx(50, abs=15)


def test_the_position_of_a_single_judge_is_as_uncertain_as_its_votes_leave_it() -> None:
    held = []
    for seed in range(40):
        found, truth = _ranked(Panel(objects=6, judges=1, votes=1, prompts=10, item_sd=0.0), seed)
        row = found.judges.row(0, named=True)
        held.append(row["b_low"] <= truth["b"][0] <= row["b_high"])
    assert np.mean(held) >= 0.85  # nominal 0.95, and 0.83 if the mean of positions were taken as known


def test_position_is_not_known_where_nothing_was_seen_first() -> None:
    scores = pl.DataFrame({"prompt": [1, 1, 2, 2], "judge": "j", "model": ["x", "y"] * 2, "score": [1, 2, 3, 1]})
    found = cw.rank(scores, scores=True, warn=False)
    assert found.judges.select("b", "b_low", "b_high", "first_of_100").row(0) == (None,) * 4
    assert not any("order" in one.sentence or "first" in one.sentence for one in found.cautions)


def test_copies_are_named() -> None:
    panel = Panel(judges=8, copies=2, votes=8, prompts=60, item_sd=1.5)
    found, _ = _ranked(panel)
    flagged = found.judges.filter(pl.col("flag").str.contains("like"))["judge"].to_list()
    assert flagged == ["j00", "j01"]
    assert found.judges.filter(pl.col("judge") == "j00")["nearest"].to_list() == ["j01"]


def test_json_has_everything_and_a_page_is_written(tmp_path: Path) -> None:
    found, _ = _ranked(Panel(prompts=20))
    content = json.loads(json.dumps(found.to_dict()))
    assert content["objects"][0]["rank"] == 1
    assert len(content["judges"]) == 20
    found.report(tmp_path / "rank.html", command="crowdwise rank votes.csv")
    page = (tmp_path / "rank.html").read_text(encoding="utf-8")
    assert "is first of 10" in page
    assert "Wins of 100" in page
    assert "Flips" in page
    assert found.chart.to_dict()["layer"]


def test_the_chart_has_ranks_and_the_matrix_begins_with_the_best() -> None:
    found, _ = _ranked(Panel(objects=6, prompts=60))
    names = [row["object"] for row in found.objects.to_dicts()]
    assert found.wins["object"].to_list() == found.wins.columns[1:] == names
    first = found.wins.row(0)[1:]
    assert first[0] is None
    assert list(first[1:]) == sorted(first[1:])
    drawn = json.dumps(found.chart.to_dict())
    row = found.objects.row(0, named=True)
    ranks = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']}-{row['rank_high']}"
    assert f"{ranks}  {names[0]}" in drawn


def test_hardly_known_objects_are_said_to_be_asked_about() -> None:
    rows = [(number, "j", "a", "b", "a" if number % 2 else "b") for number in range(30)]
    assert "2 objects may be first" in cw.rank(_votes(*rows), warn=False).summary
